/**
 * Large arrays that are used again: making them anew for every batch costs a tenth of the time of sampling, most of it for collecting
 * the old ones.
 */

/** Numbers that are kept for later. */
const mostKept = 2 ** 24

export class ArrayPool {
  readonly #kept = new Map<number, Float32Array[]>()
  #numbers = 0

  /** All zeros. */
  take(size: number): Float32Array {
    const array = this.#kept.get(size)?.pop()
    if (!array) return new Float32Array(size)
    this.#numbers -= size
    // What a model that diverged left there may be no number.
    return array.fill(0)
  }

  /** Whoever gives an array back may not use it any more. */
  giveBack(array: Float32Array): void {
    if (this.#numbers + array.length > mostKept) return
    this.#numbers += array.length
    const same = this.#kept.get(array.length)
    if (same) same.push(array)
    else this.#kept.set(array.length, [array])
  }
}
