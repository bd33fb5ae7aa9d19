/** A source that comes again: grown, mended, or read otherwise. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { exportRecords } from './export.ts'
import { importFolder, right, sweep, textOf, wrong } from './import-folder.ts'
import { inProcess } from './in-process.ts'
import { records } from './records.ts'

const { path, write, importing, refusal, listed, sentences, known, ledger } = importFolder()

describe('columns that were taken for something else', () => {
  test('are told, and put right by --replace: nothing of the wrong reading is in any list or file of records', async () => {
    write('sweep.csv', sweep)
    await importing(wrong)
    expect(await sentences()).toEqual(['lr=0.2'])
    const before = readFileSync(join(path(), '.almanac', 'ledger.db'))

    expect(await refusal(right)).toBe(
      'sweep.csv has these rows already, read with --column lr=option steps=ignore. To read them anew and leave out what stands: ' +
        'almanac import sweep.csv --column lr=option steps=option --replace',
    )
    const dry = await importing({ ...right, dryRun: true })
    expect(textOf(dry)).toContain('sweep.csv: 0 rows would be imported, 0 known before, 0 not usable, 5 refused')
    expect(textOf(dry)).toContain('Refused: sweep.csv has these rows already')
    expect(await importing({ ...right, dryRun: true, replace: true })).toMatchObject({ added: 5, replaced: 5 })
    expect(readFileSync(join(path(), '.almanac', 'ledger.db')).equals(before)).toBe(true)

    expect(await importing({ ...right, replace: true })).toMatchObject({ added: 5, known: 0, replaced: 5 })
    expect(await sentences()).toEqual(['lr=0.2', 'steps=900', 'lr=0.2, steps=900'])
    expect((await listed()).map(({ runs }) => runs.map(({ imported }) => imported!.place))).toEqual([
      ['line 3'],
      ['line 4'],
      ['line 5', 'line 6'],
    ])
    await exportRecords.run({ path: 'records.jsonl' }, inProcess(path()))
    const exported = readFileSync(join(path(), 'records.jsonl'), 'utf8').trim().split('\n').slice(1)
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
      const texts = all.map(({ record }) => records.run(records.input.parse({ record }), inProcess(path())))
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
        cwd: path(),
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
