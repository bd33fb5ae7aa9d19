/** `almanac import` through its front door: where a history goes, what is shown before, what is never stored. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { servers } from '../importers/fixtures/http-server.ts'
import { mlflow } from '../importers/fixtures/mlflow.ts'
import { openLedger } from '../ledger/ledger.ts'
import { importHistory } from './import.ts'
import { inProcess } from './in-process.ts'
import type { Context } from './operation.ts'
import { records } from './records.ts'

const serve = servers()
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-import-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const write = (name: string, ...lines: string[]) => writeFileSync(join(folder, name), `${lines.join('\n')}\n`)
const runImport = (input: z.input<typeof importHistory.input>, changes: Partial<Context> = {}) =>
  importHistory.run(importHistory.input.parse(input), inProcess(folder, changes))
const textOf = async (input: z.input<typeof importHistory.input>) =>
  importHistory.text(await runImport(input), { width: 120, styling: (_, words) => words })
const ledgerFile = () => join(folder, '.almanac', 'ledger.db')
const names = async () => {
  await using ledger = await openLedger(ledgerFile())
  return (await ledger.families()).map(({ family }) => family.name)
}

const header = 'commit\tval_bpb\tmemory_gb\tstatus\tdescription'
const log = [
  header,
  'baseline\t1.0\t4\tkeep\tbaseline',
  'a1\t0.98\t4\tkeep\twider layers, 0.9800 now',
  'a2\t0.2\t4\tkeep\tread the answers',
  'a3\t0.99\t4\tmystery\tunknown',
]
const environmentFile = (changes: object = {}) =>
  write(
    'almanac.config.json',
    JSON.stringify({
      name: 'mine',
      command: 'true',
      metrics: [{ name: 'val_bpb', direction: 'minimize', pattern: 'val_bpb: (\\S+)' }],
      reference: { configuration: { depth: 2 } },
      results: 'results.tsv',
      ...changes,
    }),
  )

describe('where it goes', () => {
  test('without an environment file: a ledger where the user stands, an environment of its own, reached by name', async () => {
    write('results.tsv', ...log)
    const imported = await runImport({ path: 'results.tsv' })
    expect(imported).toMatchObject({ added: 3, known: 0, changesReference: false, ledger: ledgerFile() })
    expect(imported.environments).toMatchObject([{ name: 'results.tsv', isHere: false }])
    expect(await names()).toEqual(['results.tsv'])
    const listed = await records.run(records.input.parse({ environment: 'results.tsv' }), inProcess(folder))
    expect(listed.found).toBe(2)
    expect(await runImport({ path: 'results.tsv' })).toMatchObject({ added: 0, known: 3 })
    write('results.tsv', ...log, 'a4\t0.97\t4\tkeep\tlower rate')
    expect(await runImport({ path: 'results.tsv' })).toMatchObject({ added: 1, known: 3 })
    expect(await names()).toEqual(['results.tsv'])
  })

  test('what measures the objective of the folder becomes part of its environment, under its rules', async () => {
    environmentFile({ constraints: [{ metric: 'val_bpb', atLeast: 0.9 }] })
    write('results.tsv', ...log)
    const imported = await runImport({})
    expect(imported.environments).toMatchObject([{ name: 'mine', isHere: true, violated: 1 }])
    expect(await names()).toEqual(['mine'])
    const { records: listed } = await records.run(records.input.parse({ sort: 'oldest' }), inProcess(folder))
    expect(listed.map(({ outcome, measured }) => [outcome, measured === null])).toEqual([
      ['finished', false],
      ['violated', true],
    ])
  })

  test('what measures something else, and what is to have a name of its own, stands beside it', async () => {
    environmentFile()
    write('results.tsv', ...log)
    write('other.csv', 'name,accuracy', 'base,0.5', 'wide,0.6')
    await runImport({ path: 'other.csv' })
    await runImport({ path: 'results.tsv', as: 'theirs' })
    expect(await names()).toEqual(['mine', 'other.csv', 'theirs'])
  })

  test("the folder's own log without its objective is refused, with the columns there are", async () => {
    environmentFile()
    write('results.tsv', ...log.map(line => line.replace('val_bpb', 'val_loss')))
    await expect(runImport({})).rejects.toThrow('results.tsv has no column "val_bpb" for the metric: its columns are')
    expect(await runImport({ column: ['val_loss=metric'] })).toMatchObject({ added: 3 })
    expect(await names()).toEqual(['mine'])
  })

  test('several environments of one source, all or the one that is named', async () => {
    write(
      'results.tsv',
      'commit\ttier\tval_bpb\tstatus\tdescription',
      'a\tlab\t9\tkeep\tbaseline',
      'b\tfield\t3\tkeep\tbaseline',
      'c\tlab\t8\tkeep\tone',
      'd\tfield\t2\tkeep\ttwo',
    )
    expect((await runImport({ path: 'results.tsv', environment: 'field' })).environments).toHaveLength(1)
    await expect(runImport({ path: 'results.tsv', environment: 'moon' })).rejects.toThrow(
      'results.tsv has no environment "moon"; it has lab, field',
    )
    expect((await runImport({ path: 'results.tsv' })).environments).toMatchObject([
      { name: 'results.tsv/lab', added: { references: 1, kept: 1 } },
      { name: 'results.tsv/field', added: { references: 0, kept: 0 }, known: 2 },
    ])
    expect(await names()).toEqual(['results.tsv/field', 'results.tsv/lab'])
  })
})

describe('environments of a ledger by name', () => {
  const found = async (environment?: string) =>
    (await records.run(records.input.parse({ environment }), inProcess(folder))).found

  test('the whole name, what stands behind the source, or none where there is but one', async () => {
    await expect(found()).rejects.toThrow(/^There is no ledger .* yet: import a history/)
    expect(existsSync(ledgerFile())).toBe(false)
    write('results.tsv', ...log)
    await runImport({ path: 'results.tsv', as: 'theirs/lab' })
    expect(await found()).toBe(2)
    await runImport({ path: 'results.tsv', as: 'ours/lab' })
    expect([await found('ours/lab'), await found('theirs')]).toEqual([2, 2])
    await expect(found('lab')).rejects.toThrow('Several environments are called lab: theirs/lab, ours/lab; give the')
    await expect(found('moon')).rejects.toThrow('The ledger has no environment "moon"; it has theirs/lab, ours/lab.')
    await expect(found()).rejects.toThrow('Say which environment is meant, with --environment NAME; it has theirs/lab')
    const all = await records.run(records.input.parse({ all: true }), inProcess(folder))
    expect(all.found).toBe(4)
  })
})

describe('where a record came from', () => {
  const listed = (input: z.input<typeof records.input>) => records.run(records.input.parse(input), inProcess(folder))
  const whole = async (input: z.input<typeof records.input>) =>
    records.text(await listed(input), { width: 120, styling: (_, words) => words })

  test('the line of a log, what it was tried on, and what the log says of it', async () => {
    write('results.tsv', ...log, 'a4\t\t\tcrash\tlower rate (out of memory)')
    await runImport({ path: 'results.tsv' })
    const { records: all } = await listed({ sort: 'oldest' })
    expect(all.map(({ origin, runs }) => [origin, runs.map(({ imported }) => imported)])).toEqual([
      ['results.tsv', [{ place: 'line 3', note: '0.9800 now' }]],
      ['results.tsv', [{ place: 'line 4', note: null }]],
      ['results.tsv', [{ place: 'line 6', note: '(out of memory)' }]],
    ])
    expect(await whole({ record: all[1]!.record })).toMatchInlineSnapshot(`
      "Record 4 of results.tsv
        tried    read the answers
        from     results.tsv
        against  reference a1 (1aa3d3b6)
                 line 3: finished, val_bpb 0.98; the source says: 0.9800 now
        run      line 4: finished, val_bpb 0.2
        gain     +0.780 (val_bpb, lower is better; a gain above 0 is an improvement)
        verdict  inconclusive: nothing was repeated, and nothing is known of the noise
        kept     as the reference of what came after it"
    `)
    expect(await whole({ record: all[2]!.record })).toContain(
      'line 6: crashed, the log says "crash": (out of memory)\n',
    )
    await expect(listed({ record: 99 })).rejects.toThrow('There is no record 99 here')
  })

  test('the run of a tracker, with the seed as it is written there; two servers are two sources, whose hosts are not kept', async () => {
    const [first, second] = [await serve(mlflow), await serve(mlflow)]
    await runImport({ path: first.href })
    expect(await runImport({ path: first.href })).toMatchObject({ added: 0 })
    const [one, ...more] = await names()
    expect(more).toEqual([])
    expect(one).toMatch(/^mlflow-[0-9a-f]{6}\/tuning$/)
    const refused = await runImport({ path: second.href }).catch(({ message }) => message)
    expect(refused).toMatch(
      /^These rows stand in the ledger as (mlflow-\w{6}).tuning, .* as (?!\1)mlflow-\w{6}.tuning instead/,
    )
    expect(readFileSync(ledgerFile(), 'latin1')).not.toContain(first.host)
    expect(await runImport({ path: first.href, environment: one! })).toMatchObject({ added: 0 })
    const { records: all } = await listed({ environment: one! })
    expect(all.map(({ origin }) => origin)).toContain(one!.slice(0, -'/tuning'.length))
    expect(all.flatMap(({ runs }) => runs.map(({ imported }) => imported!.place))).toContain('run bbbbbbbb')
  })
})

describe('before it is stored', () => {
  test('a dry run shows what was inferred, guesses marked as such, and leaves nothing behind', async () => {
    write('results.tsv', ...log)
    expect(await textOf({ path: 'results.tsv', dryRun: true, constraint: ['val_bpb >= 0.9'] })).toMatchInlineSnapshot(`
      "results.tsv: 3 rows would be imported, 0 known before, 1 not usable
      Read as a table with tabs (results.tsv and its relatives). Nothing was stored.
      results.tsv, an environment of its own
        metric       val_bpb, lower is better (a guess)
        beside it    memory_gb
        reference    line 2: baseline
        constraints  val_bpb at least 0.9
        statuses     keep → kept (2), keep → reference (1)
        new rows     1 reference, 2 kept, 0 tried; 0 known before
        violated     1 row broke a constraint: no gain, whatever the log says
        texts        1 (33 %) say how it went; that is split off:
                     line 3: "wider layers", without "0.9800 now"
        guess: the metric is val_bpb, lower is better: the first column that can be one; its name says
               which way
        line 5: unknown status "mystery": a3 0.99 4 mystery unknown"
    `)
    expect(readdirSync(folder)).toEqual(['results.tsv'])
  })

  test('a comma behind a role parts two columns, and one in a name does not', async () => {
    write('runs.csv', '"lr, base",width,loss', '0.1,1,2.5', '0.2,1,2.25', '0.2,2,2.0')
    const input = { path: 'runs.csv', dryRun: true, column: ['lr, base=option,loss=metric'] }
    const { environments } = await runImport(input)
    expect(environments[0]).toMatchObject({ metrics: [{ name: 'loss' }], added: { references: 1, tried: 2 } })
  })

  test('a metric that was said is no guess, and its direction may be one', async () => {
    write('results.tsv', ...log)
    const metricLine = async (more: object) =>
      (await textOf({ path: 'results.tsv', dryRun: true, ...more })).split('\n').find(line => /^ +metric /.test(line))
    expect(await metricLine({ metric: 'val_bpb' })).toMatch(/val_bpb, lower is better \(the direction is a guess\)$/)
    expect(await metricLine({ column: ['val_bpb=metric'] })).toMatch(/\(the direction is a guess\)$/)
    expect(await metricLine({ metric: 'val_bpb', direction: 'minimize' })).toMatch(/val_bpb, lower is better$/)
  })

  test('a first row that crashed measures nothing: what follows from it is said, and what helps', async () => {
    const [heading] = log
    const crashed = [heading!, 'a0\t\t4\tcrash\tbaseline', 'a1\t0.9\t4\tdiscard\twider']
    write('results.tsv', ...crashed, 'a2\t0.8\t4\tkeep\tdeeper')
    const { environments } = await runImport({ path: 'results.tsv', dryRun: true })
    expect(environments[0]!.reference).toMatchObject({ unmeasured: { outcome: 'crashed', rows: 2, next: 'line 4' } })
    const said =
      'line 2 measures nothing (crashed), so 2 rows tried on it have no gain. From line 4 on, which was kept, there are gains.'
    const words = (text: string) => text.replace(/\s+/g, ' ')
    expect(words(await textOf({ path: 'results.tsv', dryRun: true }))).toContain(said)
    expect(words(await textOf({ path: 'results.tsv' }))).toContain(said)
    write('results.tsv', ...crashed)
    expect(words(await textOf({ path: 'results.tsv', dryRun: true }))).toContain(
      'What helps is a row that measures it, or of a tracker or a sweep --reference with a run that finished.',
    )
  })

  test('of many texts a few cuts are shown, and all as JSON', async () => {
    const notes = ['wider', 'deeper', 'longer', 'colder'].map((what, at) => `b${at}\t0.9\t4\tdiscard\t${what} (worse)`)
    write('results.tsv', ...log.slice(0, 2), ...notes)
    const text = await textOf({ path: 'results.tsv', dryRun: true })
    expect(text).toMatch(
      /line 3: "wider", without "\(worse\)"\n.*"deeper".*\n.*"longer".*\n +and 1 more, all of them with --json/,
    )
    const { environments } = await runImport({ path: 'results.tsv', dryRun: true })
    expect(environments[0]!.cuts.map(({ tried }) => tried)).toEqual(['wider', 'deeper', 'longer', 'colder'])
    expect((await runImport({ path: 'results.tsv' })).environments[0]!.cuts).toEqual([])
  })

  test('what the columns were taken for is shown as a guess, but for what the user says', async () => {
    write('runs.csv', 'id,what,lr,val_loss,thing', '1,base,0.1,2.5,x', '2,wide,0.2,2.25,y')
    const columns = async (column?: string[]) =>
      (await runImport({ path: 'runs.csv', dryRun: true, column })).environments[0]!.columns
    const leftOut = ['left out', 'id (numbers the rows)']
    expect(await columns()).toEqual([['options', 'what, lr, thing (a guess)'], leftOut])
    expect(await columns(['what=description,lr=option, thing=ignore'])).toEqual(
      await columns(['what=description', 'lr=option', 'thing=ignore']),
    )
    expect(await columns(['what=description', 'lr=option', 'thing=ignore'])).toEqual([
      ['tried', 'what'],
      ['options', 'lr'],
      leftOut,
    ])
  })

  test('what comes in says how many texts told the result, and which improved far more than usual', async () => {
    const steps = Array.from(
      { length: 12 },
      (_, step) => `b${step}\t${(1 - step / 1000).toFixed(4)}\t4\tkeep\tstep ${step}`,
    )
    write('results.tsv', ...log.slice(0, 3), ...steps, 'c1\t0.1\t4\tkeep\tread the answers')
    expect((await textOf({ path: 'results.tsv' })).split('\n').slice(1, 3)).toEqual([
      '  1 text (7 %) said how it went: kept apart from what was tried',
      '  1 row improved far more than was usual: --dry-run names them',
    ])
  })

  test('a dry run over a ledger says what would be new, and changes nothing of it', async () => {
    write('results.tsv', ...log)
    await runImport({ path: 'results.tsv' })
    const before = readFileSync(ledgerFile())
    write('results.tsv', ...log, 'a4\t0.97\t4\tkeep\tlower rate')
    write('other.csv', 'name,accuracy', 'base,0.5')
    expect(await runImport({ path: 'results.tsv', dryRun: true })).toMatchObject({ added: 1, known: 3 })
    expect(await runImport({ path: 'other.csv', dryRun: true })).toMatchObject({ added: 1 })
    expect(await names()).toEqual(['results.tsv'])
    expect(readFileSync(ledgerFile()).equals(before)).toBe(true)
  })

  test('a direction that nothing tells is asked for, or has to be said', async () => {
    write('log.csv', 'name,zeta', 'base,1', 'wide,2')
    await expect(runImport({ path: 'log.csv' })).rejects.toThrow(
      'Nothing tells whether zeta of log.csv is better when it is lower or higher; say --direction',
    )
    const questions: string[] = []
    const ask: Context['ask'] = async question => {
      questions.push(question.text)
      return 'higher'
    }
    const asked = await runImport({ path: 'log.csv' }, { ask })
    expect(questions).toEqual(['Is zeta (log.csv) better when it is lower or when it is higher?'])
    expect(asked.environments[0]!.metrics[0]).toMatchObject({ name: 'zeta', direction: 'maximize' })
    const said = await runImport({ path: 'log.csv', as: 'again', direction: 'minimize' })
    expect(said.environments[0]!.metrics[0]).toEqual({ name: 'zeta', direction: 'minimize', guessed: false })
  })

  test.each([
    [{ path: 'gone.tsv' }, 'There is no file'],
    [{ path: 'prose.txt' }, 'no format recognises the file prose.txt; say which it is with --format, one of'],
    [{ path: 'prose.txt', format: 'tsv' }, 'prose.txt is not a results table'],
    [{ path: 'log.csv', column: ['x=what'] }, '"x=what" is not NAME=ROLE; the roles are metric, status'],
    [
      { path: 'log.csv', constraint: ['loss >= 1'] },
      'log.csv has no metric "loss" for the constraint; its metrics are',
    ],
    [{ path: 'log.csv', reference: 'bass' }, 'log.csv has no row "bass" in its name for the reference'],
    [{ path: 'log.csv', constraint: ['loss'] }, '--constraint: "loss" is no constraint'],
    [{}, 'Name what to import: almanac import results.tsv'],
  ])('what cannot be imported gets one sentence: %j', async (input, sentence) => {
    write('prose.txt', 'Once upon a time', 'there was a file')
    write('log.csv', 'name,accuracy', 'base,1')
    await expect(runImport(input as { path: string })).rejects.toThrow(sentence)
  })
})

describe('personal data', () => {
  const planted = ['alice.smith@lab.example.org', '/home/alice', 'node17.lan', 'alice_argv', 'hf_abcdefghijklmnopqrst']
  const rows = [
    JSON.stringify({ description: `baseline on ${planted[2]}`, val_loss: 1, params: { lr: 1, user: 'alice_argv' } }),
    JSON.stringify({
      description: `asked ${planted[0]}, data in ${planted[1]}/data`,
      note: `worse, see ${planted[1]}/log`,
      val_loss: 2,
      params: { lr: 2, path: `${planted[1]}/x`, argv: ['--token', planted[4]], user: 'alice_argv' },
    }),
    JSON.stringify({ description: `never ran for ${planted[0]}`, val_loss: null, params: { lr: 3 } }),
  ]
  const found = () => {
    const bytes = readdirSync(join(folder, '.almanac')).map(name =>
      readFileSync(join(folder, '.almanac', name), 'latin1'),
    )
    return planted.filter(each => bytes.some(text => text.includes(each)))
  }

  test('nothing of it is anywhere in the ledger file', async () => {
    write('log.jsonl', ...rows)
    const imported = await runImport({ path: 'log.jsonl' })
    expect(imported).toMatchObject({ added: 2, unusable: [{ place: 'line 3' }] })
    expect(found()).toEqual([])
    expect(planted.filter(each => JSON.stringify(imported).includes(each))).toEqual([])
  })

  test('is kept where it is asked for', async () => {
    write('log.jsonl', ...rows)
    await runImport({ path: 'log.jsonl', keepPersonal: true })
    expect(found()).toEqual(planted)
  })
})

test('a folder is read by what is in it, and links out of it lead nowhere', async () => {
  mkdirSync(join(folder, 'empty'))
  await expect(runImport({ path: 'empty' })).rejects.toThrow('no format recognises the folder empty')
  expect(existsSync(join(folder, 'empty', '.almanac'))).toBe(false)
})
