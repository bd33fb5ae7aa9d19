/**
 * Norms with their learned gains and biases, and branches that a norm stands before or behind.
 */
import { add, multiply, scale } from '../algebra/arithmetic.ts'
import { reshape } from '../algebra/arrangement.ts'
import { layerNorm } from '../algebra/layer-norm.ts'
import { rootMeanSquareNorm } from '../algebra/root-mean-square.ts'
import type { Tensor } from '../graph/graph.ts'
import type { DecoderConfiguration } from './decoder-configuration.ts'

export type NormShape = Pick<DecoderConfiguration, 'normKind' | 'normEpsilon'>
export type BranchShape = NormShape & Pick<DecoderConfiguration, 'norm'>

/** With gain, and bias where there is one, both times a factor. */
export function normalised(
  { normKind, normEpsilon }: NormShape,
  parameters: ReadonlyMap<string, Tensor>,
  name: string,
  a: Tensor,
  factor = 1,
): Tensor {
  const gain = scale(parameters.get(name)!, factor)
  if (normKind === 'rms') return multiply(rootMeanSquareNorm(a, normEpsilon), gain)
  return add(multiply(layerNorm(a, normEpsilon), gain), scale(parameters.get(`${name}Bias`)!, factor))
}

/**
 * A branch of a block, without what it is added to: its norm is `norm` under the branch's name. The branch is given its
 * input and the gain that its matrices still have to take in, where there is one.
 */
export function branchOutput(
  shape: BranchShape,
  parameters: ReadonlyMap<string, Tensor>,
  name: string,
  hidden: Tensor,
  factor: number,
  branch: (input: Tensor, gain: Tensor | null) => Tensor,
): Tensor {
  const norm = `${name}.norm`
  if (shape.norm === 'post') return normalised(shape, parameters, norm, branch(hidden, null), factor)
  const output =
    shape.normKind === 'layer'
      ? branch(normalised(shape, parameters, norm, hidden), null)
      : branch(rootMeanSquareNorm(hidden, shape.normEpsilon), parameters.get(norm)!)
  return scale(output, factor)
}

/** (x gain) W = x (gain W): the matrix is much smaller than the hidden states. */
export function withGain(matrix: Tensor, gain: Tensor | null): Tensor {
  return gain ? multiply(matrix, reshape(gain, [gain.shape[0]!, 1])) : matrix
}
