/**
 * Rotary position embedding (Su et al., 2021): turns pairs of channels by angles that grow with the position.
 */
import { describe, type Tensor } from '../graph/graph.ts'
import { add, multiply } from './arithmetic.ts'
import { reshape } from './arrangement.ts'
import { matrixProduct } from './matrix-product.ts'

const base = 10_000

/**
 * Of a tensor (…, positions, channels): channel i of the first half and channel i of the second are a pair, turned by
 * position × 10000^(-2 i / channels).
 */
export function rotary(a: Tensor): Tensor {
  const [positions, channels] = a.shape.slice(-2)
  if (positions === undefined || channels === undefined || channels % 2 !== 0)
    throw new Error(`rotary: ${describe(a)} needs an even number of channels on its last axis`)
  return turn(a, positions, channels, 1)
}

function turn(a: Tensor, positions: number, channels: number, direction: 1 | -1): Tensor {
  const { graph } = a
  const half = channels / 2
  const cosines: number[] = []
  const sines: number[] = []
  for (let position = 0; position < positions; position++)
    for (let channel = 0; channel < channels; channel++) {
      const angle = position * base ** ((-2 * (channel % half)) / channels)
      cosines.push(Math.cos(angle))
      sines.push(direction * Math.sin(angle))
    }
  // (x, y) → (-y, x) as a product with a constant matrix: one node, and faster than slicing and concatenating.
  const swap = Array.from({ length: channels * channels }, (_, index) => {
    const from = Math.floor(index / channels)
    const to = index % channels
    return to === from + half ? 1 : from === to + half ? -1 : 0
  })
  const rows = reshape(a, [a.shape.slice(0, -1).reduce((product, size) => product * size, 1), channels])
  const swapped = reshape(matrixProduct(rows, graph.constant(swap, [channels, channels])), a.shape)
  const turned = add(
    multiply(a, graph.constant(cosines, [positions, channels])),
    multiply(swapped, graph.constant(sines, [positions, channels])),
  )
  const back = direction === 1 ? -1 : 1
  return graph.composite('rotary', turned, [a], gradient => [turn(gradient, positions, channels, back)])
}
