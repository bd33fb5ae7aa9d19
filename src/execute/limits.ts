/**
 * Watches what a command uses: wall clock, and the resident memory of all its processes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ExitKind } from './exit.ts'
import type { ProcessFamily } from './process-family.ts'
import { residentMegabytes } from './process-table.ts'

export interface LimitReached {
  readonly kind: Extract<ExitKind, 'timed-out' | 'out-of-memory'>
  readonly reason: string
}

/** A look reads the whole table of processes, so looks come often at first and then ever less often. */
const firstPauseMilliseconds = 20
const longestPauseMilliseconds = { limited: 250, unlimited: 1000 }

export class Limits {
  readonly #seconds: number
  readonly #megabytes: number
  readonly #family: ProcessFamily
  #peak: number | null = null

  constructor(
    { seconds, memoryMegabytes }: { readonly seconds: number | null; readonly memoryMegabytes: number | null },
    family: ProcessFamily,
  ) {
    this.#seconds = seconds ?? Number.POSITIVE_INFINITY
    this.#megabytes = memoryMegabytes ?? Number.POSITIVE_INFINITY
    this.#family = family
  }

  /** The most that was seen; null before the first look. */
  get peakMegabytes(): number | null {
    return this.#peak
  }

  /** Counts from the call. Resolves with the first limit that is passed, or null when `until` fires first. */
  async reached(until: AbortSignal): Promise<LimitReached | null> {
    const longest = longestPauseMilliseconds[this.#megabytes === Number.POSITIVE_INFINITY ? 'unlimited' : 'limited']
    const end = performance.now() + this.#seconds * 1000
    let rest = firstPauseMilliseconds
    for (let pause = rest; ; pause = Math.min(1.5 * pause, longest)) {
      if (!(await pauseFor(Math.min(rest, end - performance.now()), until))) return null
      const look = performance.now()
      const used = this.#look()
      if (used > this.#megabytes) {
        return {
          kind: 'out-of-memory',
          reason: `used ${Math.round(used)} MB, over its limit of ${this.#megabytes} MB`,
        }
      }
      const now = performance.now()
      if (now >= end) return { kind: 'timed-out', reason: `over its limit of ${this.#seconds} s` }
      // Where there are very many processes a look is slow: spend at most a twentieth of the time on it.
      rest = Math.max(pause, 20 * (now - look))
    }
  }

  #look(): number {
    const used = residentMegabytes(this.#family.members().map(({ pid }) => pid))
    if (used > 0) this.#peak = Math.max(this.#peak ?? 0, used)
    return used
  }
}

/** False when it was cut short. */
async function pauseFor(milliseconds: number, until: AbortSignal): Promise<boolean> {
  try {
    await sleep(Math.max(0, Math.ceil(milliseconds)), undefined, { signal: until })
    return true
  } catch {
    return false
  }
}
