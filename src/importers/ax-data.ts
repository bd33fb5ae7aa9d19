/**
 * What Ax measured: for each arm of a trial the mean of each metric. Its standard errors are not read: they are of one evaluation, and the
 * noise here is what repeats differ by.
 */
import { type AxObject, objectIn, rowsIn } from './ax-value.ts'

/** By metric; may be NaN or infinite. */
export type ArmMeans = Readonly<Record<string, number>>

/**
 * By trial and arm: `3 3_0`. Of several fetches the last one counts, and of values along a run the one of the last step.
 */
export function meansByArm(dataByTrial: unknown): ReadonlyMap<string, ArmMeans> {
  const found = new Map<string, Record<string, number>>()
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

function addRows(found: Map<string, Record<string, number>>, rows: readonly AxObject[]): void {
  const stepOf = (row: AxObject) => Number(row['step'] ?? Number.POSITIVE_INFINITY)
  for (const row of [...rows].sort((a, b) => (stepOf(a) < stepOf(b) ? -1 : stepOf(a) > stepOf(b) ? 1 : 0))) {
    const { trial_index, arm_name, metric_name, mean } = row
    if (typeof metric_name !== 'string') continue
    const key = `${trial_index} ${arm_name}`
    const means = found.get(key) ?? {}
    found.set(key, means)
    // Pandas writes NaN as null.
    means[metric_name] = typeof mean === 'number' ? mean : Number.NaN
  }
}
