/**
 * Pays for the truth: executes interventions with their seeds, as many at once as there are slots, and writes down each
 * outcome. Safe to end and to call again at any moment, from several processes: a run is claimed before it starts, what
 * still runs is adopted, what was lost is tried again.
 */

import { join } from 'node:path'
import { cancel } from '../execute/wait-for-exit.ts'
import { isEvidence, type Outcome } from '../experiment/intervention.ts'
import type { Json } from '../experiment/json.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { StoredRun } from '../ledger/runs.ts'
import type { CampaignEvent } from './events.ts'
import type { OpenEnvironment } from './open-environment.ts'
import { settle } from './settle.ts'
import { startRun, treeFolder } from './start-run.ts'

/** One intervention (or the reference) with one seed. */
export interface Task {
  readonly versionId: string
  readonly interventionId: number
  /** Its sentence, or `reference`. */
  readonly what: string
  readonly hash: string
  readonly configuration: Json
  readonly commit: string | null
  readonly diff: string | null
  readonly seed: number
  readonly round: number | null
}

export interface Measuring {
  readonly environment: OpenEnvironment
  readonly ledger: Ledger
  readonly concurrency: number
  /** No new run starts once it aborts. */
  readonly stop: AbortSignal
  /** Running processes are ended once it aborts. */
  readonly cancel: AbortSignal
  readonly variables: NodeJS.ProcessEnv
  /** The campaign that pays. */
  readonly campaignId?: number
  emit(event: CampaignEvent): void
  /** Asked before each start; false ends the starting (a budget). */
  mayStart?(): Promise<boolean>
  /** Called when a task has its outcome, before the next one starts in its slot. */
  onEnded?(task: Task): Promise<void>
}

/** An `infrastructure` outcome says nothing about the idea: the run is tried again this many times. */
const retries = 2

/** Measures every task that has no outcome yet. Resolves when all have one, or when starting was stopped and the rest has ended. */
export async function measure(tasks: readonly Task[], measuring: Measuring): Promise<void> {
  const waiting = [...tasks]
  const start = oneAtATime()
  const slots = Array.from({ length: Math.max(1, Math.min(measuring.concurrency, tasks.length)) }, (_, slot) => slot)
  await Promise.all(
    slots.map(async slot => {
      for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
        await measureTask(task, slot, start, measuring)
      }
    }),
  )
}

async function measureTask(task: Task, slot: number, start: OneAtATime, measuring: Measuring): Promise<void> {
  for (;;) {
    const { latest, attempt } = await nextAttempt(task, measuring.ledger)
    if (attempt === null) {
      await measuring.onEnded?.(task)
      return
    }
    const open = latest !== null && latest.outcome === null
    const run = open
      ? latest
      : await start(async () => {
          if (measuring.stop.aborted || (await measuring.mayStart?.()) === false) return 'no more'
          return startRun(task, attempt, slot, measuring)
        })
    if (run === 'no more') return
    // Another process was faster with this claim: look again.
    if (run === null) continue
    const outcome = await outcomeOfRun(run, task, open, measuring)
    if (outcome.kind === 'cancelled') return
  }
}

/** The attempt to make next, or null when the task has its outcome. An open attempt is to be waited for. */
async function nextAttempt(task: Task, ledger: Ledger): Promise<{ latest: StoredRun | null; attempt: number | null }> {
  const runs = (await ledger.runsOf(task.interventionId)).filter(run => run.seed === task.seed)
  if (runs.some(run => run.outcome !== null && isEvidence(run.outcome.kind))) return { latest: null, attempt: null }
  const latest = runs.reduce<StoredRun | null>(
    (last, run) => (last === null || run.attempt > last.attempt ? run : last),
    null,
  )
  if (latest === null) return { latest, attempt: 0 }
  const lost = runs.filter(run => run.outcome?.kind === 'infrastructure').length
  if (latest.outcome?.kind === 'infrastructure' && lost > retries) return { latest, attempt: null }
  return { latest, attempt: latest.attempt + 1 }
}

async function outcomeOfRun(run: StoredRun, task: Task, adopted: boolean, measuring: Measuring): Promise<Outcome> {
  const name = { what: task.what, seed: task.seed, round: task.round }
  measuring.emit({ type: 'run-started', adopted, ...name })
  const end = () => void cancel(run.folder!)
  measuring.cancel.addEventListener('abort', end)
  if (measuring.cancel.aborted) end()
  try {
    const outcome = await settle(run, measuring.ledger)
    measuring.emit({ type: 'run-ended', outcome, ...name })
    return outcome
  } finally {
    await measuring.environment.repository?.removeWorktree(join(run.folder!, treeFolder))
    measuring.cancel.removeEventListener('abort', end)
  }
}

type OneAtATime = <T>(action: () => Promise<T>) => Promise<T>

/** A budget is asked and a run claimed as one step: two slots must not both take the last run that is left. */
function oneAtATime(): OneAtATime {
  let last: Promise<unknown> = Promise.resolve()
  return action => {
    const next = last.then(action)
    last = next.catch(() => {})
    return next
  }
}
