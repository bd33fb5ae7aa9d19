/**
 * Where the time went: seconds of running by what came of it, and every run placed in a lane of a timeline from which
 * idle stretches are cut, so that a campaign of two evenings does not show as two dots a day apart.
 */
import { isEvidence } from '../experiment/intervention.ts'
import type { RunTime } from './report-data.ts'

/** What came of a run, as far as time is concerned. `lost` says nothing about the idea: infrastructure, cancelled. */
export const timeUses = ['reference', 'finished', 'failed', 'lost', 'running'] as const
export type TimeUse = (typeof timeUses)[number]

export function timeUse({ outcome, recordId }: RunTime): TimeUse {
  if (outcome === null) return 'running'
  if (!isEvidence(outcome)) return 'lost'
  if (outcome !== 'finished') return 'failed'
  return recordId === null ? 'reference' : 'finished'
}

export interface TimeShare {
  readonly use: TimeUse
  readonly seconds: number
  readonly runs: number
  /** Runs whose duration is not known, and so not in `seconds`. */
  readonly untimed: number
}

/** In the order of `timeUses`; uses without a run are left out. */
export function timeShares(runs: readonly RunTime[]): TimeShare[] {
  return timeUses.flatMap(use => {
    const own = runs.filter(run => timeUse(run) === use)
    if (own.length === 0) return []
    const seconds = own.map(secondsOf)
    return [
      {
        use,
        runs: own.length,
        seconds: seconds.reduce<number>((sum, value) => sum + (value ?? 0), 0),
        untimed: seconds.filter(value => value === null).length,
      },
    ]
  })
}

export function secondsOf(run: RunTime): number | null {
  if (run.seconds !== null && Number.isFinite(run.seconds) && run.seconds >= 0) return run.seconds
  const start = timeOf(run.startedAt)
  const finish = timeOf(run.finishedAt)
  return start !== null && finish !== null && finish >= start ? finish - start : null
}

/** Seconds since 1970, or null. */
function timeOf(text: string | null): number | null {
  const milliseconds = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(milliseconds) ? null : milliseconds / 1000
}

export interface PlacedRun {
  readonly run: RunTime
  readonly use: TimeUse
  /** From 0. The slot where it is known and free, otherwise the first free lane. */
  readonly lane: number
  /** Seconds on the timeline, idle stretches cut out. */
  readonly start: number
  readonly finish: number
}

export interface Timeline {
  readonly placed: readonly PlacedRun[]
  readonly lanes: number
  readonly seconds: number
  /** Where an idle stretch was cut, and how long it was. */
  readonly cuts: readonly { readonly at: number; readonly idleSeconds: number }[]
}

/** Runs whose start and end are known, or null when fewer than two are. An idle stretch is cut when it is longer than ten minutes and a twentieth of all running. */
export function timeline(runs: readonly RunTime[]): Timeline | null {
  const timed = runs
    .flatMap(run => {
      const start = timeOf(run.startedAt)
      const finish = timeOf(run.finishedAt)
      return start !== null && finish !== null && finish >= start ? [{ run, start, finish }] : []
    })
    .sort((a, b) => a.start - b.start || a.run.runId - b.run.runId)
  if (timed.length < 2) return null

  const running = timed.reduce((sum, { start, finish }) => sum + finish - start, 0)
  const longestIdle = Math.max(600, running / 20)
  const placed: PlacedRun[] = []
  const cuts: { at: number; idleSeconds: number }[] = []
  const laneFree: number[] = []
  let removed = timed[0]!.start
  let busyUntil = timed[0]!.start
  for (const { run, start, finish } of timed) {
    const idle = start - busyUntil
    if (idle > longestIdle) {
      // A small gap stays, so that the cut can be seen.
      const kept = longestIdle / 20
      cuts.push({ at: busyUntil - removed + kept / 2, idleSeconds: idle })
      removed += idle - kept
    }
    busyUntil = Math.max(busyUntil, finish)
    const free = (lane: number) => (laneFree[lane] ?? Number.NEGATIVE_INFINITY) <= start
    let lane = run.slot !== null && run.slot >= 0 && run.slot < 64 && free(run.slot) ? run.slot : 0
    while (!free(lane)) lane++
    laneFree[lane] = finish
    placed.push({ run, use: timeUse(run), lane, start: start - removed, finish: finish - removed })
  }
  return { placed, lanes: laneFree.length, seconds: busyUntil - removed, cuts }
}
