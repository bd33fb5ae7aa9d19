/**
 * Claims a run and starts its process: a folder of its own, the merged configuration, a worktree with the diff, the seed.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { launch } from '../execute/launch.ts'
import { identityOf } from '../execute/process-table.ts'
import { runVariables } from '../execute/run-variables.ts'
import { substitute } from '../execute/substitute.ts'
import { canonicalJson } from '../experiment/json.ts'
import type { StoredRun } from '../ledger/runs.ts'
import { linkInto } from '../repository/link-into.ts'
import type { Measuring, Task } from './measure.ts'

export const treeFolder = 'tree'
export const outFolder = 'out'

/**
 * The claimed run, its process started. Null when another process has the claim. What goes wrong between the claim and
 * the start (a full disk, a worktree that cannot be made) is the run's outcome: `infrastructure`.
 */
export async function startRun(
  task: Task,
  attempt: number,
  slot: number,
  { environment, ledger, variables, campaignId }: Measuring,
): Promise<StoredRun | null> {
  const name = `${task.versionId.slice(0, 8)}-${task.hash.slice(0, 12)}`
  const folder = join(dirname(ledger.path), 'runs', name, `seed-${task.seed}-attempt-${attempt}`)
  const run = await ledger.claimRun({
    interventionId: task.interventionId,
    seed: task.seed,
    attempt,
    folder,
    claimant: claimantOfThisProcess(),
    campaignId: campaignId ?? null,
  })
  if (run === null) return null
  try {
    // A folder that is there already belongs to a ledger that was deleted: its results are not this run's.
    rmSync(folder, { recursive: true, force: true })
    const out = join(folder, outFolder)
    mkdirSync(out, { recursive: true })
    const { file, directory, repository } = environment
    let root = directory
    if (repository !== null && task.commit !== null) {
      const tree = join(folder, treeFolder)
      await repository.addWorktree(tree, task.commit, task.diff)
      await linkInto(
        tree,
        repository.root,
        file.link.map(path => join(repository.prefix, path)),
      )
      root = join(tree, repository.prefix)
    }
    const values: Record<string, string> = {
      node: process.execPath,
      seed: String(task.seed),
      out,
      slot: String(slot),
      root,
    }
    if (task.configuration !== null) {
      values['config'] = join(folder, 'config.json')
      // Not atomically: the folder is new, and the run begins only after this.
      writeFileSync(values['config'], `${JSON.stringify(JSON.parse(canonicalJson(task.configuration)), null, 2)}\n`)
    }
    await launch({
      folder,
      command: substitute(file.command, values),
      workingDirectory: root,
      variables: runVariables({
        inherit: variables,
        pass: file.variables,
        slot,
        ...(file.devices ? { devices: file.devices } : {}),
      }),
      seconds: file.budget.seconds ?? null,
      memoryMegabytes: file.budget.memoryMegabytes ?? null,
    })
  } catch (error) {
    const at = new Date().toISOString()
    await ledger.writeOutcome(run.id, {
      kind: 'infrastructure',
      reason: `It could not be started: ${(error as Error).message}`,
      metrics: {},
      exitCode: null,
      startedAt: at,
      finishedAt: at,
      seconds: null,
      cost: null,
    })
  }
  return run
}

export function claimantOfThisProcess(): { pid: number; started: string } {
  const identity = identityOf(process.pid)
  if (identity === null)
    throw new Error(`This process (${process.pid}) is not in the table of processes; is /proc mounted?`)
  return { pid: identity.pid, started: identity.startTime }
}
