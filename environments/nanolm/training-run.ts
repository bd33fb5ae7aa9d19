/**
 * The training of one run: the steps of the token budget, unless it is given up.
 */
import type { CrossEntropyDatum } from '../../src/engine/datum.ts'
import type { CrossEntropy } from '../../src/engine/losses/loss.ts'
import type { Trainer } from '../../src/engine/training.ts'
import { seededRandom } from '../../src/statistics/random.ts'
import { trainingWindows } from './batches.ts'
import { rowLengths } from './curriculum.ts'
import { divergence } from './divergence.ts'
import type { Objective } from './objective.ts'
import type { Configuration } from './options.ts'
import { parameterGroups } from './parameter-groups.ts'
import { learningRateFactor, warmupSteps } from './schedule.ts'
import { loadText } from './text.ts'
import { averagingRate, movedAverage } from './weight-averaging.ts'

export interface Progress {
  readonly step: number
  readonly steps: number
  /** Mean training loss of the step, in bits per byte. */
  readonly trainBitsPerByte: number
  readonly tokensPerSecond: number
}

export interface TrainingOptions {
  /** Of the initial parameters, of the order of the text and of what is masked or dropped. */
  readonly seed: number
  readonly report?: (progress: Progress) => void
}

export interface TrainingRun {
  /** Mean loss of each step that was taken, in nats, without what smoothing and the z-loss add. */
  readonly losses: readonly number[]
  readonly seconds: number
  /** Why it was given up, or null. */
  readonly reason: string | null
}

/** The trainer ends with the weights that are to be measured: the last, or their average. */
export async function train(
  trainer: Trainer,
  objective: Objective,
  configuration: Configuration,
  { seed, report }: TrainingOptions,
): Promise<TrainingRun> {
  const { batchTokens, clipNorm, labelSmoothing, zLoss } = configuration
  const random = seededRandom(seed)
  const take = trainingWindows(loadText(), random.fork('batches'), configuration.mobyDickShare)
  const masks = random.fork('masks')
  const loss: CrossEntropy = { kind: 'cross_entropy', labelSmoothing, zLoss }
  const lengths = rowLengths(configuration)
  const steps = lengths.length
  const losses: number[] = []
  let average: ReadonlyMap<string, Float32Array> | null = null
  let reason: string | null = null
  const start = performance.now()
  const elapsed = () => (performance.now() - start) / 1000
  while (losses.length < steps && reason === null) {
    const step = losses.length
    const data = objective.trainingData(take(batchTokens / lengths[step]!, lengths[step]!), masks)
    const { logProbabilities } = await trainer.forwardBackward(data, loss)
    const groups = parameterGroups(configuration, learningRateFactor(configuration, step, steps))
    await trainer.optimStep({ groups, clipNorm: clipNorm || null })
    losses.push(weightedLoss(data, logProbabilities))
    const rate = averagingRate(configuration, step, steps)
    if (rate > 0) average = movedAverage(average, await trainer.values(), rate)
    reason = divergence(losses, warmupSteps(configuration, steps))
    const tokensPerSecond = (losses.length * batchTokens) / elapsed()
    report?.({ step: losses.length, steps, trainBitsPerByte: losses.at(-1)! / Math.LN2, tokensPerSecond })
  }
  const seconds = elapsed()
  if (average !== null) await trainer.setValues(average)
  return { losses, seconds, reason }
}

/** In double precision; positions of weight 0 do not count, whatever their log-probability. */
function weightedLoss(data: readonly CrossEntropyDatum[], logProbabilities: readonly Float32Array[]): number {
  let sum = 0
  for (const [row, { weights }] of data.entries()) {
    for (let position = 0; position < weights.length; position++) {
      if (weights[position] !== 0) sum -= weights[position]! * logProbabilities[row]![position]!
    }
  }
  return sum
}
