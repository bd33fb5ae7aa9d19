/**
 * What several rows have seen, in the arrays that a graph reads: rows × the entry's shape, with room for `capacity` positions in each. Moves
 * positions in and out of them.
 */
import { sizeOf } from '../graph/shape.ts'
import type { IncrementalModel } from '../models/model.ts'
import { ArrayPool } from './array-pool.ts'
import { cacheInput } from './cache-tensors.ts'

/** Positions of one row that were computed together, behind those of the segments before. Never written to. */
export interface CacheSegment {
  readonly before: CacheSegment | null
  /** Place of the first position, and of the one behind the last. */
  readonly start: number
  readonly end: number
  /** The entry's shape with the segment's positions on the axis. */
  readonly entries: ReadonlyMap<string, Float32Array>
}

/** An entry that grows, of a row: `outer` blocks, each with all positions of `inner` numbers. */
interface GrowingLayout {
  readonly name: string
  readonly outer: number
  readonly inner: number
}

/** An entry that does not grow; `outer` blocks of encoder positions of `inner` numbers, or one block where it has no such axis. */
interface FixedLayout extends GrowingLayout {
  /** How many of so many encoder positions it holds: a model may keep the last ones only. 1 where it has no such axis. */
  positions(encoderPositions: number): number
}

export interface CacheLayout {
  readonly growing: readonly GrowingLayout[]
  readonly fixed: readonly FixedLayout[]
}

export function cacheLayout(model: IncrementalModel): CacheLayout {
  const growing: GrowingLayout[] = []
  const fixed: FixedLayout[] = []
  const wider = model.entries(1, 2)
  for (const [index, { name, shape, axis }] of model.entries(1, 1).entries()) {
    // The axis of encoder positions is the one whose size follows their number.
    const found = axis ?? shape.findIndex((size, at) => size !== wider[index]!.shape[at])
    const outer = sizeOf(shape.slice(0, Math.max(found, 0)))
    const inner = sizeOf(shape.slice(found + 1))
    const positions = (count: number) => (found < 0 ? 1 : model.entries(1, count)[index]!.shape[found]!)
    if (axis === null) fixed.push({ name, outer, inner, positions })
    else growing.push({ name, outer, inner })
  }
  return { growing, fixed }
}

export class CacheRows {
  readonly rows: number
  readonly capacity: number
  readonly encoderPositions: number
  /** Positions that each row holds. */
  readonly lengths: Int32Array
  readonly #layout: CacheLayout
  readonly #arrays: ReadonlyMap<string, Float32Array>

