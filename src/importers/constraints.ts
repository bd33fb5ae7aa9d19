/**
 * Rules on an imported history: a row that breaks a constraint keeps its number and is `violated`, so it is no gain, whatever the log
 * says of it. Pure.
 */
import { brokenConstraint } from '../experiment/constraint.ts'
import type { Constraint } from '../experiment/environment.ts'
import type { ImportedHistory, ImportedRow } from './history.ts'

/**
 * A metric that a row does not have breaks nothing here: logs leave out what nobody thought of. A relative bound is held against the
 * first measurement of what the row was tried on.
 */
export function withConstraints(history: ImportedHistory, constraints: readonly Constraint[]): ImportedHistory {
  if (constraints.length === 0) return history
  const measured = new Map<string, ImportedRow['outcome']['metrics']>()
  const rows = history.rows.map((row): ImportedRow => {
    if (row.role !== 'tried') measured.set(row.key, row.outcome.metrics)
    if (row.outcome.kind !== 'finished') return row
    const { metrics } = row.outcome
    const had = constraints.filter(({ metric }) => metrics[metric] !== undefined)
    const reference = row.against === null ? null : (measured.get(row.against) ?? {})
    const applied = had.filter(({ relativeTo }) => relativeTo === undefined || reference !== null)
    const broken = brokenConstraint(applied, metrics, reference)
    return broken === null ? row : { ...row, outcome: { ...row.outcome, kind: 'violated', reason: broken } }
  })
  return { ...history, rows }
}
