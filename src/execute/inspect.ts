/**
 * Where a run stands, read from its folder and the system's processes: also for a run that another process launched.
 */
import type { RunState } from './exit.ts'

/** When a run's wrapper is dead but its command lives on, the command is ended first, and the run is lost. */
export async function inspect(folder: string): Promise<RunState> {
  throw new Error(`inspect is being written: ${folder}`)
}

/** Claims the start, so that a wrapper that was spawned but has not begun can never begin; false if the wrapper was first. */
export function abandon(folder: string): boolean {
  throw new Error(`abandon is being written: ${folder}`)
}
