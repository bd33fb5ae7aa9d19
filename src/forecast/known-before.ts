/**
 * Records as they were known at an earlier time: with the runs that had begun then, of their references too. What came later changes more
 * than its own record: the median of a reference, and the noise that every standard error and verdict of a version rests on.
 */
import type { ExperimentRecord, MeasuredGain } from '../experiment/record.ts'
import { buildRecords, type InterventionWithRuns } from '../experiment/records.ts'

/**
 * The records without the runs that began after the first run of `next`; those of which nothing is left are left out. Records without any
 * run were never measured here, and stay as they are.
 *
 * @param references with all their runs, those of every version that the records are of
 */
export function knownBefore(
  records: readonly ExperimentRecord[],
  next: readonly ExperimentRecord[],
  references: readonly InterventionWithRuns[],
): ExperimentRecord[] {
  // Not Math.min of them all, which takes no hundred thousand arguments.
  const began = next
    .flatMap(({ runs }) => runs.map(({ id }) => id))
    .reduce((first, id) => Math.min(first, id), Infinity)
  const until = ({ id, versionId, kind, intervention, runs }: InterventionWithRuns): InterventionWithRuns => {
    return { id, versionId, kind, intervention, runs: runs.filter(({ id }) => id < began) }
  }
  const environments = new Map(records.map(({ environment }) => [environment.version.id, environment]))
  const rows = records.map(({ id, environment, intervention, runs }) =>
    until({ id, versionId: environment.version.id, kind: 'candidate', intervention, runs }),
  )
  const own = references.filter(({ versionId }) => environments.has(versionId)).map(until)
  const then = buildRecords(environments, [...own, ...rows])
  return records.flatMap((record, index) => {
    if (record.runs.length === 0) return [record]
    const { runs, outcome, measured, verdict } = then[index]!
    if (runs.length === 0) return []
    const unchanged =
      runs.length === record.runs.length && verdict === record.verdict && sameGain(measured, record.measured)
    return [unchanged ? record : { ...record, runs, outcome, measured, verdict }]
  })
}

function sameGain(first: MeasuredGain | null, second: MeasuredGain | null): boolean {
  if (first === null || second === null) return first === second
  return (
    first.gain === second.gain &&
    first.standardError === second.standardError &&
    first.degreesOfFreedom === second.degreesOfFreedom &&
    first.probabilityBetter === second.probabilityBetter
  )
}
