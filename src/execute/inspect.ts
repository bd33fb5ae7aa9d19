/**
 * Where a run stands, read from its folder and the system's processes: also for a run that another process launched.
 */
import { createExclusively } from '../files/atomic.ts'
import type { RunState } from './exit.ts'
import { ProcessFamily } from './process-family.ts'
import { isAlive } from './process-table.ts'
import { pathOf, readClaim, readCommand, readExit, readLaunch } from './run-folder.ts'

/**
 * The state now; `pid` is the wrapper's. When a run's wrapper is dead but its command lives on, nobody holds the
 * command to its limits and nobody will write its exit: it is ended first, which may take the grace, and then the run
 * is lost.
 */
export async function inspect(folder: string): Promise<RunState> {
  const exit = readExit(folder)
  if (exit) return { state: 'exited', exit }
  const claim = readClaim(folder)
  if (!claim) return { state: 'unstarted' }
  if ('abandoned' in claim) return { state: 'lost' }
  if (isAlive(claim.wrapper)) return { state: 'running', pid: claim.wrapper.pid }
  // It may have written its exit and ended since we looked.
  const late = readExit(folder)
  if (late) return { state: 'exited', exit: late }
  const command = readCommand(folder)
  if (command) await new ProcessFamily(command).end(readLaunch(folder)?.graceSeconds ?? 0)
  return { state: 'lost' }
}

/**
 * Claims the start, so that a wrapper that was spawned but has not begun can never begin; false if the wrapper was
 * first.
 */
export function abandon(folder: string): boolean {
  return createExclusively(pathOf(folder, 'claim'), JSON.stringify({ abandoned: true }))
}
