/**
 * What is refused of an engine that can do less, before anything is asked of it.
 */
import { expect, it } from 'vitest'
import { type Asked, requireCapability } from './capabilities.ts'
import type { CrossEntropyDatum } from './datum.ts'
import { embeddedCapabilities } from './embedded/embedded-capabilities.ts'
import type { Capabilities } from './engine.ts'
import type { SampleRequest, ScoreRequest } from './sampling.ts'

/** A cluster that samples and trains with little else. */
const few: Capabilities = {
  losses: ['cross_entropy', 'ppo'],
  raggedTargets: false,
  signedWeights: false,
  reduction: 'sum',
  distributions: false,
  readouts: false,
  optimisers: ['adamw'],
  maximumTopLogProbabilities: 20,
  prefixes: false,
  beamSearch: false,
  mismatch: false,
}
const tokens = Int32Array.of(1, 2)
const datum: CrossEntropyDatum = { input: { tokens }, targets: tokens, weights: Float32Array.of(1, 0) }
const request: SampleRequest = { prompt: { tokens }, maximumTokens: 3 }
const score: ScoreRequest = { input: { tokens }, targets: tokens }
const group = { match: () => true, learningRate: 1 } as const

it.each<readonly [string, Asked]>([
  [
    'this engine has no loss dro; it has cross_entropy, ppo, and forwardBackwardCustom',
    { loss: { kind: 'dro', beta: 1 } },
  ],
  [
    'no several targets a position; give one target for each',
    { data: [datum, { ...datum, targets: 'vocabulary', weights: new Float32Array(8) }] },
  ],
  ['no negative weights', { data: [{ ...datum, weights: Float32Array.of(1, -1) }] }],
  [
    'no distributions other than the model’s own; leave it out',
    { data: [{ ...datum, distribution: { temperature: 2 } }] },
  ],
  ['no read-outs; leave capture out', { capture: ['hidden.0'] }],
  ['no optimiser lion; it has adamw', { optimStep: { groups: [{ ...group, optimiser: { kind: 'lion' } }] } }],
  ['no samplers that differ from the trainer on purpose', { snapshot: { quantisation: { bits: 8 } } }],
  ['leave quantisation, logitOffset and values out', { snapshot: { values: new Map() } }],
  ['no 50 topLogProbabilities; the most is 20', { samples: [{ ...request, topLogProbabilities: 50 }] }],
  ['no prefixes; give whole prompts', { samples: [{ ...request, prompt: { length: 2, tokens } }] }],
  ['no prefixes; give whole prompts', { samples: [{ ...request, keepPrefix: true }] }],
  ['no prefixes; give whole inputs', { scores: [{ ...score, prefix: { length: 2, tokens } }] }],
  ['no several targets a position', { scores: [{ ...score, targets: { tokens, offsets: Int32Array.of(0, 1, 2) } }] }],
  ['no 50 topLogProbabilities', { scores: [{ ...score, topLogProbabilities: 50 }] }],
  ['no beam search; sample instead', { beamSearch: true }],
])('%s', (sentence, asked) => {
  expect(() => requireCapability(few, 'verb', asked)).toThrow(sentence)
  expect(() => requireCapability(embeddedCapabilities, 'verb', asked)).not.toThrow()
})

it('what it can do is not refused', () => {
  const optimStep = { groups: [{ ...group, optimiser: { kind: 'adamw' } as const }] }
  const asked = {
    loss: { kind: 'ppo' },
    data: [datum],
    optimStep,
    snapshot: {},
    samples: [request],
    scores: [score],
  } as const
  expect(() => requireCapability(few, 'verb', asked)).not.toThrow()
})
