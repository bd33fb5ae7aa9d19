import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Family } from '../experiment/environment.ts'
import { seedOfLog } from '../experiment/imported-seed.ts'
import { type Ledger, openLedger } from '../ledger/ledger.ts'
import { withConstraints } from './constraints.ts'
import { trackedRun } from './fixtures/tracked-run.ts'
import { readResultsTsv } from './results-tsv.ts'
import { storeHistory } from './store-history.ts'
import type { TrackedRun } from './tracked-experiment.ts'
import { trackedHistory } from './tracked-history.ts'

const family: Family = {
  name: 'small-model',
  description: '',
  metrics: [{ name: 'val_bpb', direction: 'minimize' }],
  constraints: [],
  command: null,
  budget: {},
  evaluator: {},
  data: [],
}
const plainRun = trackedRun('', { place: '', status: null })
const first = [
  'commit\tval_bpb\tmemory_gb\tstatus\tdescription',
  'baseline\t1.00\t4\tkeep\tbaseline',
  'aaaaaa1\t0.98\t4\tkeep\thalve the batch',
  'aaaaaa2\t0.99\t4\tdiscard\tadd warmup',
  'aaaaaa3\t0\t0\tcrash\tdouble the width',
  'aaaaaa4\t0.97\t4\tkeep\thigher learning rate',
  'aaaaaa5\t0.975\t4\tdiscard\tsoftcap 20',
  'aaaaaa6\t0.96\t4\tmystery\tunknown status',
]
const later = [
  'aaaaaa7\t0.9705\t4\tdiscard\tadd warmup',
  'aaaaaa8\t0.9715\t4\tdiscard\tadd warmup',
  'aaaaaa9\t0.95\t4\tkeep\tsmaller embeddings',
]