  constructor(layout: CacheLayout, rows: number, capacity: number, encoderPositions: number, pool = new ArrayPool()) {
    this.rows = rows
    this.capacity = capacity
    this.encoderPositions = encoderPositions
    this.lengths = new Int32Array(rows)
    this.#layout = layout
    const sizes = [
      ...(capacity > 0 ? layout.growing.map(entry => [entry, capacity] as const) : []),
      ...layout.fixed.map(entry => [entry, entry.positions(encoderPositions)] as const),
    ]
    this.#arrays = new Map(
      sizes.map(([{ name, outer, inner }, positions]) => [name, pool.take(rows * outer * positions * inner)]),
    )
  }

  /** These may not be used any more. */
  giveBack(pool: ArrayPool): void {
    for (const array of this.#arrays.values()) pool.giveBack(array)
  }

  /** By the names of a graph's inputs. */
  feeds(): Record<string, Float32Array | Int32Array> {
    const arrays = [...this.#arrays].map(([name, array]) => [cacheInput(name), array])
    return { 'cache.lengths': this.lengths, ...Object.fromEntries(arrays) }
  }

  /** Lets a row begin with what segments hold, and the entries that do not grow, of so many encoder positions. */
  fill(
    row: number,
    segment: CacheSegment | null,
    fixed: ReadonlyMap<string, Float32Array>,
    encoderPositions: number,
  ): void {
    this.lengths[row] = segment?.end ?? 0
    for (let part = segment; part; part = part.before)
      for (const { name, outer, inner } of this.#layout.growing)
        this.#write(name, row, outer, inner, part.start, part.entries.get(name)!, 0, part.end - part.start)
    for (const { name, outer, inner, positions } of this.#layout.fixed) {
      const [own, width] = [positions(encoderPositions), positions(this.encoderPositions)]
      const target = this.#arrays.get(name)!
      copyBlocks(
        fixed.get(name)!,
        0,
        own * inner,
        target,
        row * outer * width * inner,
        width * inner,
        outer,
        own * inner,
      )
    }
  }

  /** A row of other rows becomes one of these. */
  take(row: number, from: CacheRows, fromRow: number): void {
    const count = from.lengths[fromRow]!
    this.lengths[row] = count
    for (const { name, outer, inner } of this.#layout.growing)
      if (from.capacity > 0) {
        const start = fromRow * outer * from.capacity * inner
        this.#write(name, row, outer, inner, 0, from.#arrays.get(name)!, start, count, from.capacity)
      }
    for (const { name, outer, inner, positions } of this.#layout.fixed) {
      const [own, width] = [positions(from.encoderPositions), positions(this.encoderPositions)]
      const [source, target] = [from.#arrays.get(name)!, this.#arrays.get(name)!]
      const [sourceStart, targetStart] = [fromRow * outer * own * inner, row * outer * width * inner]
      copyBlocks(source, sourceStart, own * inner, target, targetStart, width * inner, outer, own * inner)
    }
  }

  /** Puts the first `count` positions of a row of computed entries, (rows, …shape) with `positions` on the axis, behind a row's own. */
  append(
    row: number,
    computed: (entry: string) => Float32Array,
    computedRow: number,
    positions: number,
    count: number,
  ): void {
    for (const { name, outer, inner } of this.#layout.growing) {
      const start = computedRow * outer * positions * inner
      this.#write(name, row, outer, inner, this.lengths[row]!, computed(name), start, count, positions)
    }
    this.lengths[row]! += count
  }

  /** A copy of what a row holds behind a segment. */
  segment(row: number, before: CacheSegment | null): CacheSegment | null {
    const start = before?.end ?? 0
    const end = this.lengths[row]!
    if (end === start) return before
    const entries = new Map<string, Float32Array>()
    for (const { name, outer, inner } of this.#layout.growing) {
      const size = (end - start) * inner
      const array = new Float32Array(outer * size)
      const first = row * outer * this.capacity * inner + start * inner
      copyBlocks(this.#arrays.get(name)!, first, this.capacity * inner, array, 0, size, outer, size)
      entries.set(name, array)
    }
    return { before, start, end, entries }
  }

  #write(
    name: string,
    row: number,
    outer: number,
    inner: number,
    place: number,
    source: Float32Array,
    sourceStart: number,
    count: number,
    sourcePositions = count,
  ): void {
    const target = this.#arrays.get(name)!
    const start = row * outer * this.capacity * inner + place * inner
    copyBlocks(source, sourceStart, sourcePositions * inner, target, start, this.capacity * inner, outer, count * inner)
  }
}

/** Cuts the first `count` positions of a row out of computed entries, as a segment of its own. */
export function computedSegment(
  layout: CacheLayout,
  before: CacheSegment | null,
  computed: (entry: string) => Float32Array,
  row: number,
  positions: number,
  count: number,
): CacheSegment | null {
  if (count === 0) return before
  const start = before?.end ?? 0
  const entries = new Map<string, Float32Array>()
  for (const { name, outer, inner } of layout.growing) {
    const array = new Float32Array(outer * count * inner)
    const stride = positions * inner
    copyBlocks(computed(name), row * outer * stride, stride, array, 0, count * inner, outer, count * inner)
    entries.set(name, array)
  }
  return { before, start, end: start + count, entries }
}

function copyBlocks(
  source: Float32Array,
  sourceStart: number,
  sourceStride: number,
  target: Float32Array,
  targetStart: number,
  targetStride: number,
  blocks: number,
  size: number,
): void {
  for (let block = 0; block < blocks; block++) {
    const start = sourceStart + block * sourceStride
    target.set(source.subarray(start, start + size), targetStart + block * targetStride)
  }
}
