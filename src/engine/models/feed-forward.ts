/**
 * The feed-forward branch of a block, and how the gain of a norm before a matrix is folded into it.
 */
import { gelu, reluSquared, swiglu } from '../algebra/activation.ts'
import { multiply } from '../algebra/arithmetic.ts'
import { reshape } from '../algebra/arrangement.ts'
import { matrixProduct } from '../algebra/matrix-product.ts'
import type { Tensor } from '../graph/graph.ts'
import type { DecoderConfiguration } from './decoder-configuration.ts'

export function feedForward(
  configuration: DecoderConfiguration,
  parameters: ReadonlyMap<string, Tensor>,
  name: string,
  input: Tensor,
  gain: Tensor | null,
): Tensor {
  const project = (part: string) => matrixProduct(input, withGain(parameters.get(`${name}.${part}`)!, gain))
  const activate = {
    gelu: () => gelu(project('up')),
    'relu-squared': () => reluSquared(project('up')),
    swiglu: () => swiglu(project('gate'), project('up')),
  }[configuration.activation]
  return matrixProduct(activate(), parameters.get(`${name}.down`)!)
}

/** (x gain) W = x (gain W): the matrix is much smaller than the hidden states. */
export function withGain(matrix: Tensor, gain: Tensor | null): Tensor {
  return gain ? multiply(matrix, reshape(gain, [gain.shape[0]!, 1])) : matrix
}
