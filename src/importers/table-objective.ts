/** The column of the metric: the one that is named, the one that the source states, or the first that can be one. */
import { columnNamed, costs } from './column-names.ts'
import type { Columns } from './columns.ts'
import { directionOfName } from './direction.ts'
import type { LogTable } from './log-table.ts'
import type { TableOptions } from './table-history.ts'

export interface FoundObjective {
  readonly index: number
  /** Why it was taken, as the end of a sentence. */
  readonly why: string
}

/** Throws a sentence with the columns that there are. */
export function objectiveColumn(columns: Columns, table: LogTable, options: TableOptions): FoundObjective {
  const { source } = table
  const wanted = options.columns?.['metric'] ?? options.metric?.name ?? table.objective?.name
  if (wanted !== undefined) {
    const index = columnNamed(columns.names, wanted)
    if (index >= 0) return { index, why: 'it was named' }
    throw new Error(`${source} has no column "${wanted}" for the metric: its columns are ${columns.names.join(', ')}`)
  }
  const candidates = columns.metrics
  const pick =
    candidates.find(({ name }) => directionOfName(name) !== null && !costs.test(name)) ??
    (columns.options.length > 0 ? candidates.findLast(({ name }) => directionOfName(name) !== null) : undefined) ??
    candidates[0]
  if (pick) return { index: pick.index, why: 'the first column that can be one' }
  throw new Error(
    `${source} has no column of numbers that could be the metric: its columns are ${columns.names.join(', ')}`,
  )
}
