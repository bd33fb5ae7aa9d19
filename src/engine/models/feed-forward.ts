/**
 * The feed-forward branch of a block.
 */
import { gelu, reluSquared, swiglu } from '../algebra/activation.ts'
import { matrixProduct } from '../algebra/matrix-product.ts'
import type { Tensor } from '../graph/graph.ts'
import type { DecoderConfiguration } from './decoder-configuration.ts'
import { withGain } from './norm.ts'

/** `gain`: of the norm before it, which the matrices still have to take in. */
export function feedForward(
  { activation }: Pick<DecoderConfiguration, 'activation'>,
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
  }[activation]
  return matrixProduct(activate(), parameters.get(`${name}.down`)!)
}
