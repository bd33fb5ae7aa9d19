/**
 * Refuses what an engine cannot do, before anything is computed: one function for all engines.
 */
import type { Datum } from './datum.ts'
import type { Capabilities } from './engine.ts'
import type { Loss } from './losses/loss.ts'
import type { OptimStepOptions } from './optimisers/optimiser.ts'
import type { SampleRequest, ScoreRequest, SnapshotOptions } from './sampling.ts'

/** What is asked of an engine, by what it needs. */
export interface Asked {
  readonly loss?: Loss
  readonly data?: readonly Datum[]
  readonly capture?: readonly string[]
  readonly optimStep?: OptimStepOptions
  readonly snapshot?: SnapshotOptions
  readonly samples?: readonly SampleRequest[]
  readonly scores?: readonly ScoreRequest[]
  readonly beamSearch?: boolean
}

/** Throws a sentence for the first thing that is asked and cannot be done. */
export function requireCapability(capabilities: Capabilities, verb: string, asked: Asked): void {
  const expect = (holds: boolean, what: string, instead: string) => {
    if (!holds) throw new Error(`${verb}: this engine has no ${what}; ${instead}`)
  }
  const { loss, data = [], capture = [], optimStep, snapshot = {} } = asked
  const { samples = [], scores = [], beamSearch = false } = asked
  if (loss)
    expect(
      capabilities.losses.includes(loss.kind),
      `loss ${loss.kind}`,
      `it has ${capabilities.losses.join(', ')}, and forwardBackwardCustom makes others of cross_entropy`,
    )
  for (const datum of data)
    if ('weights' in datum)
      expect(
        capabilities.signedWeights || datum.weights.every(weight => weight >= 0),
        'negative weights',
        'custom losses and negative examples need them',
      )
  for (const { targets, distribution } of [...data, ...scores]) {
    expect(
      capabilities.raggedTargets || targets instanceof Int32Array,
      'several targets a position',
      'give one target for each',
    )
    expect(capabilities.distributions || !distribution, 'distributions other than the model’s own', 'leave it out')
  }
  expect(capabilities.readouts || capture.length === 0, 'read-outs', 'leave capture out')
  for (const { optimiser } of optimStep?.groups ?? [])
    expect(
      capabilities.optimisers.includes(optimiser.kind),
      `optimiser ${optimiser.kind}`,
      `it has ${capabilities.optimisers.join(', ')}`,
    )
  expect(
    capabilities.mismatch || (!snapshot.quantisation && !snapshot.logitOffset && !snapshot.values),
    'samplers that differ from the trainer on purpose',
    'leave quantisation, logitOffset and values out',
  )
  for (const { prompt, keepPrefix = false } of samples)
    expect(capabilities.prefixes || !('length' in prompt || keepPrefix), 'prefixes', 'give whole prompts')
  for (const { prefix } of scores) expect(capabilities.prefixes || !prefix, 'prefixes', 'give whole inputs')
  const most = capabilities.maximumTopLogProbabilities
  for (const { topLogProbabilities = 0 } of [...samples, ...scores])
    expect(topLogProbabilities <= most, `${topLogProbabilities} topLogProbabilities`, `the most is ${most}`)
  expect(capabilities.beamSearch || !beamSearch, 'beam search', 'sample instead')
}
