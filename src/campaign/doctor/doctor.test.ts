import { expect, test } from 'vitest'
import type { ExperimentRecord } from '../../experiment/record.ts'
import { candidateOf, environmentOf, recordWith } from '../../forecast/planted/records.ts'
import { normalQuantiles } from '../../forecast/quantiles.ts'
import { gateSavings, thresholds } from './gate-savings.ts'
import { keptGains } from './kept-gains.ts'
import { repeatedIdeas } from './repeated-ideas.ts'

const environment = environmentOf('small', { rate: 1, depth: 4 })
const later = environmentOf('small', { rate: 1, depth: 6 })

function tried(
  id: number,
  overrides: Record<string, number>,
  gain: number | null,
  where = environment,
): ExperimentRecord {
  const verdict = gain === null ? ('failed' as const) : gain > 0 ? ('better' as const) : ('worse' as const)
  return { ...recordWith(id, where, candidateOf(where, `Set ${Object.keys(overrides)}.`, overrides), gain), verdict }
}

test('ideas in several forms are found, and what was tried again after it failed', () => {
  const records = [
    tried(1, { rate: 2 }, -0.1),
    tried(2, { depth: 5 }, 0.2),
    tried(3, { rate: 3 }, -0.3),
    tried(4, { rate: 0.5 }, 0.1),
    tried(5, { rate: 4 }, 0.05, later),
  ]
  const { groups, again } = repeatedIdeas(records)
  expect(groups.map(group => group.map(({ id }) => id))).toEqual([[1, 3, 4, 5]])
  // A smaller rate says nothing about a larger one; the last is against another reference, which is for the reader to see.
  expect(again.map(({ record, after }) => [record.id, after.record.id])).toEqual([
    [3, 1],
    [5, 3],
  ])
  expect(repeatedIdeas(records.slice(1, 3))).toEqual({ groups: [], again: [] })
})

test('what is alike only through another in between is no idea of three forms; words that differ in one are two ideas', () => {
  const added = (id: number, from: number, to: number): ExperimentRecord => {
    const lines = Array.from({ length: to - from }, (_, line) => `+call_${from + line}();`)
    const diff = ['--- /dev/null', '+++ b/x.py', `@@ -0,0 +1,${lines.length} @@`, ...lines, ''].join('\n')
    const record = tried(id, {}, 0.1)
    return { ...record, intervention: { ...record.intervention, diff, overrides: null } }
  }
  // Neighbours have eight lines of ten in common, the first and the last six.
  expect(repeatedIdeas([added(1, 0, 10), added(2, 2, 12), added(3, 4, 14)]).groups.map(group => group.length)).toEqual([
    2,
  ])
  const said = (id: number, sentence: string): ExperimentRecord => {
    const record = tried(id, {}, 0.1)
    return { ...record, intervention: { ...record.intervention, sentence, overrides: null }, changes: [] }
  }
  const { groups } = repeatedIdeas([
    said(1, 'embedding LR 0.6 to 0.8'),
    said(2, 'matrix LR 0.04 to 0.045'),
    said(3, 'unembedding LR 0.004 to 0.008'),
    said(4, 'raise the embedding LR from 0.8 to 1.0'),
  ])
  expect(groups.map(group => group.map(({ id }) => id))).toEqual([[1, 4]])
})

test.each([
  // Several values of the same options, whichever of them moved.
  ['depth 8, dim 640', 'depth 11, dim 640', 1],
  ['heads of 64d', 'heads of 128d', 1],
  ['1d convolution in the stem', '2d convolution in the stem', 2],
])('%j and %j', (first, second, ideas) => {
  const said = (id: number, sentence: string): ExperimentRecord => {
    const record = tried(id, {}, 0.1)
    return { ...record, intervention: { ...record.intervention, sentence, overrides: null }, changes: [] }
  }
  const { groups } = repeatedIdeas([said(1, first), said(2, second)])
  expect(groups.map(group => group.length)).toEqual(ideas === 1 ? [2] : [])
})

test('what was kept is as sure as the noise lets it be', () => {
  const sure = {
    ...tried(2, { depth: 5 }, 0.2),
    measured: { gain: 0.2, standardError: 0.05, degreesOfFreedom: 9, probabilityBetter: 0.99 },
  }
  const records = [tried(1, { rate: 2 }, 0.1), sure, tried(3, { rate: 3 }, null)]
  const kept = new Set([1, 2, 3])
  expect(keptGains(records, kept, null).map(({ probabilityBetter }) => probabilityBetter)).toEqual([null, 0.99])
  // One standard error of a difference of two runs: the normal distribution at 1.
  expect(keptGains(records, kept, 0.1 / Math.SQRT2)[0]!.probabilityBetter).toBeCloseTo(0.8413, 4)
  expect(keptGains(records, new Set(), 1)).toEqual([])
})

test('a gate saves what it thinks little of, and loses what that would have gained', () => {
  const judged = [
    { record: tried(1, { rate: 2 }, 0.1), centre: -3 },
    { record: tried(2, { rate: 3 }, -0.4), centre: -3 },
    { record: tried(3, { depth: 5 }, 0.3), centre: 3 },
    { record: tried(4, { depth: 8 }, null), centre: 0 },
  ].map(({ record, centre }) => ({
    record,
    forecast: {
      quantiles: normalQuantiles(centre, 1),
      finishes: 1,
      forecaster: 'by hand',
      forecasterVersion: '1',
      recordIds: [],
    },
  }))
  const all = gateSavings(judged, new Set())
  expect([all.asked, all.gains, all.kept]).toEqual([4, 2, 0])
  expect(all.savings.map(({ saved }) => saved)).toEqual([2, 2, 2, 2, 2, 2])
  expect(all.savings[0]!.gainsLost).toBe(1)
  expect(all.savings[0]!.gainShareLost).toBeCloseTo(0.25, 12)
  // Of what was kept, nothing.
  const kept = gateSavings(judged, new Set([3]))
  expect(kept.savings.map(({ keptLost, gainShareLost }) => [keptLost, gainShareLost])).toEqual(
    thresholds.map(() => [0, 0]),
  )
})
