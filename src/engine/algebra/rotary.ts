/**
 * Rotary position embedding (Su et al., 2021): turns pairs of channels by angles that grow with the position.
 */
import { describe, type Tensor } from '../graph/graph.ts'
import { sizeOf } from '../graph/shape.ts'
import { add, multiply, subtract } from './arithmetic.ts'
import { concatenate, reshape, split } from './arrangement.ts'

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
  const angles: number[] = []
  for (let position = 0; position < positions; position++)
    for (let pair = 0; pair < channels / 2; pair++) angles.push(position * base ** ((-2 * pair) / channels))
  const cosines = angles.map(Math.cos)
  const sines = angles.map(angle => direction * Math.sin(angle))
  const back = direction === 1 ? -1 : 1
  const turned = a.graph.precision === 'float32' ? turnAtOnce(a, cosines, sines) : turnInHalves(a, cosines, sines)
  return a.graph.composite('rotary', turned, [a], gradient => [turn(gradient, positions, channels, back)])
}

/** By the runtime's own operator, three times as fast, which has no double version. */
function turnAtOnce(a: Tensor, cosines: readonly number[], sines: readonly number[]): Tensor {
  const { graph, shape } = a
  const [positions, channels] = shape.slice(-2) as [number, number]
  const stack = [sizeOf(shape.slice(0, -2)), 1, positions, channels]
  const table = (values: readonly number[]) => graph.constant(values, [positions, channels / 2])
  const inputs = [reshape(a, stack), graph.constant([0], [1], 'int64'), table(cosines), table(sines)]
  const turned = graph.operation({ operation: 'RotaryEmbedding', domain: 'com.microsoft', inputs, shape: stack })
  return reshape(turned, shape)
}

/** (x, y) → (x cos - y sin, y cos + x sin). */
function turnInHalves(a: Tensor, cosines: readonly number[], sines: readonly number[]): Tensor {
  const { graph } = a
  const [positions, channels] = a.shape.slice(-2) as [number, number]
  const half = channels / 2
  const [x, y] = split(a, -1, [half, half]) as [Tensor, Tensor]
  const cosine = graph.constant(cosines, [positions, half])
  const sine = graph.constant(sines, [positions, half])
  return concatenate(
    [subtract(multiply(x, cosine), multiply(y, sine)), add(multiply(y, cosine), multiply(x, sine))],
    -1,
  )
}
