/**
 * Forecasts beside what was measured, with the proof that no forecast saw what it must not.
 */
import type { Environment } from '../experiment/environment.ts'
import { nearDuplicateGroups } from '../experiment/near-duplicates.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import type { Forecaster } from './forecaster.ts'
import { guarded } from './leak-guard.ts'
import { type StoodIn, standingIn } from './stand-in.ts'

/** One history with the records that are forecast from it. */
export interface Part {
  readonly environment: Environment
  readonly history: readonly ExperimentRecord[]
  /** Of this environment; none of them may be in the history. */
  readonly tested: readonly ExperimentRecord[]
  /** Whether nothing of a candidate's near-duplicate group may be used. */
  readonly guarded: boolean
}

export interface Judged {
  readonly record: ExperimentRecord
  readonly forecast: StoodIn
}

/** Throws where a forecast was conditioned on its own record or, in a guarded part, on one of its near-duplicate group. */
export async function judge(forecaster: Forecaster, part: Part, seed: number): Promise<Judged[]> {
  const { environment, history, tested } = part
  refuseOverlap(part)
  const asked = standingIn(forecaster)
  const forecasts = await (part.guarded ? guarded(asked) : asked)(environment, history, tested, { seed })
  const judged = tested.map((record, index) => ({ record, forecast: forecasts[index]! }))
  refuseLeaks(part, judged)
  return judged
}

function refuseOverlap({ history, tested }: Part): void {
  const known = new Set(history.map(({ id }) => id))
  const both = tested.find(({ id }) => known.has(id))
  if (both === undefined) return
  throw new Error(`judge: record ${both.id} is both tested and in the history; leave it out of one`)
}

function refuseLeaks({ history, tested, guarded }: Part, judged: readonly Judged[]): void {
  const records = [...history, ...tested]
  const groups = guarded ? nearDuplicateGroups(records) : records.map(({ id }) => id)
  const groupOf = new Map(records.map(({ id }, index) => [id, groups[index]!]))
  const known = new Set(history.map(({ id }) => id))
  // Forecasts from one history share their list of ids: each list is read once, by group; `undefined` is what the history has not.
  const shownByList = new Map<readonly number[], Map<number | undefined, number>>()
  for (const { record, forecast } of judged) {
    const ids = forecast.recordIds
    const shown = shownByList.get(ids) ?? new Map(ids.map(id => [known.has(id) ? groupOf.get(id) : undefined, id]))
    shownByList.set(ids, shown)
    const leaked = shown.get(undefined) ?? shown.get(groupOf.get(record.id))
    if (leaked !== undefined) {
      throw new Error(`judge: the forecast of record ${record.id} by ${forecast.forecaster} was shown record ${leaked}`)
    }
  }
}
