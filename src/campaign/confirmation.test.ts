/** Running again what would be called better: fewer false claims, by simulation, at what cost. */
import { describe, expect, test } from 'vitest'
import type { Environment } from '../experiment/environment.ts'
import type { Run } from '../experiment/intervention.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { buildRecords } from '../experiment/records.ts'
import { type Random, seededRandom } from '../statistics/random.ts'
import { awaitingConfirmation } from './confirmation.ts'

const family = {
  name: 'test',
  description: '',
  metrics: [{ name: 'loss', direction: 'minimize' }] as const,
  constraints: [],
  command: 'x',
  budget: {},
  evaluator: {},
  data: [],
}
const reference = { configuration: null, commit: null, tree: null, code: 'x' }
const environment: Environment = { family, familyId: 'f', version: { id: 'v', familyId: 'f', reference, parent: null } }
const none = { reason: null, exitCode: null, startedAt: null, finishedAt: null, seconds: null, cost: null }

/** Records of interventions from the losses of their runs; the first list is the reference's. */
function recordsOf([first, ...others]: readonly (readonly number[])[]): ExperimentRecord[] {
  const row = (id: number, kind: 'reference' | 'candidate', losses: readonly number[]) => ({
    id,
    versionId: 'v',
    kind,
    intervention: { sentence: '', overrides: null, diff: null, tags: [], origin: null },
    runs: losses.map(
      (loss, index): Run => ({
        id: 100 * id + index,
        versionId: 'v',
        interventionId: id,
        seed: index + 1,
        attempt: 0,
        outcome: { kind: 'finished', metrics: { loss }, ...none },
      }),
    ),
  })
  return buildRecords(new Map([['v', environment]]), [
    row(0, 'reference', first!),
    ...others.map((losses, index) => row(index + 1, 'candidate', losses)),
  ])
}

const seeds = { seeds: 2, more: 2 }
const spread = (centre: number, size = 0.01) => [centre - size, centre + size]
const base = [0.99, 1, 1.01]

/** Who is due, of records from their losses as in `recordsOf`. */
function dueOf(losses: readonly (readonly number[])[], rule = seeds): number[] {
  const records = recordsOf(losses)
  const among = new Set(records.map(({ id }) => id))
  return [...awaitingConfirmation(records, { ...rule, among, reference: losses[0]! })]
}

describe('which records are due', () => {
  const due = (...candidates: readonly (readonly number[])[]) => dueOf([base, ...candidates])

  test('what luck could explain; not what is beyond doubt, what is not better, or what has had its runs', () => {
    expect(due(spread(0.975), spread(1), spread(1.1), spread(0.99))).toEqual([1])
    expect(due(spread(0.5), spread(1), spread(1.1))).toEqual([])
    expect(due([...spread(0.975), ...spread(0.975)], spread(1), spread(1.1))).toEqual([])
    expect(dueOf([base, spread(0.975)], { ...seeds, more: 0 })).toEqual([])
  })

  test('what has had a part of its fresh seeds gets the others, whatever they showed', () => {
    expect(due([...spread(0.975), 1.1], spread(1), spread(1.1))).toEqual([1])
  })

  test('those among which luck could have decided, the best itself included; one clearly behind is left', () => {
    expect(due(spread(0.5), spread(0.501), spread(0.8), spread(1), spread(1))).toEqual([1, 2])
    expect(due(spread(0.5), spread(0.6), spread(0.8), spread(1), spread(1))).toEqual([])
  })

  test('one that is far noisier than the others is ahead with its own noise, not with theirs', () => {
    // Of the two seeds of the first: variance 0.02, of their median 0.01. Beside it the others' 0.0001 / 2 is nothing: a lead of
    // 0.6 is 6 standard errors, P = 0.947 with one degree of freedom. The second's own gain is beyond doubt.
    const noisy = spread(0.25, 0.1)
    const reference = [...base, ...base, ...base, ...base]
    const others = [spread(1), spread(0.99), spread(1.01)]
    expect(dueOf([reference, noisy, spread(0.85), ...others])).toEqual([1, 2])
    // By 0.65 it would be 6.5 standard errors, P = 0.951: sure enough.
    expect(dueOf([reference, noisy, spread(0.9), ...others])).toEqual([1])
  })

  test('of the records of others only the noise counts', () => {
    const records = recordsOf([base, spread(0.975), spread(0.974), spread(1), spread(1.1)])
    expect([...awaitingConfirmation(records, { ...seeds, among: new Set([2]), reference: base })]).toEqual([2])
  })
})

test('run again, false claims are halved and true ones stay, for a twentieth more runs', () => {
  const gains = [0, 0, 0, 0, 0, 0, -0.01, 0.05]
  const claims = { falseBefore: 0, falseAfter: 0, trueBefore: 0, trueAfter: 0 }
  let [first, again] = [0, 0]
  for (let campaign = 0; campaign < 1000; campaign++) {
    const random = seededRandom(`campaign ${campaign}`)
    const losses = [measuredLosses(0, 3, random), ...gains.map(gain => measuredLosses(gain, 2, random))]
    const before = recordsOf(losses)
    const due = new Set(dueOf(losses))
    const more = losses.map((own, id) => (due.has(id) ? [...own, ...measuredLosses(gains[id - 1]!, 2, random)] : own))
    const after = recordsOf(more)
    for (const [index, gain] of gains.entries()) {
      const truth = gain > 0 ? 'true' : 'false'
      if (before[index]!.verdict === 'better') claims[`${truth}Before`]++
      if (after[index]!.verdict === 'better') claims[`${truth}After`]++
    }
    // Once is enough, whatever the others now look like.
    expect(dueOf(more).filter(id => due.has(id))).toEqual([])
    first += losses.flat().length
    again += 2 * due.size
  }
  expect(claims.falseBefore).toBeGreaterThan(200)
  expect(claims.falseAfter / claims.falseBefore).toBeLessThan(0.55)
  expect(claims.trueAfter / claims.trueBefore).toBeGreaterThan(0.99)
  expect(again / first).toBeLessThan(0.06)
})

function measuredLosses(gain: number, count: number, random: Random): number[] {
  return Array.from({ length: count }, () => 1 - gain + 0.01 * random.normal())
}
