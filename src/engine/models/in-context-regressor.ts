/**
 * A regressor that learns from its context (prior-fitted networks, Müller et al., 2022): in one pass it reads a set of
 * records, each a list of features with a value, and gives for each query, a list of features alone, a distribution of
 * its value over bins (in-context-regressor-bins.ts). It is trained by cross_entropy on sets that were drawn from what
 * it should know beforehand.
 *
 * A position is a record or a query, and its numbers are the features, the value, and 1 where the value is given, 0 in
 * a query, whose value is not looked at (in-context-regressor-data.ts makes them). Records are seen by all, queries by
 * themselves alone. There are no places: in another order the same records say the same.
 */
import { add, multiply } from '../algebra/arithmetic.ts'
import { concatenate, reshape, slice } from '../algebra/arrangement.ts'
import { attention } from '../algebra/attention.ts'
import { both, either, real } from '../algebra/attention-mask.ts'
import { matrixProduct } from '../algebra/matrix-product.ts'
import type { Graph, Tensor } from '../graph/graph.ts'
import type { Parameter } from '../parameter.ts'
import { described, type FieldsOf, unknownField } from '../required-types.ts'
import { joinHeads, projectHeads } from './attention-branch.ts'
import { attentionParameters, feedForwardParameters, initialValues, normParameters } from './decoder-parameters.ts'
import { feedForward } from './feed-forward.ts'
import type { Model } from './model.ts'
import { branchOutput, normalised } from './norm.ts'

/** All of it, as a model holds it. */
export interface InContextRegressorConfiguration {
  /** Numbers that describe a record. They should be about as large as a standard normal's; so should values. */
  readonly features: number
  /** Of the distribution; what the model calls its vocabulary. */
  readonly bins: number
  /** Most records and queries together. */
  readonly contextLength: number
  readonly depth: number
  /** Size of the hidden state; a multiple of `heads`. */
  readonly width: number
  readonly heads: number
  /** Default 4 × width. */
  readonly feedForwardWidth: number
}

type Defaults = 'feedForwardWidth'
export type InContextRegressorOptions = Omit<InContextRegressorConfiguration, Defaults> &
  Partial<Pick<InContextRegressorConfiguration, Defaults>>

const fields: FieldsOf<InContextRegressorConfiguration> = {
  features: true,
  bins: true,
  contextLength: true,
  depth: true,
  width: true,
  heads: true,
  feedForwardWidth: true,
}

/** What is not given, or undefined, is the default. It checks nothing. */
export function completeRegressor(options: InContextRegressorOptions): InContextRegressorConfiguration {
  const { feedForwardWidth = 4 * options.width } = options
  return { ...options, feedForwardWidth }
}

/** How its blocks differ from what a decoder's could be. */
const blockShape = { norm: 'pre', normKind: 'rms', normEpsilon: 1e-6, queryKeyNorm: false, activation: 'gelu' } as const

/**
 * Throws one error with all that is wrong. Read-outs are the hidden states: `hidden.0` after the input, then one a
 * block.
 */
export function inContextRegressor(options: InContextRegressorOptions): Model {
  checkRegressor(options)
  const configuration = completeRegressor(options)
  const { features, bins, contextLength, depth, width, heads } = configuration
  const shape = { ...configuration, ...blockShape, keyValueHeads: heads, headWidth: width / heads }
  const states = Array.from({ length: depth + 1 }, (_, block) => `hidden.${block}`)
  const parameters = regressorParameters(configuration, shape)
  return {
    kind: 'in-context-regressor',
    configuration,
    vocabulary: bins,
    contextLength,
    inputs: { tokens: false, encoderTokens: false, features: features + 2 },
    parameters,
    readouts: Object.fromEntries(states.map(name => [name, width])),
    initialValues: seed => initialValues(parameters, 1, seed),
    build({ graph, parameters, rows, positions, lengths, features: numbers }) {
      const given = slice(numbers!, 1, features + 1, 1)
      const value = multiply(slice(numbers!, 1, features, 1), given)
      const known = concatenate([slice(numbers!, 1, 0, features), value, given], 1)
      const mask = visibleRecords(graph, given, lengths, positions)
      const hidden = [add(matrixProduct(known, parameters.get('input')!), parameters.get('inputBias')!)]
      for (let block = 0; block < depth; block++) {
        const branch = (name: string, state: Tensor, build: (input: Tensor, gain: Tensor | null) => Tensor) =>
          graph.within(name, () => add(state, branchOutput(shape, parameters, name, state, 1, build)))
        const [attending, forward] = [`blocks.${block}.attention`, `blocks.${block}.feedForward`]
        const attended = branch(attending, hidden[block]!, (input, gain) => {
          const { queries, keys, values } = projectHeads(shape, parameters, attending, input, gain, rows)
          return joinHeads(parameters, attending, attention(queries, keys, values, { mask, reference: 'own' }))
        })
        hidden.push(branch(forward, attended, (input, gain) => feedForward(shape, parameters, forward, input, gain)))
      }
      const logits = matrixProduct(normalised(shape, parameters, 'norm', hidden[depth]!), parameters.get('head')!)
      return { logits, readouts: new Map(states.map((name, block) => [name, hidden[block]!])) }
    },
    incremental: null,
  }
}

/** A position sees all records, and itself: (rows, positions, positions). `given` is (rows × positions, 1). */
function visibleRecords(graph: Graph, given: Tensor, lengths: Tensor, positions: number): Tensor {
  const [rows] = lengths.shape as [number]
  const flags = reshape(given, [rows, 1, positions])
  const isGiven = graph.operation({
    operation: 'Greater',
    inputs: [flags, graph.scalar(0.5)],
    shape: flags.shape,
    type: 'bool',
  })
  const itself = Array.from({ length: positions ** 2 }, (_, index) => Number(index % (positions + 1) === 0))
  const own = graph.constant(itself, [1, positions, positions], 'bool')
  return either(both(isGiven, real(lengths, positions)), own)
}

function regressorParameters(
  { features, bins, depth, width }: InContextRegressorConfiguration,
  shape: Parameters<typeof attentionParameters>[0] & Parameters<typeof feedForwardParameters>[0],
): Parameter[] {
  return [
    { name: 'input', shape: [features + 2, width], role: 'matrix' },
    { name: 'inputBias', shape: [width], role: 'bias' },
    ...Array.from({ length: depth }, (_, block) => [
      ...attentionParameters(shape, `blocks.${block}.attention`),
      ...feedForwardParameters(shape, `blocks.${block}.feedForward`),
    ]).flat(),
    ...normParameters('norm', width, 'rms'),
    { name: 'head', shape: [width, bins], role: 'head' },
  ]
}

function checkRegressor(options: InContextRegressorOptions): void {
  const { features, bins, contextLength, depth, width, heads, feedForwardWidth = 1 } = options
  const unknown = unknownField(options, fields)
  const problems: string[] = unknown ? [unknown] : []
  for (const [field, value] of Object.entries({ features, bins, contextLength, depth, width, heads, feedForwardWidth }))
    if (!(Number.isInteger(value) && value > 0))
      problems.push(`${field} is ${described(value)}: expected a positive whole number`)
  if (problems.length === 0 && width % heads !== 0)
    problems.push(`width is ${width}: expected a multiple of heads, which is ${heads}`)
  if (problems.length > 0)
    throw new Error(`The in-context regressor's configuration is not valid: ${problems.join('; ')}`)
}
