/**
 * The end of what an encoder is given: where an encoder reads the last tokens alone and a memory is asked with all of
 * them.
 */
import { reshape } from '../algebra/arrangement.ts'
import type { Tensor } from '../graph/graph.ts'
import { broadcastShape } from '../graph/shape.ts'
import type { BuildInputs } from './model.ts'

type Encoder = NonNullable<BuildInputs['encoder']>

/** The last `window` tokens of each row, or all of those that have fewer, with padding behind as before. */
export function lastTokens(encoder: Encoder, window: number): Encoder {
  const { positions, tokens, lengths } = encoder
  if (positions <= window) return encoder
  const { graph } = tokens
  const [rows] = lengths.shape as [number]
  const whole = (values: readonly number[]) => graph.constant(values, [1, values.length], 'int32')
  const byRow = reshape(lengths, [rows, 1])
  const first = wholeNumbers('Max', wholeNumbers('Sub', byRow, whole([window])), whole([0]))
  const places = wholeNumbers('Add', first, whole(Array.from({ length: window }, (_, place) => place)))
  const last = graph.operation({
    operation: 'GatherElements',
    attributes: { axis: 1 },
    inputs: [reshape(tokens, [rows, positions]), places],
    shape: [rows, window],
    type: 'int32',
  })
  return {
    positions: window,
    tokens: reshape(last, [rows * window]),
    lengths: reshape(wholeNumbers('Min', byRow, whole([window])), [rows]),
  }
}

function wholeNumbers(operation: 'Add' | 'Sub' | 'Max' | 'Min', a: Tensor, b: Tensor): Tensor {
  const shape = broadcastShape(a.shape, b.shape)!
  return a.graph.operation({ operation, inputs: [a, b], shape, type: 'int32' })
}
