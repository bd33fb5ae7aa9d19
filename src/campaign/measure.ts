/**
 * Pays for the truth: executes interventions with their seeds, as many at once as there are slots, and writes down each
 * outcome. Safe to end and to call again at any moment, from several processes: a run is claimed before it starts, what
 * still runs is adopted, what was lost is tried again.
 */

import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { cancel } from '../execute/wait-for-exit.ts'
import { isEvidence, type Outcome } from '../experiment/intervention.ts'
import type { Json } from '../experiment/json.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { StoredRun } from '../ledger/runs.ts'
import type { CampaignEvent } from './events.ts'
import { InputError } from './input-error.ts'
import { removeTree } from './leftovers.ts'
import type { OpenEnvironment } from './open-environment.ts'
import { claimantLives, settle } from './settle.ts'
import { startRun } from './start-run.ts'

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
  /** How many rounds it has, to say so. */
  readonly rounds?: number
  emit(event: CampaignEvent): void
  /** Asked before each start; false ends the starting (a budget). */
  mayStart?(): Promise<boolean>
  /** Called when a task has its outcome, before the next one starts in its slot. */
  onEnded?(task: Task): Promise<void>
}

/** A run that was lost (`infrastructure`, or ended by somebody else) says nothing about the idea: it is tried again this many times. */
const retries = 2

/** Measures every task that has no outcome yet. Resolves when all have one, or when starting was stopped and the rest has ended. */
export async function measure(tasks: readonly Task[], measuring: Measuring): Promise<void> {
  const waiting: Task[] = []
  for (const task of tasks) {
    if (isMeasured(await attemptsAt(task, measuring.ledger))) await measuring.onEnded?.(task)
    else waiting.push(task)
  }
  if (waiting.length === 0) return
  refuseMissingLinks(measuring.environment)
  const round = waiting[0]!.what === 'reference' ? 'reference' : waiting[0]!.round
  measuring.emit({ type: 'runs-planned', runs: waiting.length, round, rounds: measuring.rounds ?? null })
  const start = oneAtATime()
  const slots = Array.from({ length: Math.min(measuring.concurrency, waiting.length) }, (_, slot) => slot)
  await Promise.all(
    slots.map(async slot => {
      for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
        await measureTask(task, slot, start, measuring)
      }
    }),
  )
}

async function measureTask(task: Task, slot: number, start: OneAtATime, measuring: Measuring): Promise<void> {
  for (let lost = 0; ; ) {
    const attempts = await attemptsAt(task, measuring.ledger)
    const last = attempts.at(-1)
    if (isMeasured(attempts) || lost > retries) {
      await measuring.onEnded?.(task)
      return
    }
    const open = last !== undefined && last.outcome === null
    const run = open
      ? last
      : await start(async () => {
          if (measuring.stop.aborted || (await measuring.mayStart?.()) === false) return 'no more'
          return startRun(task, last === undefined ? 0 : last.attempt + 1, slot, measuring)
        })
    if (run === 'no more') return
    // Another process was faster with this claim: look again.
    if (run === null) continue
    const outcome = await outcomeOfRun(run, task, open, measuring)
    if (outcome === null || (outcome.kind === 'cancelled' && measuring.cancel.aborted)) return
    if (!isEvidence(outcome.kind)) lost++
  }
}

/** Said once and before anything starts: else every run would fail of it. */
function refuseMissingLinks({ repository, directory, path, file }: OpenEnvironment): void {
  const missing = file.link.find(name => repository !== null && !existsSync(join(directory, name)))
  if (missing !== undefined) {
    throw new InputError(
      `${basename(path)}: link names "${missing}", which does not exist in ${directory}; make it, or correct its name.`,
    )
  }
}

/** All attempts with this seed, in order. */
async function attemptsAt(task: Task, ledger: Ledger): Promise<StoredRun[]> {
  const runs = await ledger.runsOf(task.interventionId)
  return runs.filter(({ seed }) => seed === task.seed).sort((a, b) => a.attempt - b.attempt)
}

function isMeasured(attempts: readonly StoredRun[]): boolean {
  return attempts.some(({ outcome }) => outcome !== null && isEvidence(outcome.kind))
}

/** Waits for the run. Null when the user stops while it belongs to another process that lives: that one sees to it. */
async function outcomeOfRun(
  run: StoredRun,
  task: Task,
  adopted: boolean,
  { environment, ledger, stop, cancel: cancelled, emit }: Measuring,
): Promise<Outcome | null> {
  const name = { what: task.what, seed: task.seed, round: task.round }
  const elsewhere = adopted && claimantLives(run) && run.claimant!.pid !== process.pid
  emit({
    type: 'run-started',
    adopted: !adopted ? null : elsewhere ? 'runs in another process' : 'still running',
    ...name,
  })
  if (elsewhere) {
    const outcome = await settle(run, ledger, stop).catch(error => {
      if (stop.aborted) return null
      throw error
    })
    if (outcome !== null) emit({ type: 'run-ended', outcome, ...name })
    return outcome
  }
  // A run that could not be started has its outcome, and perhaps no folder.
  const end = () => {
    if (existsSync(run.folder!)) cancel(run.folder!)
  }
  cancelled.addEventListener('abort', end)
  if (cancelled.aborted) end()
  const outcome = await settle(run, ledger).finally(() => cancelled.removeEventListener('abort', end))
  if (environment.repository) await removeTree(run.folder!, environment.repository)
  emit({ type: 'run-ended', outcome, ...name })
  return outcome
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
