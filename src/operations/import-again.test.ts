/** A source that comes again: grown, mended, read otherwise, into another environment, or not at all. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { openLedger } from '../ledger/ledger.ts'
import { environments } from './environments.ts'
import { exportRecords } from './export.ts'
import { importHistory } from './import.ts'
import { inProcess } from './in-process.ts'
import { records } from './records.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-import-again-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const write = (name: string, lines: readonly string[]) => writeFileSync(join(folder, name), `${lines.join('\n')}\n`)
const importing = (input: z.input<typeof importHistory.input>) =>
  importHistory.run(importHistory.input.parse(input), inProcess(folder))
const refusal = (input: z.input<typeof importHistory.input>) =>
  importing(input).then(
    () => 'imported',
    ({ message }) => message as string,
  )
const textOf = (imported: Awaited<ReturnType<typeof importing>>) =>
  importHistory.text(imported, { width: 100, styling: (_, words) => words })
const listed = async (environment?: string) =>
  (await records.run(records.input.parse({ environment, sort: 'oldest' }), inProcess(folder))).records
const sentences = async (environment?: string) => (await listed(environment)).map(({ sentence }) => sentence)
const known = async () => (await environments.run({}, inProcess(folder))).environments
const ledger = () => openLedger(join(folder, '.almanac', 'ledger.db'))

const sweep = [
  'name,lr,steps,F1',
  'exp-1,0.1,500,70',
  'exp-2,0.2,500,71',
  'exp-3,0.1,900,72',
  'exp-4,0.2,900,74',
  'exp-5,0.2,900,75',
]
const wrong = { path: 'sweep.csv', column: ['lr=option', 'steps=ignore'] }
const right = { path: 'sweep.csv', column: ['lr=option', 'steps=option'] }

describe('columns that were taken for something else', () => {
  test('are told, and put right by --replace: nothing of the wrong reading is in any list or file of records', async () => {
    write('sweep.csv', sweep)
    await importing(wrong)
    expect(await sentences()).toEqual(['lr=0.2'])
    const before = readFileSync(join(folder, '.almanac', 'ledger.db'))

    expect(await refusal(right)).toBe(
      'sweep.csv has these rows already, read with --column lr=option steps=ignore. To read them anew and leave out what stands: ' +
        'almanac import sweep.csv --column lr=option steps=option --replace',
    )
    const dry = await importing({ ...right, dryRun: true })
    expect(textOf(dry)).toContain('sweep.csv: 0 rows would be imported, 0 known before, 0 not usable, 5 refused')
    expect(textOf(dry)).toContain('Refused: sweep.csv has these rows already')
    expect(await importing({ ...right, dryRun: true, replace: true })).toMatchObject({ added: 5, replaced: 5 })
    expect(readFileSync(join(folder, '.almanac', 'ledger.db')).equals(before)).toBe(true)

    expect(await importing({ ...right, replace: true })).toMatchObject({ added: 5, known: 0, replaced: 5 })
    expect(await sentences()).toEqual(['lr=0.2', 'steps=900', 'lr=0.2, steps=900'])
    expect((await listed()).map(({ runs }) => runs.map(({ imported }) => imported!.place))).toEqual([
      ['line 3'],
      ['line 4'],
      ['line 5', 'line 6'],
    ])
    await exportRecords.run({ path: 'records.jsonl' }, inProcess(folder))
    const exported = readFileSync(join(folder, 'records.jsonl'), 'utf8').trim().split('\n').slice(1)
    expect(exported.flatMap(line => JSON.parse(line).runs)).toHaveLength(5)
    expect(await importing(right)).toMatchObject({ added: 0, known: 5, replaced: 0 })
  })

  test('words are put right where the experiment was the same all along; order and what was kept are those of the log', async () => {
    write('results.tsv', [
      'commit\tval_bpb\tstatus\tidea\twhy\tconfig',
      'a\t1\tkeep\tbaseline\tstart\t{"depth":4}',
      'b\t0.9\tkeep\twider\tit is slow\t{"depth":4,"width":2}',
      'c\t0.8\tkeep\tdeeper\tthere is room\t{"depth":5,"width":2}',
      'd\t0.9\tdiscard\tnarrower\tfewer may do\t{"depth":5,"width":1}',
    ])
    const columns = ['config=configuration', 'status=status']
    await importing({ path: 'results.tsv', column: [...columns, 'why=description', 'idea=ignore'] })
    const described = async () => {
      const all = await listed()
      const texts = all.map(({ record }) => records.run(records.input.parse({ record }), inProcess(folder)))
      return (await Promise.all(texts)).map(({ records: [one], whole }) => [one!.sentence.split(' ')[0], whole!.kept])
    }
    const before = await described()
    expect(before).toEqual([
      ['it', true],
      ['there', true],
      ['fewer', false],
    ])
    await importing({ path: 'results.tsv', column: [...columns, 'idea=description', 'why=ignore'], replace: true })
    expect(await described()).toEqual([
      ['wider', true],
      ['deeper', true],
      ['narrower', false],
    ])
  })

  test('and back again, as often as one likes, with the seeds of the log', async () => {
    write('sweep.csv', ['lr,seed,F1', '0.1,7,70', '0.1,8,71', '0.2,7,74', '0.2,8,75'])
    const [one, other] = [
      ['F1=metric', 'seed=seed'],
      ['seed=seed', 'F1=metric', 'lr=option'],
    ]
    for (const column of [one, other, one, other]) await importing({ path: 'sweep.csv', column, replace: true })
    expect((await listed()).map(({ runs }) => runs.map(({ seed, imported }) => [seed, imported!.place]))).toEqual([
      [
        [7, 'line 4'],
        [8, 'line 5'],
      ],
    ])
    expect((await known()).map(({ name, records }) => [name, records])).toEqual([['sweep.csv', 1]])
  })
})

describe('a source that was imported before', () => {
  test('is read as it was then where nothing is said of it, so that new rows land where the others are', async () => {
    write('sweep.csv', sweep)
    await importing({ ...right, metric: 'F1', direction: 'minimize' })
    write('sweep.csv', [...sweep, 'exp-6,0.3,900,76'])
    const again = await importing({ path: 'sweep.csv' })
    expect(again).toMatchObject({ added: 1, known: 5 })
    expect(textOf(again)).toContain(
      'Read as before, with --metric F1 --direction minimize --column lr=option steps=option',
    )
    expect(await known()).toMatchObject([{ name: 'sweep.csv', metric: 'F1 (lower is better)', records: 4 }])
  })

  test('what is said later is added to what was said before, so that no rule vanishes by a flag about something else', async () => {
    write('sweep.csv', sweep)
    await importing({ path: 'sweep.csv', metric: 'F1', direction: 'minimize', column: ['steps=option'] })
    const ruled = { path: 'sweep.csv', constraint: ['F1 <= 74.5'] }
    expect(await refusal(ruled)).toBe(
      'These rows stand in the ledger as sweep.csv, under other rules, and would count twice. To have them as sweep.csv under these instead: ' +
        "almanac import sweep.csv --metric F1 --direction minimize --column steps=option --constraint 'F1 <= 74.5' --replace; " +
        'to have both, give this one a name of its own with --as NAME.',
    )
    await importing({ ...ruled, replace: true })
    const [one, two] = ['F1 <= 74.5', 'F1 >= 71']
    expect(
      textOf(await importing({ path: 'sweep.csv', reference: 'line 3', constraint: [two], replace: true })),
    ).toContain(`Read as before, with --metric F1 --direction minimize --column steps=option --reference 'line 3'`)
    const flags = async () => (await known()).map(({ imports }) => imports.map(({ flags }) => flags))
    expect(await flags()).toEqual([
      [`--metric F1 --direction minimize --column steps=option --reference 'line 3' --constraint '${one}' '${two}'`],
    ])
    await importing({
      path: 'sweep.csv',
      column: ['steps=ignore', 'F1=metric'],
      constraint: ['F1 <= 80'],
      replace: true,
    })
    expect(await flags()).toEqual([
      [`--column steps=ignore F1=metric --reference 'line 3' --constraint '${two}' 'F1 <= 80'`],
    ])
  })

  test('a row that is gone is told, and stays until --replace', async () => {
    write('sweep.csv', sweep)
    await importing(right)
    write('sweep.csv', [...sweep.slice(0, 4), ...sweep.slice(5), 'exp-6,0.3,500,71'])
    const again = await importing({ path: 'sweep.csv' })
    expect(again).toMatchObject({ added: 1, known: 4 })
    expect(textOf(again)).toContain('1 row of an earlier import is not in it any more, and stays (line 5).')
    expect(textOf(again)).toContain('To have it as it is now: almanac import sweep.csv --replace')
    expect((await listed()).flatMap(({ runs }) => runs)).toHaveLength(5)
    expect(await importing({ path: 'sweep.csv', replace: true })).toMatchObject({ added: 5, replaced: 6 })
    expect((await listed()).flatMap(({ runs }) => runs)).toHaveLength(4)
  })

  test('a row that was mended would be there twice, and is refused until --replace', async () => {
    write('sweep.csv', sweep)
    await importing(right)
    write('sweep.csv', sweep.with(2, 'exp-2,0.3,500,71'))
    expect(await refusal({ path: 'sweep.csv' })).toBe(
      'sweep.csv: line 3 is not what it was when it was imported, and beside what it is now would count twice. To have the source as it is now, ' +
        'without 1 row of before: almanac import sweep.csv --replace; if the new rows are other experiments, add them with --as sweep.csv.',
    )
    expect(await importing({ path: 'sweep.csv', dryRun: true })).toMatchObject({ added: 0, known: 0 })
    expect(await sentences()).toEqual(['lr=0.2', 'steps=900', 'lr=0.2, steps=900'])
    await importing({ path: 'sweep.csv', replace: true })
    expect(await sentences()).toEqual(['lr=0.3', 'steps=900', 'lr=0.2, steps=900'])
  })

  test('one that was written anew is not added to what it was: numbers rounded, a column more, commits with other names', async () => {
    write('sweep.csv', sweep)
    await importing({ path: 'sweep.csv' })
    const anew = [
      sweep.map(line => line.replace(/,(\d+)$/, ',$1.0001')),
      sweep.map((line, index) => `${line},${index === 0 ? 'dropout' : 0}`),
    ]
    for (const lines of anew) {
      write('sweep.csv', [...lines, lines.at(-1)!.replace('0.2', '0.3')])
      expect(await refusal({ path: 'sweep.csv' })).toMatch(/^sweep.csv: line 2, 3, 4, 5, 6.* are not what they were/)
      expect(await importing({ path: 'sweep.csv', replace: true })).toMatchObject({ added: 6 })
    }
    const log = ['a\t1\tkeep\tbaseline', 'b\t0.9\tkeep\twider', 'c\t0.8\tdiscard\tdeeper']
    const named = (names: string) => [
      'commit\tval_bpb\tstatus\tdescription',
      ...log.map((line, i) => names[i] + line.slice(1)),
    ]
    write('results.tsv', named('abc'))
    await importing({ path: 'results.tsv' })
    write('copy.tsv', named('xyz'))
    expect(await refusal({ path: 'copy.tsv' })).toContain('These rows stand in the ledger as results.tsv')
    write('results.tsv', named('xyz'))
    expect(await refusal({ path: 'results.tsv' })).toContain('results.tsv: line 2, 3, 4 are not what they were')
    const night = ['commit\tval_bpb\tstatus\tdescription', 'k\t3\tkeep\tbaseline', 'l\t2.9\tdiscard\tnarrower']
    write('results.tsv', night.slice(0, 2))
    expect(await importing({ path: 'results.tsv', as: 'results.tsv' })).toMatchObject({ added: 1 })
    write('results.tsv', night)
    expect(await importing({ path: 'results.tsv' })).toMatchObject({ added: 1, known: 1 })
    expect((await listed('results.tsv')).flatMap(({ runs }) => runs)).toHaveLength(3)
    // Sorted otherwise, and one number of another column mended: the rows are the same experiments all the same.
    write(
      'sorted.csv',
      sweep.map((line, index) => `${line},${index === 0 ? 'secs' : 9}`),
    )
    await importing({ path: 'sorted.csv', column: ['lr=option', 'steps=option'], as: 'sorted' })
    write('sorted.csv', [
      `${sweep[0]},secs`,
      ...sweep
        .slice(1)
        .toReversed()
        .map((line, index) => `${line},${index === 1 ? 8 : 9}`),
    ])
    expect(await refusal({ path: 'sorted.csv' })).toContain('sorted: line 5 is not what it was')
  })

  test('a repository: other branches and resets are told, a history that was written anew is refused', async () => {
    const git = (...words: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', '-c', 'commit.gpgsign=false', ...words], {
        cwd: folder,
      })
    const commit = (message: string, loss: number) => {
      write('results.json', [JSON.stringify({ loss })])
      write('train.txt', [message])
      git('add', 'results.json', 'train.txt')
      git('commit', '-q', '-m', message)
    }
    git('init', '-q', '-b', 'main')
    write('.gitignore', ['.almanac'])
    git('add', '.gitignore')
    for (const [index, loss] of [3, 2, 2.5].entries()) commit(`idea ${index}`, loss)
    const read = { path: '.', format: 'git', metric: 'loss', direction: 'minimize' } as const
    const { added } = await importing(read)
    git('reset', '-q', '--hard', 'HEAD~1')
    commit('idea 3', 1.5)
    const again = await importing({ path: '.' })
    expect([added, again.added]).toEqual([3, 1])
    expect(textOf(again)).toMatch(/1 row of an earlier import is not in it any more, and stays \(commit\s+\w+\)/)
    git('commit', '-q', '--amend', '--no-edit', '--date', '2020-01-01T00:00:00Z')
    expect(await refusal({ path: '.' })).toMatch(/commit \w+ is not what it was when it was imported/)
  })

  test('of a log that has grown every row is compared, whatever the first import had seen; so is what a row is against', async () => {
    const rows = Array.from(
      { length: 200 },
      (_, i) => `c${i}\t${1 - i / 1000}\tdiscard\tidea ${i}\t${i < 2 ? `idea ${i}` : `why ${i}`}`,
    )
    const header = ['commit\tval_bpb\tstatus\tidea\twhy', 'a\t1\tkeep\tbaseline\tbaseline']
    write('log.tsv', [...header, ...rows.slice(0, 2)])
    await importing({ path: 'log.tsv', column: ['idea=description', 'why=ignore'] })
    write('log.tsv', [...header, ...rows])
    expect(await importing({ path: 'log.tsv' })).toMatchObject({ added: 198 })
    expect(await refusal({ path: 'log.tsv', column: ['why=description', 'idea=ignore'] })).toContain(
      'log.tsv has these rows already, read with --column idea=description why=ignore.',
    )
    write('later.tsv', [...header, ...rows.slice(100)])
    expect(await refusal({ path: 'later.tsv', column: ['idea=description', 'why=ignore'] })).toContain(
      'These rows stand in the ledger',
    )
    write('log.tsv', [...header, 'z\t0.5\tkeep\tin between\tx', ...rows])
    expect(textOf(await importing({ path: 'log.tsv' }))).toContain('rows that are known would be read otherwise today')
  })

  test('a metric that was guessed is not guessed anew', async () => {
    write('c.csv', ['name,lr,loss', 'r-1,0.1,3', 'r-2,0.2,2'])
    await importing({ path: 'c.csv' })
    write('c.csv', ['name,lr,acc,loss', 'r-1,0.1,70,3', 'r-2,0.2,71,2', 'r-3,0.3,72,1'])
    expect(await refusal({ path: 'c.csv' })).toContain('are not what they were')
    await importing({ path: 'c.csv', replace: true })
    expect(await known()).toMatchObject([{ name: 'c.csv', metric: 'loss (lower is better)', records: 2 }])
  })

  test('is not replaced by what mostly cannot be used', async () => {
    write('sweep.csv', sweep)
    await importing(right)
    for (const lines of [sweep.slice(0, 1), [...sweep.slice(0, 2), 'exp-2,0.2,500,', 'exp-3,0.2,500,']]) {
      write('sweep.csv', lines)
      expect(await refusal({ path: 'sweep.csv', replace: true })).toMatch(
        /^5 rows would be left out, and [01] can be used instead/,
      )
    }
    expect(await sentences()).toEqual(['lr=0.2', 'steps=900', 'lr=0.2, steps=900'])
  })

  test('one of two that are in one environment: the other keeps every run, whichever repeats they are', async () => {
    const both = { as: 'both', metric: 'F1', direction: 'maximize' as const, column: ['lr=option'] }
    write('a.csv', ['lr,F1', '0.1,70', '0.1,71', '0.1,72', '0.2,74'])
    write('b.csv', ['lr,F1', '0.1,60', '0.1,61', '0.1,62', '0.3,64'])
    for (const path of ['a.csv', 'b.csv']) await importing({ path, ...both })
    write('a.csv', ['lr,F1', '0.1,75', '0.2,74'])
    expect(await importing({ path: 'a.csv', replace: true })).toMatchObject({ added: 2, replaced: 4 })
    await using opened = await ledger()
    const [family] = await opened.families('both')
    const { records, references } = await opened.recordsAndReferencesOf({ familyIds: [family!.id] })
    const values = [...records, ...references].flatMap(({ runs }) => runs.map(({ outcome }) => outcome!.metrics['F1']!))
    expect(values.toSorted()).toEqual([60, 61, 62, 64, 74, 75])
  })

  test('what was read of it by flags of its own is read so, and what is new in it without any', async () => {
    const log = [
      'commit\ttier\tval_bpb\tacc\tstatus\tdescription',
      'a\tlab\t9\t1\tkeep\tbaseline',
      'b\tlab\t8\t2\tkeep\tone',
    ]
    const others = ['c\tfield\t3\t1\tkeep\tbaseline', 'd\tfield\t2\t2\tkeep\ttwo']
    write('results.tsv', [...log, ...others])
    await importing({ path: 'results.tsv' })
    await importing({ path: 'results.tsv', environment: 'lab', metric: 'acc', replace: true })
    write('results.tsv', [...log, 'e\tlab\t7\t3\tkeep\tthree', ...others, 'f\tfield\t1\t3\tkeep\tfour'])
    expect(await importing({ path: 'results.tsv' })).toMatchObject({ added: 2, known: 4 })
    expect((await known()).map(({ name, metric, records }) => [name, metric, records])).toEqual([
      ['results.tsv/field', 'val_bpb (lower is better)', 2],
      ['results.tsv/lab', 'acc (higher is better)', 2],
    ])
  })
})

describe('rows that stand in another environment', () => {
  test('another metric is not a second environment of the same name, unless it gets a name of its own', async () => {
    write('runs.csv', ['lr,val_acc,val_loss', '0.1,70,3', '0.2,71,2', '0.3,72,1'])
    await importing({ path: 'runs.csv', metric: 'val_acc' })
    const other = { path: 'runs.csv', metric: 'val_loss' }
    expect(await refusal(other)).toBe(
      'These rows stand in the ledger as runs.csv, about val_acc, and would count twice. To have them as runs.csv about val_loss instead: ' +
        'almanac import runs.csv --metric val_loss --replace; to have both, give this one a name of its own with --as NAME.',
    )
    const both = await importing({ ...other, as: 'by loss' })
    expect(textOf(both)).toContain('its rows stand in runs.csv too; forecasts that learn from both count them twice')
    await importing({ ...other, replace: true })
    expect((await known()).map(({ name, metric }) => [name, metric])).toEqual([
      ['runs.csv', 'val_loss (lower is better)'],
    ])
  })

  test('a copy, a part and a longer version of a log are the same log wherever they lie', async () => {
    const rows = Array.from({ length: 300 }, (_, i) => `c${i}\t${1 - i / 1000}\tdiscard\tidea ${i}`)
    const header = ['commit\tval_bpb\tstatus\tdescription', 'a\t1\tkeep\tbaseline']
    write('results.tsv', [...header, ...rows.slice(0, 200)])
    await importing({ path: 'results.tsv' })
    for (const [name, part] of [
      ['copy.tsv', rows.slice(0, 200)],
      ['part.tsv', rows.slice(20, 60)],
      ['longer.tsv', rows],
    ] as const) {
      write(name, [...header, ...part])
      expect(await refusal({ path: name })).toContain(
        'These rows stand in the ledger as results.tsv, and would count twice',
      )
    }
    expect(await refusal({ path: 'part.tsv', replace: true })).toBe(
      '160 rows that came from results.tsv are not in this source, and would be left out with the others. If that is meant: ' +
        'almanac withdraw --environment results.tsv, and then import this one; to have both, give this one a name of its own with --as NAME.',
    )
    write('others.tsv', [...header, ...rows.slice(200)])
    expect(await importing({ path: 'others.tsv' })).toMatchObject({ added: 101 })
  })

  test('what came in before the folder had an environment moves into it, and out again: then its own reference is back', async () => {
    const log = ['commit\tval_bpb\tstatus\tdescription', 'a\t1\tkeep\tbaseline', 'b\t0.9\tkeep\twider']
    write('results.tsv', log)
    await importing({ path: 'results.tsv' })
    write('almanac.config.json', [
      JSON.stringify({
        name: 'mine',
        command: 'true',
        metrics: [{ name: 'val_bpb', direction: 'minimize', pattern: 'val_bpb: (\\S+)' }],
        reference: { configuration: { depth: 2 } },
        results: 'results.tsv',
      }),
    ])
    expect(await refusal({})).toContain('To have them as mine instead: almanac import results.tsv --replace')
    expect(await importing({ replace: true })).toMatchObject({ added: 2, replaced: 2 })
    expect((await known()).map(({ name, isHere, records }) => [name, isHere, records])).toEqual([['mine', true, 1]])
    const current = async () => {
      await using opened = await ledger()
      const [mine] = await opened.families('mine')
      return (await opened.currentVersion(mine!.id))!
    }
    await importing({ path: 'results.tsv', as: 'theirs', replace: true })
    expect((await known()).map(({ name, records }) => [name, records]).toSorted()).toEqual([
      ['mine', 0],
      ['theirs', 1],
    ])
    expect(await current()).toMatchObject({
      why: 'configured',
      version: { reference: { configuration: { depth: 2 } } },
    })
  })

  test('a log of the same name from another place is not mixed with the first by itself', async () => {
    write('results.tsv', ['commit\tval_bpb\tstatus\tdescription', 'a\t1\tkeep\tbaseline', 'b\t0.9\tkeep\twider'])
    await importing({ path: 'results.tsv' })
    const elsewhere = join(mkdtempSync(join(folder, 'other-')), 'results.tsv')
    writeFileSync(elsewhere, 'commit\tval_bpb\tstatus\tdescription\nx\t5\tkeep\tbaseline\ny\t4\tkeep\tdeeper\n')
    expect(await refusal({ path: elsewhere })).toContain(
      'came from another place; give these a name of their own with --as NAME, or add them to those with --as results.tsv.',
    )
    expect(await refusal({ path: elsewhere, metric: 'val_bpb', direction: 'maximize' })).toContain(
      'The ledger has another environment called results.tsv',
    )
    expect(await importing({ path: elsewhere, as: 'results.tsv' })).toMatchObject({ added: 2 })
    expect(await known()).toMatchObject([{ name: 'results.tsv', records: 2 }])
  })

  test('one environment that is refused keeps the others of its source out, and a refused replacement changes nothing', async () => {
    write('a.tsv', ['commit\tval_bpb\tstatus\tdescription', 'a\t1\tkeep\tbaseline', 'b\t0.9\tkeep\twider'])
    write('b.tsv', ['commit\tval_bpb\tstatus\tdescription', 'x\t5\tkeep\tbaseline', 'y\t4\tkeep\tdeeper'])
    await importing({ path: 'a.tsv' })
    await importing({ path: 'b.tsv' })
    const asOther = { path: 'a.tsv', as: 'b.tsv', direction: 'maximize', replace: true } as const
    expect(await refusal(asOther)).toContain('The ledger has another environment called b.tsv')
    expect((await known()).map(({ name, records }) => [name, records])).toEqual([
      ['a.tsv', 1],
      ['b.tsv', 1],
    ])
  })
})
