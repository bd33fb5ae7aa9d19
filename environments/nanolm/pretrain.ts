/**
 * One pre-training run from a configuration and a seed: build the decoder, take the steps of the token budget, measure
 * held-out bits per byte. Knows no files; says how it goes through a callback.
 */
import { estimatedFlopsPerToken, parameterCount } from '../../src/engine/models/decoder-parameters.ts'
import { createDecoderTrainer, type Trainer } from '../../src/engine/trainer.ts'
import { seededRandom } from '../../src/statistics/random.ts'
import { trainingBatches } from './batches.ts'
import { divergence, uniformLoss } from './divergence.ts'
import { type Metrics, trainingCurve } from './metrics.ts'
import { decoderConfiguration } from './model.ts'
import type { Configuration } from './options.ts'
import { parameterGroups } from './parameter-groups.ts'
import { learningRateFactor, warmupSteps } from './schedule.ts'
import { loadText } from './text.ts'
import { validate } from './validation.ts'

export interface Progress {
  readonly step: number
  readonly steps: number
  /** Mean training loss of the step, in bits per byte. */
  readonly trainBitsPerByte: number
  readonly tokensPerSecond: number
}

export interface PretrainOptions {
  /** Of the initial parameters and of the order of the text. */
  readonly seed: number
  /** Default 1; the numbers do not depend on it. */
  readonly threads?: number
  readonly report?: (progress: Progress) => void
}

/** Tokens that are computed at once. Larger batches are split: beyond this nothing gets faster and memory grows. */
const tokensAtOnce = 2048

export async function pretrain(configuration: Configuration, options: PretrainOptions): Promise<Metrics> {
  const { contextLength, batchTokens, tokenBudget, zLoss } = configuration
  const model = decoderConfiguration(configuration)
  const trainer = await createDecoderTrainer({
    configuration: model,
    batch: Math.min(batchTokens, tokensAtOnce) / contextLength,
    sequence: contextLength,
    threads: options.threads ?? 1,
    seed: options.seed,
    zLoss,
  })
  try {
    const steps = Math.floor(tokenBudget / batchTokens)
    const { losses, seconds, reason } = await takeSteps(trainer, configuration, steps, options)
    const validation = reason === null ? await validate(trainer, loadText()) : null
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
      estimated_flops: estimatedFlopsPerToken(model) * steps * batchTokens,
      tokens,
      steps: losses.length,
      seconds,
      tokens_per_second: tokens / seconds,
      seed: options.seed,
      curve: trainingCurve(losses, batchTokens),
      configuration,
    }
  } finally {
    await trainer.dispose()
  }
}

interface Course {
  /** Mean loss of each step that was taken, in nats. */
  readonly losses: readonly number[]
  readonly seconds: number
  /** Why it was given up, or null. */
  readonly reason: string | null
}

async function takeSteps(
  trainer: Trainer,
  configuration: Configuration,
  steps: number,
  { seed, report }: PretrainOptions,
): Promise<Course> {
  const { batchTokens, contextLength, clipNorm } = configuration
  const random = seededRandom(seed).fork('batches')
  const batches = trainingBatches(loadText(), random, batchTokens / contextLength, contextLength)
  const losses: number[] = []
  let reason: string | null = null
  const start = performance.now()
  const elapsed = () => (performance.now() - start) / 1000
  while (losses.length < steps && reason === null) {
    const { lossSum } = await trainer.forwardBackward(batches.next().value)
    const groups = parameterGroups(configuration, learningRateFactor(configuration, losses.length, steps))
    await trainer.optimStep({ groups, clipNorm: clipNorm || null })
    losses.push(lossSum)
    reason = divergence(losses, warmupSteps(configuration, steps))
    const tokensPerSecond = (losses.length * batchTokens) / elapsed()
    report?.({ step: losses.length, steps, trainBitsPerByte: lossSum / Math.LN2, tokensPerSecond })
  }
  return { losses, seconds: elapsed(), reason }
}

/** The training losses may have been sound and the last step still have broken the model. */
function validationProblem(bitsPerByte: number): string | null {
  if (bitsPerByte * Math.LN2 <= uniformLoss) return null
  if (!Number.isFinite(bitsPerByte)) return 'the loss of the held-out text is not a finite number'
  return `held-out text costs ${bitsPerByte.toFixed(2)} bits per byte, more than a uniform guess`
}
