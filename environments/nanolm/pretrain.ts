/**
 * One pre-training run from a configuration and a seed: build the decoder, take the steps of the token budget, measure
 * held-out bits per byte. Knows no files; says how it goes through a callback.
 */
import type { DecoderConfiguration } from '../../src/engine/models/decoder-configuration.ts'
import { estimatedFlopsPerToken, parameterCount } from '../../src/engine/models/decoder-parameters.ts'
import { createDecoderTrainer, type Trainer } from '../../src/engine/trainer.ts'
import { seededRandom } from '../../src/statistics/random.ts'
import { trainingBatches, validationBatch } from './batches.ts'
import { feedForwardWidth } from './configuration.ts'
import { divergence, uniformLoss } from './divergence.ts'
import type { CurvePoint, Metrics } from './metrics.ts'
import type { Configuration } from './options.ts'
import { parameterGroups } from './parameter-groups.ts'
import { learningRateFactor } from './schedule.ts'
import { loadText, type Source } from './text.ts'

export interface Progress {
  readonly step: number
  readonly steps: number
  /** Mean training loss of the step, in bits per byte. */
  readonly trainBitsPerByte: number
  readonly tokensPerSecond: number
}

/** Tokens that are computed at once. Larger batches are split: beyond this nothing gets faster and memory grows. */
const tokensAtOnce = 2048

const curvePoints = 40

export async function pretrain(
  configuration: Configuration,
  seed: number,
  threads: number,
  report: (progress: Progress) => void,
): Promise<Metrics> {
  const { contextLength, batchTokens, tokenBudget } = configuration
  const model = decoderConfiguration(configuration)
  const steps = Math.floor(tokenBudget / batchTokens)
  const sources = loadText()
  const random = seededRandom(seed)
  const trainer = await createDecoderTrainer({
    configuration: model,
    batch: Math.min(batchTokens, Math.max(tokensAtOnce, contextLength)) / contextLength,
    sequence: contextLength,
    threads,
    seed,
    zLoss: configuration.zLoss,
  })
  try {
    const batches = trainingBatches(sources, random.fork('batches'), batchTokens / contextLength, contextLength)
    const warmupSteps = Math.round(configuration.warmupFraction * steps)
    const losses: number[] = []
    let reason: string | null = null
    const start = performance.now()
    const elapsed = () => (performance.now() - start) / 1000
    while (losses.length < steps && reason === null) {
      const groups = parameterGroups(configuration, learningRateFactor(configuration, losses.length, steps))
      const { lossSum } = await trainer.forwardBackward(batches.next().value)
      await trainer.optimStep({ groups, clipNorm: configuration.clipNorm || null })
      losses.push(lossSum)
      reason = divergence(losses, warmupSteps)
      const tokensPerSecond = (losses.length * batchTokens) / elapsed()
      report({ step: losses.length, steps, trainBitsPerByte: lossSum / Math.LN2, tokensPerSecond })
    }
    const seconds = elapsed()
    const tokens = losses.length * batchTokens
    const validation = reason === null ? await validate(trainer, sources, contextLength) : []
    const mean = validation.reduce((sum, bitsPerByte) => sum + bitsPerByte, 0) / validation.length
    // The last step may be the one that breaks the model.
    if (reason === null && !(mean * Math.LN2 <= uniformLoss)) {
      reason = `held-out text costs ${mean.toFixed(2)} bits per byte, more than a uniform guess`
    }
    const bitsPerByte = (value: number | undefined) => (reason === null && value !== undefined ? value : 'NaN')
    return {
      val_bpb: bitsPerByte(mean),
      val_bpb_moby_dick: bitsPerByte(validation[0]),
      val_bpb_sotu: bitsPerByte(validation[1]),
      outcome: reason === null ? 'finished' : 'diverged',
      reason,
      parameters: parameterCount(model),
      estimated_flops: estimatedFlopsPerToken(model) * steps * batchTokens,
      tokens,
      steps: losses.length,
      seconds,
      tokens_per_second: tokens / seconds,
      seed,
      curve: curve(losses, batchTokens),
      configuration,
    }
  } finally {
    await trainer.dispose()
  }
}

/** The model that a configuration describes. */
export function decoderConfiguration(configuration: Configuration): DecoderConfiguration {
  const { contextLength, depth, width, heads, keyValueHeads, positions, norm, queryKeyNorm } = configuration
  const { activation, tiedEmbeddings, initialisationScale, residualScaling, logitSoftCap } = configuration
  return {
    ...{ vocabulary: 256, contextLength, depth, width, heads, keyValueHeads, positions, norm, queryKeyNorm },
    ...{ activation, tiedEmbeddings, initialisationScale, residualScaling },
    feedForwardWidth: feedForwardWidth(configuration),
    logitSoftCap: logitSoftCap || null,
  }
}

/** Bits per byte of each source's held-out excerpts. */
async function validate(trainer: Trainer, sources: readonly Source[], sequence: number): Promise<number[]> {
  const measured: number[] = []
  for (const source of sources) {
    const { tokenLogProbabilities } = await trainer.forward(validationBatch(source, sequence))
    // Summed here: the trainer's own sum may be in single precision.
    let nats = 0
    for (const logProbability of tokenLogProbabilities) nats -= logProbability
    measured.push(nats / (Math.LN2 * tokenLogProbabilities.length))
  }
  return measured
}

/** At most `curvePoints` points, evenly spaced. A loss that is not finite ends the curve. */
function curve(losses: readonly number[], batchTokens: number): CurvePoint[] {
  const points: CurvePoint[] = []
  let from = 0
  for (let point = 1; point <= curvePoints; point++) {
    const to = Math.round((point * losses.length) / curvePoints)
    if (to === from) continue
    const mean = losses.slice(from, to).reduce((sum, loss) => sum + loss, 0) / (to - from)
    if (!Number.isFinite(mean)) break
    points.push({ step: to, tokens: to * batchTokens, train_bpb: mean / Math.LN2 })
    from = to
  }
  return points
}