describe('an imported history in a ledger', () => {
  let folder: string
  let ledger: Ledger
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'almanac-import-'))
    ledger = await openLedger(join(folder, 'ledger.db'))
  })
  afterEach(async () => {
    await ledger.close()
    await rm(folder, { recursive: true })
  })

  const store = (rows: readonly string[], source = 'results.tsv') =>
    storeHistory(
      ledger,
      family,
      readResultsTsv(`${rows.join('\n')}\n`, source, { metric: { name: 'val_bpb', direction: 'minimize' } }),
    )
  const gains = async () => {
    const records = await ledger.recordsOf({})
    return records.map(({ intervention, measured, outcome }) => [
      intervention.sentence,
      measured === null ? outcome : Number(measured.gain.toFixed(4)),
    ])
  }

  test.each([true, false])(
    'rows keep the kind of key that their family has: the long one of before: %s',
    async isOld => {
      const familyId = await ledger.ensureFamily(family)
      if (isOld)
        await ledger.recordImports([[`${familyId} unusable x`, { reason: 'no number', place: 'line 9', text: null }]])
      const stored = await store(first)
      expect(stored.known).toBe(0)
      expect(await store(first)).toMatchObject({ known: 6, added: { references: 0, kept: 0, tried: 0 } })
      using file = new DatabaseSync(ledger.path)
      const keys = file.prepare('select source_key from imports').all()
      const expected = isOld ? new RegExp(`^${familyId} (row|reference|unusable) `) : /^[0-9a-f]{32}$/
      expect(keys.map(row => row['source_key'])).toEqual(Array(isOld ? 10 : 9).fill(expect.stringMatching(expected)))
    },
  )

  test('gains are against the row kept before, and a crash has none', async () => {
    const stored = await store(first)
    expect(stored).toMatchObject({ added: { references: 1, kept: 2, tried: 3 }, known: 0, isCurrent: true })
    expect(stored.unusable).toMatchObject([{ place: 'line 8' }])
    expect(await gains()).toEqual([
      ['halve the batch', 0.02],
      ['add warmup', -0.01],
      ['double the width', 'crashed'],
      ['higher learning rate', 0.01],
      ['softcap 20', -0.005],
    ])
  })

  test('each kept row is a version with its parent, and the last one is current', async () => {
    const { familyId, lastVersionId } = await store(first)
    const current = await ledger.currentVersion(familyId)
    expect(current).toMatchObject({ why: 'imported', version: { id: lastVersionId } })
    const lineage = await ledger.lineage(lastVersionId!)
    expect(lineage.map(({ reference }) => reference.label?.split(' ')[0])).toEqual(['aaaaaa4', 'aaaaaa1', 'baseline'])
    const reference = await ledger.ensureReference(lastVersionId!)
    expect((await ledger.runsOf(reference)).map(({ outcome }) => outcome?.metrics['val_bpb'])).toEqual([0.97])
  })

  test('importing twice changes nothing, from wherever', async () => {
    await store(first)
    const before = await gains()
    const again = await store(first, 'moved/results.tsv')
    expect(again).toMatchObject({ added: { references: 0, kept: 0, tried: 0 }, known: 6, isCurrent: true })
    expect(await gains()).toEqual(before)
  })

  test('a file that has grown adds only its new rows, on what was kept before them; repeats are runs of one record', async () => {
    await store(first)
    const grown = await store([...first, ...later])
    expect(grown).toMatchObject({ added: { references: 0, kept: 1, tried: 2 }, known: 6, isCurrent: true })
    expect((await gains()).slice(5)).toEqual([
      ['add warmup', -0.001],
      ['smaller embeddings', 0.02],
    ])
    const records = await ledger.recordsOf({})
    expect(records[5]!.runs.map(({ seed }) => seed)).toEqual([-1, -2])
    const all = await store([...first, ...later])
    expect(all.known).toBe(9)
  })

  test('a reference that somebody configured stays current unless the import goes on from it', async () => {
    const familyId = await ledger.ensureFamily(family)
    const mine = await ledger.ensureVersion(familyId, {
      configuration: { depth: 4 },
      commit: null,
      tree: null,
      code: null,
    })
    await ledger.setCurrentVersion(familyId, mine.id, 'configured')
    expect((await store(first)).isCurrent).toBe(false)
    expect((await ledger.currentVersion(familyId))?.version.id).toBe(mine.id)
  })

  test('rows tried before anything was kept hang on a reference that was never measured', async () => {
    await store([first[0]!, 'aaaaaa1\t0.98\t4\tdiscard\thalve the batch', 'aaaaaa2\t0.97\t4\tkeep\tadd warmup'])
    const records = await ledger.recordsOf({})
    expect(records.map(({ measured, verdict }) => [measured, verdict])).toEqual([
      [null, 'inconclusive'],
      [null, 'inconclusive'],
    ])
  })

  test('a history of another metric is refused, and nothing is stored', async () => {
    const history = readResultsTsv(first.join('\n').replaceAll('val_bpb', 'val_loss'), 'results.tsv')
    await expect(storeHistory(ledger, family, history)).rejects.toThrow(
      'was read for the metric val_loss, but small-model is about val_bpb',
    )
    expect(await ledger.families()).toEqual([])
  })

  test('settings of a sweep become the configuration of the reference and overrides on it', async () => {
    const text = 'block\twarps\tval_bpb\n16\t2\t1.0\n16\t4\t0.9\n32\t4\t0.8\n16\t2\t1.01\n16\t4\t0.91\n'
    const history = readResultsTsv(text, 'sweep.tsv', { metric: { name: 'val_bpb', direction: 'minimize' } })
    const stored = await storeHistory(ledger, family, history)
    expect(stored.added).toEqual({ references: 2, kept: 0, tried: 3 })
    const records = await ledger.recordsOf({})
    expect(
      records.map(({ changes, runs }) => [
        changes.map(({ option, from, to }) => `${option} ${from}→${to}`),
        runs.length,
      ]),
    ).toEqual([
      [['warps 2→4'], 2],
      [['block 16→32', 'warps 2→4'], 1],
    ])
    expect(records[0]!.environment.version.reference.configuration).toEqual({ block: 16, warps: 2 })
  })

  const tracked = (runs: readonly Partial<TrackedRun>[], reference = '0') =>
    trackedHistory(
      {
        name: null,
        description: null,
        objective: { name: 'val_bpb', direction: 'minimize' },
        constraints: [],
        runs: runs.map((some, index) => ({ ...plainRun, id: `${index}`, place: `run ${index}`, ...some })),
        unusable: [],
        guesses: [],
      },
      'tracker.db',
      { reference },
    )

  test('seeds of a source are kept apart from seeds that somebody asks for here; one that comes twice is another run', async () => {
    const history = tracked([
      { configuration: { lr: 1, seed: 1 }, metrics: { val_bpb: 1 } },
      { configuration: { lr: 1, seed: 2 }, metrics: { val_bpb: 1.1 } },
      { configuration: { lr: 2, seed: 1 }, metrics: { val_bpb: 0.8 } },
      { configuration: { lr: 2, seed: 1 }, metrics: { val_bpb: 0.82 } },
      { configuration: { lr: 2 }, metrics: { val_bpb: 0.84 } },
    ])
    await storeHistory(ledger, family, history)
    const [record] = await ledger.recordsOf({})
    expect(record!.runs.map(({ seed }) => seedOfLog(seed)).sort()).toEqual([1, null, null])
    expect(record!.runs.every(({ seed }) => seed < 0)).toBe(true)
    expect(record!.measured!.gain).toBeCloseTo(1.05 - 0.82, 12)
    expect(record!.verdict).toBe('better')
  })

  test('code that git does not have is told apart by its diff, and a child is measured against its parent', async () => {
    const history = tracked([
      { metrics: { val_bpb: 1 }, text: 'greedy' },
      { metrics: { val_bpb: 0.9 }, parent: '0', diff: '-a\n+b\n', text: 'sorted' },
      { metrics: { val_bpb: 0.8 }, parent: '1', diff: '-b\n+c\n', text: 'sorted' },
      { metrics: { val_bpb: 0.7 }, parent: '1', diff: '-b\n+d\n', text: 'sorted' },
    ])
    await storeHistory(ledger, family, history)
    expect(await gains()).toEqual([
      ['sorted', 0.1],
      ['sorted', 0.1],
      ['sorted', 0.2],
    ])
    const versions = new Set((await ledger.recordsOf({})).map(({ environment }) => environment.version.id))
    expect(versions.size).toBe(2)
    expect(await storeHistory(ledger, family, history)).toMatchObject({ known: 4 })
  })

  test('other seeds of what was kept measure the new reference too', async () => {
    const seeded = (seed: number, val_bpb: number, some: Partial<TrackedRun>) => ({
      seed,
      metrics: { val_bpb },
      ...some,
    })
    const history = tracked([
      seeded(1, 1, { text: 'greedy' }),
      seeded(2, 1.02, { text: 'greedy' }),
      seeded(1, 0.9, { parent: '0', text: 'sorted' }),
      seeded(2, 0.92, { parent: '0', text: 'sorted' }),
      seeded(1, 0.8, { parent: '2', text: 'cached' }),
    ])
    await storeHistory(ledger, family, history)
    const records = await ledger.recordsOf({})
    expect(records.map(({ intervention, measured }) => [intervention.sentence, measured!.gain.toFixed(3)])).toEqual([
      ['sorted', '0.100'],
      ['cached', '0.110'],
    ])
    expect(records[1]!.measured!.probabilityBetter).not.toBeNull()
    expect(await storeHistory(ledger, family, history)).toMatchObject({ known: 5 })
  })

  test('a program of which the configuration alone is known is told apart from its parent by its row', async () => {
    const history = tracked([
      { metrics: { val_bpb: 1 }, configuration: { model: 'm' }, text: 'greedy' },
      { metrics: { val_bpb: 0.9 }, configuration: { model: 'm' }, parent: '0', text: 'sorted' },
      { metrics: { val_bpb: 0.7 }, configuration: { model: 'm' }, parent: '1', text: 'cached' },
    ])
    await storeHistory(ledger, family, history)
    expect(await gains()).toEqual([
      ['sorted', 0.1],
      ['cached', 0.2],
    ])
  })

  test('a row that breaks a rule keeps its number and has no gain', async () => {
    const history = readResultsTsv(first.slice(0, 4).join('\n'), 'results.tsv')
    await storeHistory(ledger, family, withConstraints(history, [{ metric: 'val_bpb', atLeast: 0.985 }]))
    const records = await ledger.recordsOf({})
    expect(
      records.map(({ outcome, measured, runs }) => [outcome, measured, runs[0]!.outcome?.metrics['val_bpb']]),
    ).toEqual([
      ['violated', null, 0.98],
      ['finished', null, 0.99],
    ])
  })

  test('more rows than are written at once: all of them, in order, and again none', async () => {
    const many = Array.from({ length: 2500 }, (_, i) => {
      const status = i % 400 === 0 ? 'keep' : 'discard'
      return `${(i + 0x1000000).toString(16)}\t${(2 - i / 1e5).toFixed(6)}\t4\t${status}\tvariant ${i} of depth ${i % 7}`
    })
    const told: number[] = []
    const history = readResultsTsv([first[0]!, first[1]!, ...many].join('\n'), 'results.tsv')
    await storeHistory(ledger, family, history, { progress: rows => told.push(rows) })
    expect(told).toEqual([1000, 2000, 2501])
    const records = await ledger.recordsOf({})
    expect(records.map(({ intervention }) => intervention.sentence)).toEqual(
      many.map((_, i) => `variant ${i} of depth ${i % 7}`),
    )
    expect(await storeHistory(ledger, family, history)).toMatchObject({ known: 2501 })
  })
})
