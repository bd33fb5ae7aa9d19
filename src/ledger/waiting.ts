/**
 * Waiting for another process's write without holding up this one: what finds the file busy is tried again after a short sleep, so that
 * progress goes on and signals are heard. (SQLite's own waiting blocks the whole process.)
 */
import { setTimeout as pause } from 'node:timers/promises'

/** What whoever opens the ledger may say of its waits. */
export interface Waiting {
  /** Ends a wait that was told, which throws its reason. One that is over in a moment goes on: what is stopped has its end to write. */
  readonly signal?: AbortSignal
  /** Told once a wait, after a few seconds of it. */
  readonly tell?: (sentence: string) => void
}

/**
 * How long one process waits for another's write, in milliseconds. Most writes are short; an import of a million rows holds the file for a
 * minute, and a campaign must not end for that.
 */
export const patience = 300_000

/** In milliseconds. */
const tellAfter = 2_000

/** How long who waits may not look, in milliseconds. */
export const longestSleep = 40

/** Throws what the attempt throws: at once where that is not for another's write, and where it still is after five minutes. */
export async function whenFree<T>(path: string, { signal, tell }: Waiting, attempt: () => T | Promise<T>): Promise<T> {
  const started = performance.now()
  for (let isTold = false; ; ) {
    try {
      return await attempt()
    } catch (error) {
      const waited = performance.now() - started
      if (!isBusy(error) || waited > patience) throw error
      if (waited > tellAfter) {
        signal?.throwIfAborted()
        if (!isTold) tell?.(`Waiting for another process that writes the ledger ${path}.`)
        isTold = true
      }
    }
    // At random: several that wait must not meet again and again.
    await pause(10 + Math.random() * (longestSleep - 10))
  }
}

function isBusy(error: unknown): boolean {
  const { errcode, cause } = error as { errcode?: unknown; cause?: { errcode?: unknown } }
  const code = errcode ?? cause?.errcode
  return typeof code === 'number' && (code & 0xff) === 5
}
