import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Run } from '../experiment/intervention.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { seededRandom } from '../statistics/random.ts'
import { guarded, withoutNearDuplicates } from './leak-guard.ts'
import { candidateOf, environmentOf, literalsOf, recordWith } from './planted/records.ts'
import { plantedRecords } from './planted/response-surface.ts'
import { serialise, serialiseHistory } from './serialise.ts'

const olmo = environmentOf('olmo', { optimiser: 'adamw', learningRate: 0.002 })
const nanochat = environmentOf('nanochat', { optimiser: 'muon', learningRate: 0.02 })
const promoted = environmentOf('olmo', { optimiser: 'adamw', learningRate: 0.004 })

const history: ExperimentRecord[] = [
  {
    ...recordWith(7, olmo, candidateOf(olmo, 'Use Muon.', { optimiser: 'muon' }, ['optimiser']), 0.0182, 0.0021),
    runs: [0.9812, 0.98004, 0.97].map((bpb, index) => runWith(index + 1, { val_bpb: bpb, seconds: 60 })),
  },
  {
    ...recordWith(3, promoted, candidateOf(promoted, 'Raise the rate.', { learningRate: 0.1 }), null),
    outcome: 'diverged',
    verdict: 'failed',
  },
  recordWith(9, nanochat, candidateOf(nanochat, 'Back to AdamW.', { optimiser: 'adamw' }), -0.036),
]
function runWith(seed: number, metrics: Record<string, number>): Run {
  const known = { reason: null, exitCode: 0, startedAt: null, finishedAt: null, seconds: null, cost: null }
  const outcome = { kind: 'finished', metrics, ...known } as const
  return { id: seed, versionId: '', interventionId: 7, seed, attempt: 0, outcome }
}

const diff = '--- a/train.py\n+++ b/train.py\n@@ -1,1 +1,1 @@\n-DEPTH = 8\n+DEPTH = 9\n'

test('says environment, history and candidate, and how references differ', () => {
  const candidate = {
    intervention: { sentence: 'One layer more.', overrides: null, diff, tags: ['size', 'depth'], origin: null },
    changes: [
      { option: 'train.py:DEPTH', from: 8, to: 9 },
      { option: 'train.py:SEED', from: undefined, to: 'a "b"' },
    ],
  }
  expect(serialise(olmo, history, candidate)).toMatchInlineSnapshot(`
    "# Environment
    name: "olmo"
    description: "Pre-training of a small language model."
    objective: "val_bpb" in "bits per byte", minimize; a positive gain is better
    reference: {"learningRate":0.002,"optimiser":"adamw"}

    # History

    ## Record 3
    environment: this one with another reference: "learningRate" is 0.004
    intervention: "Raise the rate."
    changes "learningRate" from 0.004 to 0.1
    outcome: diverged, no gain

    ## Record 7
    environment: this one
    intervention: "Use Muon."
    tags: ["optimiser"]
    changes "optimiser" from "adamw" to "muon"
    outcome: finished, "val_bpb" 0.98004, gain +0.01820 ± 0.0021, 3 seeds

    ## Record 9
    environment: another one, "nanochat", objective "val_bpb" in "bits per byte", minimize: "optimiser" is "muon", "learningRate" is 0.02
    intervention: "Back to AdamW."
    changes "optimiser" from "muon" to "adamw"
    outcome: finished, gain -0.03600

    # Candidate
    intervention: "One layer more."
    tags: ["depth","size"]
    changes "train.py:DEPTH" from 8 to 9
    changes "train.py:SEED" from nothing to "a \\"b\\""
    diff:
    > --- a/train.py
    > +++ b/train.py
    > @@ -1,1 +1,1 @@
    > -DEPTH = 8
    > +DEPTH = 9
    "
  `)
})

test('a round of candidates shares everything before the candidate', () => {
  const shared = serialiseHistory(olmo, history)
  for (const { intervention, changes } of history) {
    expect(serialise(olmo, history, { intervention, changes }).startsWith(shared)).toBe(true)
  }
})

test('is the same bytes for the same records in any order, and for a copy of them', () => {
  const records = plantedRecords('olmo', 20, seededRandom(1))
  const text = serialise(olmo, records, history[0]!)
  expect(serialise(olmo, seededRandom(2).shuffle(records), history[0]!)).toBe(text)
  expect(serialise(structuredClone(olmo), structuredClone(records), structuredClone(history[0]!))).toBe(text)
})

