/**
 * What processes that are gone left behind: runs that have ended and were not written down, and worktrees of runs that were.
 * What still runs is left to run.
 */
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inspect } from '../execute/inspect.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Repository } from '../repository/repository.ts'
import { claimantLives, settle } from './settle.ts'
import { treeFolder } from './start-run.ts'

/** Settles what has ended, and removes the worktrees that no run needs any more. */
export async function settleLeftovers(ledger: Ledger, repository: Repository | null): Promise<void> {
  for (const run of await ledger.openRuns()) {
    if (run.folder === null || run.claimant === null || claimantLives(run)) continue
    if ((await inspect(run.folder)).state !== 'running') await settle(run, ledger)
  }
  if (repository !== null) await removeOldWorktrees(ledger, repository)
}

/** Listed first and compared then: a run is claimed before its worktree is made, so what is listed and not open has ended. */
async function removeOldWorktrees(ledger: Ledger, repository: Repository): Promise<void> {
  const trees = treesBelow(join(dirname(ledger.path), 'runs'))
  if (trees.length === 0) return
  const open = new Set((await ledger.openRuns()).map(({ folder }) => folder))
  for (const folder of trees) {
    if (!open.has(folder)) await removeTree(folder, repository)
  }
}

/** Two processes may do this at once, and a worktree of another repository is not ours: neither is worth an error. */
export async function removeTree(folder: string, repository: Repository): Promise<void> {
  const tree = join(folder, treeFolder)
  if (existsSync(tree)) await repository.removeWorktree(tree).catch(() => {})
}

function treesBelow(runs: string): string[] {
  if (!existsSync(runs)) return []
  return readdirSync(runs).flatMap(name =>
    readdirSync(join(runs, name))
      .map(run => join(runs, name, run))
      .filter(folder => existsSync(join(folder, treeFolder))),
  )
}
