/**
 * Weights as a sampler with few bits would hold them: rounded to whole multiples of a scale that a group of them
 * shares, and back. The rounded values stay in single precision: this imitates what such a sampler computes and saves
 * no memory.
 */
import { describeShape, sizeOf } from '../graph/shape.ts'
import type { Parameter } from '../parameter.ts'
import { described, type FieldsOf, requireFields } from '../required-types.ts'
import type { Quantisation } from '../sampling.ts'

/**
 * Symmetric rounding by groups along one axis: the scale of a group is its largest magnitude / (2^(bits-1) - 1), and
 * every value becomes the nearest multiple of it, ties to even: off by at most half a scale. The largest stays what it
 * is, so rounding what is rounded changes nothing. The last group of a line is smaller where groups do not divide it.
 */
export function quantise(
  values: Float32Array,
  shape: readonly number[],
  quantisation: Quantisation,
  axis = 0,
): Float32Array {
  checkQuantisation(quantisation)
  const size = shape[axis]
  if (size === undefined) throw new Error(`quantise: shape ${describeShape(shape)} has no axis ${axis}`)
  if (values.length !== sizeOf(shape))
    throw new Error(`quantise: ${values.length} values do not fill shape ${describeShape(shape)}`)
  const { bits, groupSize = 32 } = quantisation
  const largestMultiple = 2 ** (bits - 1) - 1
  const stride = sizeOf(shape.slice(axis + 1))
  const rounded = new Float32Array(values.length)

  const roundGroup = (start: number, count: number) => {
    const end = start + count * stride
    let largest = 0
    for (let index = start; index < end; index += stride) {
      const magnitude = Math.abs(values[index]!)
      if (!Number.isFinite(magnitude))
        throw new Error(`quantise: value ${index} is ${values[index]}; only finite weights can be rounded`)
      if (magnitude > largest) largest = magnitude
    }
    if (largest === 0) return
    // In double precision: in single, the largest would come back a little off, and the next rounding move the rest.
    const scale = largest / largestMultiple
    for (let index = start; index < end; index += stride)
      rounded[index] = scale * roundHalfToEven(values[index]! / scale)
  }

  for (let line = 0; line < values.length / size; line++) {
    const start = Math.floor(line / stride) * stride * size + (line % stride)
    for (let first = 0; first < size; first += groupSize)
      roundGroup(start + first * stride, Math.min(groupSize, size - first))
  }
  return rounded
}

/**
 * All parameters of a sampler: matrices and heads in groups along their inputs; embeddings along the width, which are
 * the inputs of a head that is tied to them. Gains, biases and the slots of a memory stay: those arrays are shared, not
 * copied.
 */
export function quantiseParameters(
  parameters: readonly Parameter[],
  values: ReadonlyMap<string, Float32Array>,
  quantisation: Quantisation,
): Map<string, Float32Array> {
  checkQuantisation(quantisation)
  return new Map(
    parameters.map(({ name, shape, role }) => {
      const array = values.get(name)
      if (!array) throw new Error(`quantiseParameters: there are no values of ${name}`)
      if (role === 'embedding') return [name, quantise(array, shape, quantisation, shape.length - 1)]
      if (role === 'matrix' || role === 'head') return [name, quantise(array, shape, quantisation, shape.length - 2)]
      return [name, array]
    }),
  )
}

const fields: FieldsOf<Quantisation> = { bits: true, groupSize: true }

/** Throws a sentence for bits or groups that cannot be. */
function checkQuantisation(quantisation: Quantisation): void {
  requireFields('quantisation', quantisation, fields)
  const { bits, groupSize = 32 } = quantisation
  if (bits !== 4 && bits !== 8) throw new Error(`quantisation: bits is ${described(bits)}: expected 4 or 8`)
  if (!Number.isInteger(groupSize) || groupSize < 1)
    throw new Error(`quantisation: groupSize is ${described(groupSize)}: expected a positive whole number`)
}

function roundHalfToEven(value: number): number {
  const below = Math.floor(value)
  const rest = value - below
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1
  return below % 2 === 0 ? below : below + 1
}
