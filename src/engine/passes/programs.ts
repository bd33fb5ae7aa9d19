/**
 * Compiled programs by what they compute. Those that were not used for longest are disposed of when there are too many: each
 * keeps the memory of its activations.
 */
import type { Program } from '../graph/program.ts'

export interface Compiled<T> {
  readonly program: Program
  readonly about: T
  /** What it keeps, in any unit: positions, for one. */
  readonly size: number
}

export class Programs<T> {
  readonly #limit: number
  /** In the order of use, the latest last. */
  readonly #kept = new Map<string, Compiled<T>>()

  /** Programs are kept while their sizes together are at most `limit`; the latest two are kept always. */
  constructor(limit: number) {
    this.#limit = limit
  }

  async find(key: string, compile: () => Promise<Compiled<T>>): Promise<Compiled<T>> {
    const known = this.#kept.get(key)
    if (known) {
      this.#kept.delete(key)
      this.#kept.set(key, known)
      return known
    }
    const compiled = await compile()
    this.#kept.set(key, compiled)
    let total = 0
    for (const { size } of this.#kept.values()) total += size
    for (const [oldest, { program, size }] of this.#kept) {
      if (total <= this.#limit || this.#kept.size <= 2) break
      this.#kept.delete(oldest)
      await program.dispose()
      total -= size
    }
    return compiled
  }

  async dispose(): Promise<void> {
    for (const { program } of this.#kept.values()) await program.dispose()
    this.#kept.clear()
  }
}
