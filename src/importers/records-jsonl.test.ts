import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mergePatch } from '../experiment/configuration.ts'
import type { Family } from '../experiment/environment.ts'
import { interventionHash, referenceHash } from '../experiment/identity.ts'
import { type Outcome, outcomeKinds } from '../experiment/intervention.ts'
import type { JsonObject } from '../experiment/json.ts'
import { type Ledger, openLedger } from '../ledger/ledger.ts'
import { readRecords } from './records-jsonl.ts'
import { storeRecords } from './store-records.ts'
import { writeRecords } from './write-records.ts'

let folder: string
let count = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almanac-records-'))
})
afterAll(() => rm(folder, { recursive: true }))
const newLedger = () => openLedger(join(folder, `ledger-${count++}.db`))

const family: Family = {
  name: 'tiny',
  description: 'a description with “quotes” and\na line',
  metrics: [
    { name: 'loss', direction: 'minimize', unit: 'nat', read: { file: 'metrics.json', path: 'a.b' } },
    { name: 'params', direction: 'minimize' },
  ],
  constraints: [{ metric: 'params', atMost: 1.25, relativeTo: 'reference' }],
  command: ['node', 'train.js', '--seed', '{seed}'],
  budget: { seconds: 60 },
  evaluator: { 'prepare.js': 'abc' },
  data: ['moby-dick'],
}
const outcome = fc.record({
  kind: fc.constantFrom(...outcomeKinds),
  reason: fc.option(fc.string()),
  metrics: fc.dictionary(
    fc.string().filter(name => name !== '__proto__'),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => value + 0),
  ),
  exitCode: fc.option(fc.integer()),
  startedAt: fc.option(
    fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map(date => date.toISOString()),
  ),
  finishedAt: fc.constant(null),
  seconds: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })),
  cost: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })),
})
const runs = fc.uniqueArray(fc.record({ seed: fc.integer({ min: -3, max: 9 }), attempt: fc.nat(2), outcome }), {
  selector: run => `${run.seed} ${run.attempt}`,
  maxLength: 4,
})
const tried = fc.record({
  sentence: fc.string(),
  overrides: fc.option(
    fc.dictionary(fc.string(), fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null)), {
      minKeys: 1,
      maxKeys: 3,
    }),
  ),
  diff: fc.option(fc.string({ minLength: 1 })),
  tags: fc.array(fc.string(), { maxLength: 2 }),
  origin: fc.option(fc.string()),
  promoted: fc.boolean(),
  runs,
})

type Tried = typeof tried extends fc.Arbitrary<infer T> ? T : never
/** A line as JSON, with any field to break. */
// biome-ignore lint/suspicious/noExplicitAny: what a damaged file holds has no type
type Damageable = any

/** A ledger filled through its own verbs: a version, what was tried on it, and what was promoted to the next version. */
async function fill(ledger: Ledger, things: readonly Tried[]): Promise<string> {
  const familyId = await ledger.ensureFamily(family)
  let version = await ledger.ensureVersion(familyId, {
    configuration: { depth: 2 },
    commit: null,
    tree: 'tree-0',
    code: null,
  })
  const put = async (interventionId: number, each: readonly { seed: number; attempt: number; outcome: Outcome }[]) => {
    await ledger.importRuns(each.map(run => ({ interventionId, ...run })))
  }
  await put(await ledger.ensureReference(version.id), things[0]?.runs ?? [])
  await ledger.setCurrentVersion(familyId, version.id, 'configured')
  for (const [index, { runs, promoted, ...intervention }] of things.entries()) {
    const { overrides, diff, sentence, origin } = intervention
    const { reference } = version
    const tree = diff === null ? reference.tree : `tree of ${diff}`
    const configuration =
      overrides === null ? reference.configuration : mergePatch(reference.configuration, overrides as JsonObject)
    const hash =
      overrides === null && diff === null
        ? interventionHash({ sentence, origin })
        : interventionHash({ configuration, tree })
    if (hash === referenceHash(reference)) continue
    const { id } = await ledger.ensureIntervention(version.id, hash, intervention as never)
    await put(id, runs)
    if (!promoted) continue
    const parent = { versionId: version.id, interventionId: id }
    version = await ledger.ensureVersion(familyId, { ...reference, configuration, tree: `tree-${index}` }, parent)
    await ledger.setCurrentVersion(familyId, version.id, 'promoted')
  }
  return familyId
}

