/**
 * What rows have seen, as inputs of a graph, and how new positions join it: as a part of their own, or written into one that a loop
 * carries.
 */
import { reshape } from '../algebra/arrangement.ts'
import { causal, real, visible } from '../algebra/attention-mask.ts'
import type { Graph, Tensor } from '../graph/graph.ts'
import { broadcastShape, sizeOf } from '../graph/shape.ts'
import type { CacheEntry, CachePart, IncrementalModel, RowCache } from '../models/model.ts'

export interface CacheShape {
  readonly rows: number
  /** Positions that the past has room for; 0 where there is none. */
  readonly capacity: number
  /** 0 where there is no encoder. */
  readonly encoderPositions: number
}

/** The past as inputs: `cache.<entry>` and `cache.lengths`. */
export interface PastTensors {
  /** (rows) int32. */
  readonly lengths: Tensor
  readonly entries: ReadonlyMap<string, Tensor>
  readonly fixed: ReadonlyMap<string, Tensor>
}

export const cacheInput = (entry: string): string => `cache.${entry}`

export function growingEntries(model: IncrementalModel, capacity: number): (CacheEntry & { readonly axis: number })[] {
  return model.entries(capacity, 1).flatMap(entry => (entry.axis === null ? [] : [{ ...entry, axis: entry.axis }]))
}

export function pastTensors(graph: Graph, model: IncrementalModel, shape: CacheShape): PastTensors {
  const { rows, capacity, encoderPositions } = shape
  const entries = new Map<string, Tensor>()
  const fixed = new Map<string, Tensor>()
  for (const { name, shape, axis } of model.entries(Math.max(capacity, 1), encoderPositions)) {
    if (axis === null) fixed.set(name, graph.input(cacheInput(name), [rows, ...shape]))
    else if (capacity > 0) entries.set(name, graph.input(cacheInput(name), [rows, ...shape]))
  }
  return { lengths: graph.indices('cache.lengths', [rows], capacity + 1), entries, fixed }
}

/** New positions are a part of their own, behind the past: what `extend` is given is collected in `fresh`. */
export function appendingCache(
  past: PastTensors,
  shape: CacheShape,
  /** Int32 (rows, new positions). */
  places: Tensor,
  fresh: Map<string, Tensor>,
): RowCache {
  const { graph } = places
  const count = places.shape[1]!
  const own = { capacity: count, seen: reshape(visible(graph, causal(count)), [1, count, count]), places }
  return {
    parts: [...pastParts(past, shape), own],
    extend(entry, tensor) {
      fresh.set(entry, tensor)
      const earlier = past.entries.get(entry)
      return earlier ? [earlier, tensor] : [tensor]
    },
    fixed: entry => past.fixed.get(entry)!,
  }
}

/** One new position a row is written into a part that a loop carries, at the loop's iteration: what it becomes is collected in `written`. */
export function writingCache(
  past: PastTensors,
  shape: CacheShape,
  entries: readonly (CacheEntry & { readonly axis: number })[],
  carried: ReadonlyMap<string, Tensor>,
  /** Int64, a scalar. */
  iteration: Tensor,
  written: Map<string, Tensor>,
): RowCache {
  const { graph } = iteration
  const { rows } = shape
  const capacity = entries[0] ? entries[0].shape[entries[0].axis]! : 1
  const range = (type: 'int32' | 'int64') =>
    graph.constant(
      Array.from({ length: capacity }, (_, index) => index),
      [1, capacity],
      type,
    )
  const comparison = { operation: 'LessOrEqual', inputs: [range('int64'), iteration], shape: [1, capacity] }
  const own: CachePart = {
    capacity,
    seen: reshape(graph.operation({ ...comparison, type: 'bool' }), [1, 1, capacity]),
    places: addIntegers(reshape(past.lengths, [rows, 1]), range('int32')),
  }
  return {
    parts: [...pastParts(past, shape), own],
    extend(name, tensor) {
      const { axis } = entries.find(entry => entry.name === name)!
      const before = carried.get(name)!
      const after = graph.operation({
        operation: 'ScatterND',
        inputs: [before, placesOfSlices(before.shape, axis + 1, iteration), tensor],
        shape: before.shape,
      })
      written.set(name, after)
      const earlier = past.entries.get(name)
      return earlier ? [earlier, after] : [after]
    },
    fixed: entry => past.fixed.get(entry)!,
  }
}

/**
 * Where the slices at one place of an axis stand, one for each combination of places on the axes before it: (…, 1, axis + 1). ScatterND copies
 * the rest as it is, three times as fast as a choice by Where; no slice is named twice, so no update can be lost.
 */
function placesOfSlices(shape: readonly number[], axis: number, place: Tensor): Tensor {
  const { graph } = place
  const leading = shape.slice(0, axis)
  const values: number[] = []
  for (let slice = 0; slice < sizeOf(leading); slice++) {
    const places: number[] = [0]
    for (let at = axis - 1, rest = slice; at >= 0; at--) {
      places.unshift(rest % leading[at]!)
      rest = Math.floor(rest / leading[at]!)
    }
    values.push(...places)
  }
  const base = graph.constant(values, [...leading, 1, axis + 1], 'int64')
  const along = graph.constant([...leading.map(() => 0), 1], [axis + 1], 'int64')
  const moved = graph.operation({ operation: 'Mul', inputs: [along, place], shape: [axis + 1], type: 'int64' })
  return addIntegers(base, moved)
}

function pastParts({ lengths }: PastTensors, { capacity }: CacheShape): CachePart[] {
  if (capacity === 0) return []
  const range = Array.from({ length: capacity }, (_, index) => index)
  const places = lengths.graph.constant(range, [1, capacity], 'int32')
  return [{ capacity, seen: real(lengths, capacity), places }]
}

export function addIntegers(a: Tensor, b: Tensor): Tensor {
  const shape = broadcastShape(a.shape, b.shape)!
  return a.graph.operation({ operation: 'Add', inputs: [a, b], shape, type: a.type })
}

/** Places of new positions behind the past; those of padding, which may be beyond what the model has places for, are set to the last. */
export function placesBehind(past: Tensor, steps: Tensor, most: number, contextLength: number): Tensor {
  const { graph } = past
  const places = addIntegers(reshape(past, [past.shape[0]!, 1]), steps)
  if (most <= contextLength) return places
  const inputs = [places, graph.constant([contextLength - 1], [], 'int32')]
  return graph.operation({ operation: 'Min', inputs, shape: places.shape, type: 'int32' })
}
