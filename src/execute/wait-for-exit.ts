/**
 * Waiting for a run, and cancelling it: for runs of our own and adopted ones alike.
 */
import type { Exit } from './exit.ts'

/** Resolves when the run has ended; rejects with the signal's reason when that fires first (the run goes on). */
export async function waitForExit(folder: string, options: { signal?: AbortSignal } = {}): Promise<Exit | 'lost'> {
  throw new Error(`waitForExit is being written: ${folder} ${options}`)
}

/**
 * Asks the wrapper to end the run: SIGTERM to all its processes, SIGKILL after the grace. Returns at once; `waitForExit` says when it has ended.
 * A run that has not begun never begins. A run that has ended keeps its exit.
 */
export async function cancel(folder: string): Promise<void> {
  throw new Error(`cancel is being written: ${folder}`)
}
