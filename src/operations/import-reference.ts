/** What the first rows of an import are measured against; and where that was never measured, what follows from it. */
import type { ImportedHistory, ImportedRow } from '../importers/history.ts'
import { countText } from '../report/numbers.ts'
import { singleLine } from '../report/outside-text.ts'

export interface ImportedReference {
  readonly place: string
  readonly sentence: string
  /** Null where it was measured. Else how it ended, how many rows were tried on it, and which later row is the first to be one. */
  readonly unmeasured: { readonly outcome: string; readonly rows: number; readonly next: string | null } | null
}

/** Null where the source has none. */
export function referenceIn({ rows }: ImportedHistory): ImportedReference | null {
  const first = rows.find(({ role }) => role === 'reference')
  if (first === undefined) return null
  const finished = ({ outcome }: ImportedRow) => outcome.kind === 'finished'
  const isMeasured = rows.some(
    row => finished(row) && (row === first || (row.role === 'reference' && row.against === first.key)),
  )
  const { place, intervention, outcome } = first
  const next = rows.find(row => row !== first && row.role !== 'tried' && finished(row)) ?? null
  const unmeasured = {
    outcome: outcome.kind,
    rows: rows.filter(({ role, against }) => role !== 'reference' && against === first.key).length,
    next: next?.place ?? null,
  }
  return { place, sentence: intervention.sentence, unmeasured: isMeasured ? null : unmeasured }
}

/** Null where it was measured, or nothing was tried on it. */
export function unmeasuredText(reference: ImportedReference | null): string | null {
  if (reference === null || reference.unmeasured === null || reference.unmeasured.rows === 0) return null
  const { outcome, rows, next } = reference.unmeasured
  const then =
    next === null
      ? 'What helps is a row that measures it, or of a tracker or a sweep --reference with a run that finished.'
      : `From ${next} on, which was kept, there are gains.`
  return `${singleLine(reference.place)} measures nothing (${outcome}), so ${countText(rows, 'row')} tried on it ${rows === 1 ? 'has' : 'have'} no gain. ${then}`
}
