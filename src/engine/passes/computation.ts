/**
 * The graph of a model, a loss and the gradients for one shape of data. What is compiled and what is fed to it are decided
 * here; piece-inputs.ts fills the inputs.
 */
import { add, multiply, scale } from '../algebra/arithmetic.ts'
import { total } from '../algebra/reduction.ts'
import { gradientsOf } from '../graph/gradients.ts'
import type { Graph, Tensor } from '../graph/graph.ts'
import { crossEntropy } from '../losses/cross-entropy.ts'
import type { Loss } from '../losses/loss.ts'
import { policyLosses } from '../losses/policy-loss.ts'
import { distributionLogits, type Targets, targetLogProbabilities } from '../losses/target-log-probability.ts'
import { builtModel } from '../models/built-model.ts'
import type { BuildInputs, Model } from '../models/model.ts'
import type { Parameter } from '../parameter.ts'
import { described } from '../required-types.ts'

/** Everything that makes two computations of one model different; equal ones share a program. */
export interface ComputationShape {
  readonly loss: Loss
  readonly gradients: boolean
  readonly rows: number
  readonly positions: number
  /** 0 where there is no encoder. */
  readonly encoderPositions: number
  /** Targets of each position, or the whole vocabulary. `single` is one, in a faster form. */
  readonly targets: 'single' | number | 'vocabulary'
  /** Whether temperatures other than 1 are there, and whether tokens are taken away. */
  readonly temperature: boolean
  readonly mask: boolean
  readonly dropout: boolean
  readonly adapter: boolean
  readonly capture: readonly string[]
}

/** An input that dropout multiplies with: 0, or 1/(1 - rate). */
export interface DropoutMask {
  readonly name: string
  readonly rate: number
  readonly size: number
}

export interface Computation {
  /**
   * `logProbabilities`; `losses` by target unless they are -weight × log-probability; `zLoss` and `innerState` where they are asked for;
   * `captured.<name>`; `gradient.<name>`.
   */
  readonly outputs: Readonly<Record<string, Tensor>>
  readonly dropoutMasks: readonly DropoutMask[]
}

/** Makes the tensors that a model is built from out of the graph's inputs; adapters are added here. */
export type ParameterTensors = (
  graph: Graph,
  adapter: boolean,
) => {
  readonly trained: ReadonlyMap<string, Tensor>
  readonly effective: ReadonlyMap<string, Tensor>
}

/** Every parameter is an input and is trained. */
export function plainParameters(parameters: readonly Parameter[]): ParameterTensors {
  return graph => {
    const tensors = new Map(parameters.map(({ name, shape }) => [name, graph.input(name, shape)]))
    return { trained: tensors, effective: tensors }
  }
}

export function buildComputation(
  graph: Graph,
  model: Model,
  parameters: ParameterTensors,
  shape: ComputationShape,
): Computation {
  const { rows, positions } = shape
  const { trained, effective } = parameters(graph, shape.adapter)
  const dropoutMasks: DropoutMask[] = []
  const inputs: BuildInputs = {
    ...modelInputs(graph, model, shape),
    parameters: effective,
    rows,
    positions,
    dropout: (name, tensor, rate) => {
      if (!shape.dropout || rate === 0) return tensor
      dropoutMasks.push(dropoutMask(name, tensor, rate, rows))
      return multiply(tensor, graph.input(`dropout.${name}`, tensor.shape))
    },
  }
  const built = builtModel(model, inputs, shape.capture)
  const { objective, outputs } = graph.within('loss', () => lossTensors(graph, shape, built.logits, built.innerLogits))
  for (const name of shape.capture) outputs[`captured.${name}`] = built.readouts.get(name)!
  if (shape.gradients) {
    const gradients = gradientsOf(objective, [...trained.values()])
    for (const [index, name] of [...trained.keys()].entries()) outputs[gradientOf(name)] = gradients[index]!
  }
  return { outputs, dropoutMasks }
}

export const gradientOf = (name: string): string => `gradient.${name}`

