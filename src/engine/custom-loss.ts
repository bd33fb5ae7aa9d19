/**
 * A loss that the caller computes, over the verbs of any engine: forward, then forwardBackward with a cross-entropy whose weights are minus
 * the derivative. Exact by the chain rule, for the derivative is taken at the very log-probabilities that are differentiated (dropout
 * masks repeat); it costs one forward pass more.
 */
import type { CrossEntropyDatum } from './datum.ts'
import {
  described,
  type FieldsOf,
  requireFields,
  requireIntegers,
  requireList,
  requireRecord,
} from './required-types.ts'
import type { Trainer } from './training.ts'

/** What log-probabilities are asked for; their weights come from the loss. */
export type CustomDatum = Omit<CrossEntropyDatum, 'weights'>

/** By datum, the log-probability of each target, in the order of the targets. In double precision only where derivatives are checked. */
export type LogProbabilities = readonly (Float32Array | Float64Array)[]

export interface CustomLoss {
  readonly loss: number
  /** The derivative of the loss by each log-probability. */
  readonly gradients: LogProbabilities
  /** Anything worth telling about the data. */
  readonly metrics?: Readonly<Record<string, number>>
}

export type CustomLossFunction = (logProbabilities: LogProbabilities) => CustomLoss

export interface CustomLossResult {
  readonly loss: number
  readonly metrics: Readonly<Record<string, number>>
  readonly logProbabilities: readonly Float32Array[]
}

export interface CustomLossOptions {
  /** Masks of dropout for both passes; null: off. Default: a number of its own for these data at this version of the trainer. */
  readonly dropoutSeed?: number | null
}

const optionFields: FieldsOf<CustomLossOptions> = { dropoutSeed: true }
const lossFields: FieldsOf<CustomLoss> = { loss: true, gradients: true, metrics: true }

/** What is needed of a trainer. */
export type Differentiable = Pick<Trainer, 'forward' | 'forwardBackward' | 'version' | 'vocabulary'>

/**
 * Adds the gradients of `f` over the data. Await it before anything else is asked of the trainer: a step between the two passes would make
 * the derivative that of other weights, which is refused afterwards.
 */
export async function forwardBackwardCustom(
  trainer: Differentiable,
  data: readonly CustomDatum[],
  f: CustomLossFunction,
  options: CustomLossOptions = {},
): Promise<CustomLossResult> {
  const { version } = trainer
  checkCustomData(data)
  requireFields('forwardBackwardCustom: options', options, optionFields)
  const { dropoutSeed } = options
  const masks = { dropoutSeed: dropoutSeed === undefined ? seedOf(data, version) : dropoutSeed }
  const cost = { kind: 'cross_entropy' } as const
  const unweighted = data.map(datum => ({
    ...datum,
    weights: new Float32Array(targetCount(datum, trainer.vocabulary)),
  }))
  const { logProbabilities } = await trainer.forward(unweighted, cost, masks)
  const computed = f(logProbabilities)
  requireFields('forwardBackwardCustom: what the custom loss returned', computed, lossFields)
  const { loss, gradients, metrics = {} } = computed
  requireList('forwardBackwardCustom: gradients of the custom loss (which must not be asynchronous)', gradients)
  if (!Number.isFinite(loss))
    throw new Error(`forwardBackwardCustom: the custom loss is ${described(loss)}: expected a finite number`)
  checkGradients(gradients, logProbabilities)
  const weighted = data.map((datum, index) => ({ ...datum, weights: Float32Array.from(gradients[index]!, g => -g) }))
  await trainer.forwardBackward(weighted, cost, masks)
  if (trainer.version !== version)
    throw new Error(
      'forwardBackwardCustom: the trainer took a step between the two passes, so that the gradients it holds are wrong: ' +
        'call clearGradients, and await forwardBackwardCustom before optimStep',
    )
  return { loss, metrics, logProbabilities }
}

/**
 * The worst difference between the derivative that `f` gives and central finite differences, relative to the larger of the two, or to 1e-3
 * of the largest of all where they are smaller than that. For tests; `f` must keep the double precision that it is given.
 */
export function checkDerivative(f: CustomLossFunction, logProbabilities: LogProbabilities): number {
  const point = logProbabilities.map(values => Float64Array.from(values))
  const { gradients } = f(point)
  checkGradients(gradients, point)
  const pairs: [number, number][] = []
  for (const [datum, values] of point.entries())
    for (const [index, value] of values.entries()) {
      const step = 1e-5 * Math.max(1, Math.abs(value))
      const at = (moved: number) => {
        values[index] = moved
        return f(point).loss
      }
      const slope = (at(value + step) - at(value - step)) / (2 * step)
      values[index] = value
      pairs.push([gradients[datum]![index]!, slope])
    }
  const floor = 1e-3 * Math.max(...pairs.flat().map(Math.abs))
  return Math.max(...pairs.map(([a, b]) => Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b), floor, 1e-12)))
}

function checkGradients(gradients: LogProbabilities, logProbabilities: LogProbabilities): void {
  if (gradients.length !== logProbabilities.length)
    throw new Error(
      `the custom loss gave derivatives for ${gradients.length} data: expected ${logProbabilities.length}, one for each`,
    )
  for (const [datum, values] of gradients.entries()) {
    const expected = logProbabilities[datum]!.length
    if (values.length !== expected)
      throw new Error(
        `the custom loss gave ${values.length} derivatives for data[${datum}]: expected ${expected}, one for each target`,
      )
    const position = values.findIndex(value => !Number.isFinite(value))
    if (position >= 0)
      throw new Error(
        `the custom loss's derivative by log-probability ${position} of data[${datum}] is ${values[position]}, ` +
          `where the log-probability is ${logProbabilities[datum]![position]}`,
      )
  }
}

/** What is asked of the data before the trainer is; it asks for the rest. */
function checkCustomData(data: readonly CustomDatum[]): void {
  requireList('forwardBackwardCustom: data', data)
  for (const [index, datum] of data.entries()) {
    const place = `forwardBackwardCustom: data[${index}]`
    requireRecord(place, datum)
    requireRecord(`${place}.input`, datum.input)
    requireIntegers(`${place}.input.tokens`, datum.input.tokens)
    const { targets } = datum
    if (targets === 'vocabulary' || targets instanceof Int32Array) continue
    requireRecord(`${place}.targets`, targets)
    requireIntegers(`${place}.targets.tokens`, targets.tokens)
  }
}

function targetCount({ input, targets }: CustomDatum, vocabulary: number): number {
  if (targets === 'vocabulary') return input.tokens.length * vocabulary
  return targets instanceof Int32Array ? targets.length : targets.tokens.length
}

/** From the version and the tokens, so that it is the same after saving and loading (FNV-1a). */
function seedOf(data: readonly CustomDatum[], version: number): number {
  let hash = 0x811c9dc5 ^ version
  for (const { input } of data) for (const token of input.tokens) hash = Math.imul(hash ^ token, 0x01000193)
  return hash >>> 0
}
