/**
 * Waiting for a run, and cancelling it: for runs of our own and adopted ones alike, since all that is known of a run is
 * in its folder.
 */
import { existsSync, type FSWatcher, watch } from 'node:fs'
import { writeAtomically } from '../files/atomic.ts'
import type { Exit } from './exit.ts'
import { abandon, inspect } from './inspect.ts'
import { askToEnd } from './process-family.ts'
import { pathOf, readClaim, readExit } from './run-folder.ts'

/** A wrapper takes well under a second to begin. One that has not by then never will, and is kept from it. */
const unstartedMilliseconds = 60_000
/** The exit is looked for often, which costs next to nothing; the processes, seldom. */
const pauseMilliseconds = { first: 10, longest: 250, processes: 500 }

/** Resolves when the run has ended; rejects with the signal's reason when that fires first, and the run goes on. */
export async function waitForExit(folder: string, { signal }: { signal?: AbortSignal } = {}): Promise<Exit | 'lost'> {
  const began = performance.now()
  const bell = new Bell(folder)
  let looked = Number.NEGATIVE_INFINITY
  try {
    for (let pause = pauseMilliseconds.first; ; pause = Math.min(pause * 1.5, pauseMilliseconds.longest)) {
      signal?.throwIfAborted()
      const now = performance.now()
      if (now - looked >= pauseMilliseconds.processes || existsSync(pathOf(folder, 'exit'))) {
        looked = now
        const state = await inspect(folder)
        if (state.state === 'exited') return state.exit
        if (state.state === 'lost') return 'lost'
        if (state.state === 'unstarted' && now - began > unstartedMilliseconds) abandon(folder)
      }
      await bell.rings(pause, signal)
    }
  } finally {
    bell.close()
  }
}

/**
 * Asks the wrapper to end the run: SIGTERM to all its processes, SIGKILL after the grace. Returns at once;
 * `waitForExit` says when it has ended. A run that has not begun never begins. A run that has ended keeps its exit.
 */
export function cancel(folder: string): void {
  if (readExit(folder)) return
  if (abandon(folder)) writeAtomically(pathOf(folder, 'exit'), JSON.stringify(cancelledBeforeItBegan()))
  const claim = readClaim(folder)
  if (claim && 'wrapper' in claim) askToEnd(claim.wrapper)
}

function cancelledBeforeItBegan(): Exit {
  const now = new Date().toISOString()
  return {
    kind: 'cancelled',
    exitCode: null,
    signal: null,
    reason: 'cancelled before it began',
    startedAt: now,
    finishedAt: now,
    seconds: 0,
    peakMegabytes: null,
  }
}

/**
 * Rings when the wrapper touches `launch.json`, its last act. (A watch on the folder would ring with every line that
 * the program prints.) The system may have no watch to spare, or miss changes on network folders: then only the clock
 * tells.
 */
class Bell {
  readonly #watcher: FSWatcher | null
  #rung = false
  #answer = () => {}

  constructor(folder: string) {
    this.#watcher = openWatcher(pathOf(folder, 'launch'))
    this.#watcher?.on('error', () => this.#watcher?.close())
    this.#watcher?.on('change', () => {
      this.#rung = true
      this.#answer()
    })
  }

  /** Resolves when it rings or has rung, after the pause, or when the signal fires. */
  rings(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(() => this.#answer(), this.#rung ? 0 : milliseconds)
      this.#answer = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', this.#answer)
        this.#answer = () => {}
        this.#rung = false
        resolve()
      }
      signal?.addEventListener('abort', this.#answer)
    })
  }

  close(): void {
    this.#watcher?.close()
  }
}

function openWatcher(path: string): FSWatcher | null {
  try {
    return watch(path, { persistent: false })
  } catch {
    return null
  }
}