function modelInputs(graph: Graph, model: Model, { rows, positions, encoderPositions }: ComputationShape) {
  const count = rows * positions
  const { vocabulary, inputs } = model
  const tokens = graph.indices('data.tokens', [count], inputs.tokens ? vocabulary : 2 ** 31)
  const lengths = graph.indices('data.lengths', [rows], positions + 1)
  const result: Pick<BuildInputs, 'graph' | 'tokens' | 'lengths'> & {
    -readonly [K in 'encoder' | 'features']?: BuildInputs[K]
  } = {
    graph,
    tokens,
    lengths,
  }
  if (inputs.encoderTokens)
    result.encoder = {
      positions: encoderPositions,
      tokens: graph.indices('data.encoderTokens', [rows * encoderPositions], inputs.encoderVocabulary ?? vocabulary),
      lengths: graph.indices('data.encoderLengths', [rows], encoderPositions + 1),
    }
  if (inputs.features > 0) result.features = graph.input('data.features', [count, inputs.features])
  return result
}

function lossTensors(graph: Graph, shape: ComputationShape, modelLogits: Tensor, innerLogits: Tensor | undefined) {
  const { rows, positions, loss } = shape
  const count = rows * positions
  const vocabulary = modelLogits.shape[1]!
  const inverseTemperatures = shape.temperature ? graph.input('data.inverseTemperatures', [count, 1]) : null
  const mask = shape.mask ? graph.input('data.mask', [count, vocabulary]) : null
  const targets = targetTensors(graph, shape.targets, count, vocabulary)
  const meant = (logits: Tensor) => distributionLogits(logits, inverseTemperatures, mask)
  if (loss.kind !== 'cross_entropy') {
    const logProbabilities = targetLogProbabilities(meant(modelLogits), targets)
    const input = (name: string) => graph.input(`data.${name}`, [count, 1])
    const losses = policyLosses(loss, {
      logProbabilities,
      drawn: input('drawn'),
      advantages: input('advantages'),
      counted: input('counted'),
    })
    const outputs: Record<string, Tensor> = { logProbabilities, losses }
    return { objective: total(losses), outputs }
  }
  const { labelSmoothing = 0, zLoss = 0, innerStateWeight = 0 } = loss
  const width = shape.targets === 'single' ? 1 : shape.targets === 'vocabulary' ? vocabulary : shape.targets
  const weights = graph.input('data.weights', [count, width])
  const { logProbabilities, losses, zLossSum, objective } = crossEntropy(meant(modelLogits), targets, weights, {
    labelSmoothing,
    zLoss,
    modelLogits,
  })
  const outputs: Record<string, Tensor> = { logProbabilities }
  if (labelSmoothing > 0) outputs['losses'] = losses
  if (zLossSum) outputs['zLoss'] = zLossSum
  if (innerStateWeight === 0) return { objective, outputs }
  if (!innerLogits) throw new Error('innerStateWeight of cross_entropy: this model has no inner state; leave it out')
  const inner = crossEntropy(meant(innerLogits), targets, weights, { labelSmoothing })
  outputs['innerState'] = scale(inner.objective, innerStateWeight)
  return { objective: add(objective, outputs['innerState']), outputs }
}

function targetTensors(graph: Graph, targets: ComputationShape['targets'], count: number, vocabulary: number): Targets {
  if (targets === 'vocabulary') return { kind: 'vocabulary' }
  if (targets === 'single') return { kind: 'single', tokens: graph.indices('data.targets', [count], vocabulary) }
  return { kind: 'several', tokens: graph.indices('data.targets', [count, targets], vocabulary) }
}

/** Masks are drawn by position, so the first axis of what is dropped must count the positions of all rows. */
function dropoutMask(name: string, { shape }: Tensor, rate: number, rows: number): DropoutMask {
  if (!(rate > 0 && rate < 1))
    throw new Error(`dropout ${name}: the rate is ${described(rate)}: expected a number from 0 to below 1`)
  if (shape[0]! % rows !== 0)
    throw new Error(
      `dropout ${name}: the first axis of (${shape.join(', ')}) does not count the positions of ${rows} rows`,
    )
  return { name, rate, size: shape.reduce((product, size) => product * size, 1) }
}
