/**
 * One pre-training run from a configuration and a seed: build the model, train it, measure held-out bits per byte. Knows no
 * files; says how it goes through a callback.
 */
import { createEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import { decoder } from '../../src/engine/models/decoder.ts'
import { estimatedFlopsPerToken, parameterCount } from '../../src/engine/models/decoder-parameters.ts'
import { rowLengths } from './curriculum.ts'
import { uniformLoss } from './divergence.ts'
import { type Metrics, trainingCurve } from './metrics.ts'
import { decoderConfiguration } from './model.ts'
import { objectiveOf } from './objective.ts'
import type { Configuration } from './options.ts'
import { loadText } from './text.ts'
import { type TrainingOptions, train } from './training-run.ts'
import { validate } from './validation.ts'

export interface PretrainOptions extends TrainingOptions {
  /** Default 1; the numbers do not depend on it. */
  readonly threads?: number
}

export async function pretrain(configuration: Configuration, options: PretrainOptions): Promise<Metrics> {
  const { batchTokens } = configuration
  const { seed, threads = 1 } = options
  const model = decoderConfiguration(configuration)
  const objective = objectiveOf(configuration)
  const engine = createEmbeddedEngine({ threads })
  try {
    const trainer = await engine.createTrainer({ model: decoder(model), seed })
    const { losses, seconds, reason } = await train(trainer, objective, configuration, options)
    const validation = reason === null ? await validate(trainer, objective, loadText()) : null
    const problem = reason ?? validationProblem(validation!.all)
    const sound = (bitsPerByte: number | undefined) =>
      problem === null && bitsPerByte !== undefined ? bitsPerByte : 'NaN'
    const tokens = losses.length * batchTokens
    return {
      val_bpb: sound(validation?.all),
      val_bpb_moby_dick: sound(validation?.mobyDick),
      val_bpb_sotu: sound(validation?.stateOfTheUnion),
      outcome: problem === null ? 'finished' : 'diverged',
      reason: problem,
      parameters: parameterCount(model),
      estimated_flops: estimatedFlops(configuration),
      tokens,
      steps: losses.length,
      seconds,
      tokens_per_second: tokens / seconds,
      seed,
      curve: trainingCurve(losses, batchTokens),
      configuration,
    }
  } finally {
    await engine.dispose()
  }
}

/** Of the whole budget; shorter rows cost less attention. */
function estimatedFlops(configuration: Configuration): number {
  const { batchTokens } = configuration
  const model = decoderConfiguration(configuration)
  const stepsOfLength = Map.groupBy(rowLengths(configuration), length => length)
  let flops = 0
  for (const [contextLength, { length: steps }] of stepsOfLength)
    flops += steps * batchTokens * estimatedFlopsPerToken({ ...model, contextLength })
  return flops
}

/** The training losses may have been sound and the last step still have broken the model. */
function validationProblem(bitsPerByte: number): string | null {
  if (bitsPerByte * Math.LN2 <= uniformLoss) return null
  if (!Number.isFinite(bitsPerByte)) return 'the loss of the held-out text is not a finite number'
  return `held-out text costs ${bitsPerByte.toFixed(2)} bits per byte, more than a uniform guess`
}
