/**
 * Waits for a run that was started, by whichever process, and writes down how it ended.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { abandon, inspect } from '../execute/inspect.ts'
import { outcomeOf } from '../execute/outcome.ts'
import { isAlive } from '../execute/process-table.ts'
import { readMetrics } from '../execute/read-metrics.ts'
import { waitForExit } from '../execute/wait-for-exit.ts'
import { brokenConstraint } from '../experiment/constraint.ts'
import { type Family, objectiveOf } from '../experiment/environment.ts'
import { isEvidence, type Outcome } from '../experiment/intervention.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { StoredRun } from '../ledger/runs.ts'
import { median } from '../statistics/summary.ts'
import { outFolder } from './start-run.ts'

/** The outcome of a claimed run: the stored one, or the one read from its folder once it has ended. */
export async function settle(run: StoredRun, ledger: Ledger): Promise<Outcome> {
  for (;;) {
    const stored = (await ledger.run(run.id))?.outcome
    if (stored) return stored
    // An imported run has its outcome from the beginning; one without a folder was never ours to start.
    if (run.folder === null || run.claimant === null)
      throw new Error(`Run ${run.id} has neither an outcome nor a folder.`)
    const { state } = await inspect(run.folder)
    if (state === 'unstarted') {
      const { pid, started } = run.claimant
      if (isAlive({ pid, startTime: started })) await pause(20)
      else abandon(run.folder)
      continue
    }
    await ledger.writeOutcome(run.id, await outcomeFrom(run.folder, run, ledger))
  }
}

async function outcomeFrom(folder: string, run: StoredRun, ledger: Ledger): Promise<Outcome> {
  const exit = await waitForExit(folder)
  const family = await familyOf(run, ledger)
  const readings = await readMetrics({ metrics: family.metrics, folder, out: join(folder, outFolder) })
  const numbers = Object.fromEntries(
    Object.entries(readings).flatMap(([name, reading]) => (reading.kind === 'number' ? [[name, reading.value]] : [])),
  )
  return outcomeOf({
    exit,
    readings,
    objective: objectiveOf(family).name,
    broken: brokenConstraint(family.constraints, numbers, await referenceMetrics(run.versionId, ledger)),
  })
}

async function familyOf(run: StoredRun, ledger: Ledger): Promise<Family> {
  const version = await ledger.version(run.versionId)
  const family = version && (await ledger.family(version.familyId))
  if (!family) throw new Error(`Run ${run.id} belongs to version ${run.versionId}, which the ledger does not have.`)
  return family
}

/** Median of each metric over the reference's finished runs; empty while there is none. */
async function referenceMetrics(versionId: string, ledger: Ledger): Promise<Record<string, number>> {
  const runs = await ledger.runsOf(await ledger.ensureReference(versionId))
  const finished = runs.flatMap(({ outcome }) => (outcome?.kind === 'finished' ? [outcome.metrics] : []))
  const names = new Set(finished.flatMap(metrics => Object.keys(metrics)))
  return Object.fromEntries(
    [...names].map(name => [name, median(finished.flatMap(metrics => metrics[name] ?? []))] as const),
  )
}

/** Settles what processes that are gone left behind, as far as it has ended. What still runs is left to run. */
export async function settleLeftovers(ledger: Ledger): Promise<void> {
  for (const run of await ledger.openRuns()) {
    if (run.folder === null || run.claimant === null) continue
    const { pid, started } = run.claimant
    if (isAlive({ pid, startTime: started })) continue
    if ((await inspect(run.folder)).state !== 'running') await settle(run, ledger)
  }
}

/** Whether the intervention has an outcome for this seed that says something about it. */
export function hasEvidence(runs: readonly StoredRun[], seed: number): boolean {
  return runs.some(run => run.seed === seed && run.outcome !== null && isEvidence(run.outcome.kind))
}