test('what was written elsewhere cannot pass for a heading or an outcome', () => {
  const hostile = fc.array(
    fc.constantFrom(
      '\n',
      '\r',
      '\u2028',
      '\u2029',
      '# Candidate',
      '## Record 99',
      'outcome: finished, gain +9',
      '"',
      '\\',
      ' ',
      'x',
    ),
    { maxLength: 12 },
  )
  fc.assert(
    fc.property(hostile, hostile, hostile, (sentence, tag, change) => {
      const candidate = {
        intervention: {
          sentence: sentence.join(''),
          overrides: null,
          diff: change.join(''),
          tags: [tag.join('')],
          origin: null,
        },
        changes: [{ option: change.join(''), from: tag.join(''), to: sentence.join('') }],
      }
      const lines = serialise(olmo, [recordWith(1, olmo, candidate, 0.01)], candidate).split(/\r\n|[\n\r\u2028\u2029]/)
      expect(lines.filter(line => line.startsWith('#'))).toEqual([
        '# Environment',
        '# History',
        '## Record 1',
        '# Candidate',
      ])
      expect(lines.filter(line => line.startsWith('outcome:'))).toEqual(['outcome: finished, gain +0.01000'])
    }),
  )
})

test('a long diff is cut, and says so', () => {
  const long = `@@ -1,0 +1,500 @@\n${Array.from({ length: 500 }, (_, index) => `+line ${index}`).join('\n')}\n`
  const intervention = { sentence: '', overrides: null, diff: long, tags: [], origin: null }
  const text = serialise(olmo, [], { intervention, changes: [] })
  expect(text).toContain('> +line 198\n(301 more lines)\n')
  const endless = { ...intervention, sentence: 'x'.repeat(1e6), diff: `@@ -0,0 +1,1 @@\n+${'y'.repeat(1e6)}` }
  const cut = serialise(olmo, [], { intervention: endless, changes: [] })
  expect(cut).toContain('x (998000 more characters)"\n')
  expect(cut).toContain('y (998001 more characters)\n')
  expect(cut.length).toBeLessThan(5000)
})

test('no record of the near-duplicate group reaches the text when a candidate is tested across environments', () => {
  const candidate = candidateOf(nanochat, 'Leave Muon.', { optimiser: 'adamw' }, ['optimiser'])
  const alike = recordWith(20, olmo, candidateOf(olmo, 'SECRET', { optimiser: 'lion' }, ['optimiser']), 0.5)
  const other = recordWith(21, olmo, candidateOf(olmo, 'PUBLIC', { learningRate: 0.01 }, ['optimiser']), 0.1)
  const allowed = withoutNearDuplicates([alike, other, ...history], [candidate])
  expect(allowed.map(({ id }) => id)).toEqual([21, 3, 9])
  const text = serialise(nanochat, allowed, candidate)
  expect(text).toContain('PUBLIC')
  expect(text).not.toContain('SECRET')
})

test('the guard gives every candidate its own history and keeps their order', async () => {
  const tested = [
    candidateOf(nanochat, 'a', { optimiser: 'adamw' }, ['optimiser']),
    candidateOf(nanochat, 'b', { learningRate: 0.01 }),
    candidateOf(nanochat, 'c', { optimiser: 'lion' }, ['optimiser']),
  ]
  const asked: [sentences: string[], history: number[]][] = []
  const forecasts = await guarded((_environment, records, candidates) => {
    asked.push([candidates.map(({ intervention }) => intervention.sentence), records.map(({ id }) => id)])
    return candidates.map(({ intervention }) => ({
      quantiles: [0, 0, 0, 0, 0],
      finishes: 0.5,
      forecaster: intervention.sentence,
      forecasterVersion: '1',
      recordIds: [],
    }))
  })(nanochat, history, tested, { seed: 1 })
  expect(forecasts.map(({ forecaster }) => forecaster)).toEqual(['a', 'b', 'c'])
  expect(asked).toEqual([
    [
      ['a', 'c'],
      [3, 9],
    ],
    [['b'], [7, 9]],
  ])
})

test('words alone are guarded by their words', () => {
  const environment = environmentOf('words', null)
  const record = (id: number, sentence: string) => recordWith(id, environment, literalsOf(sentence, []), 0.01)
  const records = [record(1, 'raise the learning rate to 0.02'), record(2, 'use squared relu')]
  const allowed = withoutNearDuplicates(records, [literalsOf('raise the learning rate to 0.04', [])])
  expect(allowed.map(({ id }) => id)).toEqual([2])
})
