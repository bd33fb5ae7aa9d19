/**
 * Records as they were known at an earlier time: an idea that was repeated later had fewer runs then, and another gain.
 */
import { objectiveOf } from '../experiment/environment.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { byOrigin, evidenceOf, finishedValues } from '../experiment/records.ts'
import { median } from '../statistics/summary.ts'

/** The records without the runs that began after the first run of `next`; those of which nothing is left are left out. */
export function knownBefore(
  records: readonly ExperimentRecord[],
  next: readonly ExperimentRecord[],
): ExperimentRecord[] {
  const began = Math.min(...next.flatMap(({ runs }) => runs.map(({ id }) => id)))
  return records.flatMap(record => {
    if (record.runs.every(({ id }) => id < began)) return [record]
    const runs = record.runs.filter(({ id }) => id < began)
    return runs.length === 0 ? [] : [withRuns(record, runs)]
  })
}

/**
 * The same record with fewer runs. Its noise stays what it is: it says nothing of how well the idea did. Where a log's row was run again
 * here, its gain against the log's reference is not known any more.
 */
function withRuns(record: ExperimentRecord, runs: ExperimentRecord['runs']): ExperimentRecord {
  const { name, direction } = objectiveOf(record.environment.family)
  const values = finishedValues(evidenceOf(runs), name)
  const { id, environment, intervention, changes, measured } = record
  const outcome = values.length > 0 ? 'finished' : (evidenceOf(runs).at(-1)?.outcome?.kind ?? null)
  const before = { id, environment, intervention, changes, runs, outcome, verdict: null }
  const { own, imported } = byOrigin(record.runs)
  if (measured === null || values.length === 0 || (own.length > 0 && imported.length > 0)) {
    return { ...before, measured: null }
  }
  const change = median(values) - median(finishedValues(evidenceOf(record.runs), name))
  return { ...before, measured: { ...measured, gain: measured.gain + (direction === 'minimize' ? -change : change) } }
}