describe('records as text', () => {
  test('through a ledger and back nothing is lost, and the order stays', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(tried, { maxLength: 5 }), async things => {
        await using from = await newLedger()
        await using to = await newLedger()
        const familyId = await fill(from, things)
        const text = await writeRecords(from, familyId)
        const stored = await storeRecords(to, readRecords(text, 'records.jsonl'))
        expect(stored.familyId).toBe(familyId)
        expect(await writeRecords(to, familyId, { versionIds: stored.versionIds })).toBe(text)
        const seen = async (ledger: Ledger) =>
          (await ledger.recordsOf({ familyIds: [familyId], withoutRuns: true })).map(record => ({
            ...record,
            id: 0,
            environment: { ...record.environment, version: { ...record.environment.version, parent: null } },
            runs: record.runs.map(({ seed, attempt, outcome }) => ({ seed, attempt, outcome })),
          }))
        expect(await seen(to)).toEqual(await seen(from))
      }),
      { numRuns: 20 },
    )
  })

  test('storing twice changes nothing; a file that has grown adds what is new', async () => {
    await using from = await newLedger()
    await using to = await newLedger()
    const things = fc.sample(fc.array(tried, { minLength: 4, maxLength: 4 }), { numRuns: 1, seed: 5 })[0]!
    const familyId = await fill(from, things.slice(0, 2))
    const file = readRecords(await writeRecords(from, familyId), 'records.jsonl')
    const once = await storeRecords(to, file)
    const twice = await storeRecords(to, file)
    expect(twice.interventions).toEqual({ added: 0, known: file.lines.length })
    expect(twice.runs).toEqual({ added: 0, known: once.runs.added })
    await fill(from, things)
    const grown = readRecords(await writeRecords(from, familyId), 'records.jsonl')
    const more = await storeRecords(to, grown)
    expect(more.interventions.added).toBe(grown.lines.length - file.lines.length)
    expect(more.interventions.added).toBeGreaterThan(0)
  })

  test('a run that has not ended is left out', async () => {
    await using ledger = await newLedger()
    const familyId = await fill(ledger, [])
    const reference = await ledger.ensureReference((await ledger.currentVersion(familyId))!.version.id)
    await ledger.claimRun({
      interventionId: reference,
      seed: 1,
      attempt: 0,
      folder: '/tmp/x',
      claimant: { pid: 1, started: 'now' },
    })
    expect(readRecords(await writeRecords(ledger, familyId), 'records.jsonl').lines[0]!.runs).toEqual([])
  })

  describe('a damaged file gets a sentence with its line and field', async () => {
    let lines: string[]
    beforeAll(async () => {
      await using ledger = await newLedger()
      const run = {
        seed: 1,
        attempt: 0,
        outcome: {
          kind: 'finished',
          reason: null,
          metrics: { loss: 2 },
          exitCode: 0,
          startedAt: null,
          finishedAt: null,
          seconds: 1,
          cost: null,
        },
      } as const
      const familyId = await fill(ledger, [
        {
          sentence: 'deeper',
          overrides: { depth: 3 },
          diff: null,
          tags: ['architecture'],
          origin: null,
          promoted: false,
          runs: [run],
        },
      ])
      lines = (await writeRecords(ledger, familyId)).trim().split('\n')
    })
    const damaged = (line: number, change: (value: Damageable) => void): string => {
      const value = JSON.parse(lines[line - 1]!)
      change(value)
      return lines.with(line - 1, JSON.stringify(value)).join('\n')
    }
    test.each<[string, number, (value: Damageable) => void]>([
      [
        'line 1: "format" is "other"; expected "almanac-records"',
        1,
        value => {
          value.format = 'other'
        },
      ],
      [
        'line 1: "version" is 2; this program reads version 1',
        1,
        value => {
          value.version = 2
        },
      ],
      [
        'line 1: "family.metrics[0].direction" is "up"',
        1,
        value => {
          value.family.metrics[0].direction = 'up'
        },
      ],
      [
        'line 1: versions[0].id is',
        1,
        value => {
          value.versions[0].reference.configuration.depth = 9
        },
      ],
      [
        'line 3: "runs[0].outcome.kind" is "won"',
        3,
        value => {
          value.runs[0].outcome.kind = 'won'
        },
      ],
      [
        'line 3: "sentence" is missing',
        3,
        value => {
          delete value.sentence
        },
      ],
      [
        'line 3: the line has the unknown field gain',
        3,
        value => {
          value.gain = 1
        },
      ],
      [
        'line 3: "hash" is',
        3,
        value => {
          value.overrides.depth = 4
        },
      ],
      [
        'line 3: version ',
        3,
        value => {
          value.version = 'a'.repeat(64)
        },
      ],
      [
        'line 3: "runs" has seed 1, attempt 0 twice',
        3,
        value => {
          value.runs.push(value.runs[0])
        },
      ],
    ])('%s', (sentence, line, change) => {
      expect(() => readRecords(damaged(line, change), 'records.jsonl')).toThrow(`records.jsonl, ${sentence}`)
    })
    test('a line cut short', () => {
      expect(() => readRecords(lines.join('\n').slice(0, -10), 'records.jsonl')).toThrow(
        'records.jsonl, line 3 is not JSON',
      )
    })
  })
})
