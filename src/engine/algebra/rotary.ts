/**
 * Rotary position embedding (Su et al., 2021): turns pairs of channels by angles that grow with the position.
 */
import { describe, type Tensor } from '../graph/graph.ts'
import { sizeOf } from '../graph/shape.ts'
import { add, multiply, subtract } from './arithmetic.ts'
import { concatenate, reshape, split } from './arrangement.ts'

/**
 * How Llama 3.1 stretches the angles of a model that was trained at originalContextLength: pairs that turn less than
 * lowFrequencyFactor times over that length turn `factor` times slower, those that turn more than highFrequencyFactor
 * times stay as they are, and those between are interpolated.
 */
export interface Llama3Scaling {
  readonly factor: number
  readonly lowFrequencyFactor: number
  readonly highFrequencyFactor: number
  readonly originalContextLength: number
}

export interface RotaryOptions {
  /** Default 10,000. */
  readonly base?: number | undefined
  readonly scaling?: Llama3Scaling | undefined
}

/**
 * Where the entries of the positions' axis stand: the same places in every row, or ids (rows, positions) below a bound.
 */
export type RotaryPlaces = readonly number[] | { readonly ids: Tensor; readonly below: number }

/** The angle by which each pair of channels turns from one position to the next. */
export function rotaryFrequencies(channels: number, { base = 10_000, scaling }: RotaryOptions = {}): number[] {
  const frequencies = Array.from({ length: channels / 2 }, (_, pair) => base ** ((-2 * pair) / channels))
  if (!scaling) return frequencies
  const { factor, lowFrequencyFactor, highFrequencyFactor, originalContextLength } = scaling
  return frequencies.map(frequency => {
    const turns = (originalContextLength * frequency) / (2 * Math.PI)
    const keep = (turns - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor)
    const kept = Math.min(1, Math.max(0, keep))
    return kept * frequency + ((1 - kept) * frequency) / factor
  })
}

/**
 * Of a tensor (rows, heads, positions, channels), or (…, positions, channels) where places are the same everywhere:
 * channel i of the first half and channel i of the second are a pair, turned by position × frequency i. Places are 0,
 * 1, … where they are not given.
 */
export function rotary(a: Tensor, options: RotaryOptions = {}, places?: RotaryPlaces): Tensor {
  const [positions, channels] = a.shape.slice(-2)
  if (positions === undefined || channels === undefined || channels % 2 !== 0)
    throw new Error(`rotary: ${describe(a)} needs an even number of channels on its last axis`)
  const frequencies = rotaryFrequencies(channels, options)
  return turn(a, frequencies, places ?? Array.from({ length: positions }, (_, position) => position), 1)
}

function turn(a: Tensor, frequencies: readonly number[], places: RotaryPlaces, direction: 1 | -1): Tensor {
  const known = 'ids' in places ? Array.from({ length: places.below }, (_, position) => position) : places
  const angles = known.flatMap(position => frequencies.map(frequency => position * frequency))
  const table = (values: readonly number[]) => a.graph.constant(values, [known.length, frequencies.length])
  const cosines = table(angles.map(Math.cos))
  const sines = table(angles.map(angle => direction * Math.sin(angle)))
  const ids = 'ids' in places ? places.ids : null
  const back = direction === 1 ? -1 : 1
  const turned =
    a.graph.precision === 'float32' ? turnAtOnce(a, cosines, sines, ids) : turnInHalves(a, cosines, sines, ids)
  return a.graph.composite('rotary', turned, [a], gradient => [turn(gradient, frequencies, places, back)])
}

/** By the runtime's own operator, three times as fast, which has no double version. */
function turnAtOnce(a: Tensor, cosines: Tensor, sines: Tensor, ids: Tensor | null): Tensor {
  const { graph, shape } = a
  const stack = ids ? shape : [sizeOf(shape.slice(0, -2)), 1, ...shape.slice(-2)]
  // Without ids the operator takes the first position, and counts on.
  const first = ids
    ? graph.operation({ operation: 'Cast', attributes: { to: 7 }, inputs: [ids], shape: ids.shape, type: 'int64' })
    : graph.constant([0], [1], 'int64')
  const inputs = [reshape(a, stack), first, cosines, sines]
  const turned = graph.operation({ operation: 'RotaryEmbedding', domain: 'com.microsoft', inputs, shape: stack })
  return reshape(turned, shape)
}

/** (x, y) → (x cos - y sin, y cos + x sin). */
function turnInHalves(a: Tensor, cosines: Tensor, sines: Tensor, ids: Tensor | null): Tensor {
  const half = a.shape.at(-1)! / 2
  const [x, y] = split(a, -1, [half, half]) as [Tensor, Tensor]
  const [cosine, sine] = ids ? [rowsOf(cosines, ids), rowsOf(sines, ids)] : [cosines, sines]
  return concatenate(
    [subtract(multiply(x, cosine), multiply(y, sine)), add(multiply(y, cosine), multiply(x, sine))],
    -1,
  )
}

/** (rows, positions) ids of a table's rows → (rows, 1, positions, size). */
function rowsOf(table: Tensor, ids: Tensor): Tensor {
  const [rows, positions] = ids.shape as [number, number]
  const size = table.shape[1]!
  const shape = [rows, positions, size]
  const found = table.graph.operation({ operation: 'Gather', attributes: { axis: 0 }, inputs: [table, ids], shape })
  return reshape(found, [rows, 1, positions, size])
}
