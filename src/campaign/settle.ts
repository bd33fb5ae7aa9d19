/**
 * Waits for a run that was started, by whichever process, and writes down how it ended.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Exit } from '../execute/exit.ts'
import { abandon, inspect } from '../execute/inspect.ts'
import { lastComplaint } from '../execute/log-lines.ts'
import { outcomeOf } from '../execute/outcome.ts'
import { isAlive } from '../execute/process-table.ts'
import { type MetricPlaces, readMetrics } from '../execute/read-metrics.ts'
import { fileNames, readLaunch } from '../execute/run-folder.ts'
import { waitForExit } from '../execute/wait-for-exit.ts'
import { brokenConstraint } from '../experiment/constraint.ts'
import { type Family, objectiveOf } from '../experiment/environment.ts'
import type { Outcome } from '../experiment/intervention.ts'
import { evidenceOf } from '../experiment/records.ts'
import { isInside } from '../files/safe-path.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { StoredRun } from '../ledger/runs.ts'
import { median } from '../statistics/summary.ts'
import { outFolder, treeFolder } from './start-run.ts'

/**
 * The outcome of a claimed run: the stored one, or the one read from its folder once it has ended. Rejects with the
 * signal's reason when that fires first; the run goes on.
 */
export async function settle(run: StoredRun, ledger: Ledger, signal?: AbortSignal): Promise<Outcome> {
  for (;;) {
    signal?.throwIfAborted()
    const stored = (await ledger.run(run.id))?.outcome
    if (stored) return stored
    // An imported run has its outcome from the beginning; one without a folder was never ours to start.
    if (run.folder === null || run.claimant === null)
      throw new Error(`Run ${run.id} has neither an outcome nor a folder.`)
    const { state } = await inspect(run.folder)
    if (state === 'unstarted') {
      if (claimantLives(run)) await pause(20)
      else {
        // Its process may have died between the claim and the folder.
        mkdirSync(run.folder, { recursive: true })
        abandon(run.folder)
      }
      continue
    }
    await ledger.writeOutcome(run.id, await outcomeFrom(run.folder, run, ledger, signal))
  }
}

/** Whether the process that claimed the run is still there to see to it. */
export function claimantLives({ claimant }: StoredRun): boolean {
  return claimant !== null && isAlive({ pid: claimant.pid, startTime: claimant.started })
}

async function outcomeFrom(
  folder: string,
  run: StoredRun,
  ledger: Ledger,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const exit = await waitForExit(folder, signal ? { signal } : {})
  const family = await familyOf(run, ledger)
  const readings = readMetrics({
    metrics: family.metrics,
    folder,
    out: join(folder, outFolder),
    workingDirectory: worktreeOf(folder, exit),
  })
  const numbers = Object.fromEntries(
    Object.entries(readings).flatMap(([name, reading]) => (reading.kind === 'number' ? [[name, reading.value]] : [])),
  )
  return outcomeOf({
    exit,
    readings,
    objective: objectiveOf(family).name,
    broken: brokenConstraint(family.constraints, numbers, await referenceMetrics(run, ledger)),
    lastLine: lastComplaint(join(folder, fileNames.stderr)),
  })
}

/** Where the program stood, if that was a worktree of its own: other folders are shared by runs. */
function worktreeOf(folder: string, exit: Exit | 'lost'): MetricPlaces['workingDirectory'] {
  const stood = readLaunch(folder)?.workingDirectory
  if (exit === 'lost' || stood === undefined || !isInside(join(folder, treeFolder), stood)) return undefined
  return { folder: stood, since: new Date(exit.startedAt) }
}

async function familyOf(run: StoredRun, ledger: Ledger): Promise<Family> {
  const version = await ledger.version(run.versionId)
  const family = version && (await ledger.family(version.familyId))
  if (!family) throw new Error(`Run ${run.id} belongs to version ${run.versionId}, which the ledger does not have.`)
  return family
}

/**
 * Median of each metric over the reference's finished runs; empty while there is none, and for the reference's own runs:
 * it is not measured against itself, or its first runs would judge the later ones.
 */
async function referenceMetrics(run: StoredRun, ledger: Ledger): Promise<Record<string, number>> {
  const referenceId = await ledger.ensureReference(run.versionId)
  if (run.interventionId === referenceId) return {}
  const finished = evidenceOf(await ledger.runsOf(referenceId)).flatMap(({ outcome }) =>
    outcome?.kind === 'finished' ? [outcome.metrics] : [],
  )
  const names = new Set(finished.flatMap(metrics => Object.keys(metrics)))
  return Object.fromEntries(
    [...names].map(name => [name, median(finished.flatMap(metrics => metrics[name] ?? []))] as const),
  )
}
