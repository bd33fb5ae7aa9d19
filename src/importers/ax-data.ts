/**
 * What Ax measured: for each arm of a trial the mean of each metric and its standard error. An error that is not known is missing,
 * which is not the same as 0: that says there is no noise.
 */
import { type AxObject, objectIn, rowsIn } from './ax-value.ts'

export interface ArmData {
  /** May be NaN or infinite. */
  readonly means: Record<string, number>
  /** Only those that are known. */
  readonly standardErrors: Record<string, number>
}

/**
 * By trial and arm: `3 3_0`. Of several fetches the last one counts, and of values along a run the one of the last step.
 */
export function dataByArm(dataByTrial: unknown): ReadonlyMap<string, ArmData> {
  const found = new Map<string, ArmData>()
  for (const fetches of Object.values(objectIn(dataByTrial) ?? {})) {
    const inOrder = Object.entries(objectIn(fetches) ?? {}).sort(([a], [b]) => Number(a) - Number(b))
    for (const [, data] of inOrder) addRows(found, rowsOf(objectIn(data) ?? {}))
  }
  return found
}

/** Older versions keep values along a run in a frame of their own. */
function rowsOf(data: AxObject): readonly AxObject[] {
  const rows = rowsIn(data['df'])
  return rows.length > 0 ? rows : rowsIn(data['map_df'])
}

function addRows(found: Map<string, ArmData>, rows: readonly AxObject[]): void {
  const stepOf = (row: AxObject) => Number(row['step'] ?? Number.POSITIVE_INFINITY)
  for (const row of [...rows].sort((a, b) => (stepOf(a) < stepOf(b) ? -1 : stepOf(a) > stepOf(b) ? 1 : 0))) {
    const { trial_index, arm_name, metric_name, mean, sem } = row
    if (typeof metric_name !== 'string') continue
    const key = `${trial_index} ${arm_name}`
    const data = found.get(key) ?? { means: {}, standardErrors: {} }
    found.set(key, data)
    // Pandas writes NaN as null.
    data.means[metric_name] = typeof mean === 'number' ? mean : Number.NaN
    if (typeof sem === 'number' && Number.isFinite(sem)) data.standardErrors[metric_name] = sem
    else delete data.standardErrors[metric_name]
  }
}
