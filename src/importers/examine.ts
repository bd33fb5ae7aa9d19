/**
 * What a person should know of a history before it is stored: how many of its texts tell the result, which rows are better than
 * plausible, when it was, and why rows were left out. Pure; nothing is changed by it.
 */
import type { Direction } from '../experiment/environment.ts'
import { mean, median } from '../statistics/summary.ts'
import { measuredNumber } from '../text/measured-number.ts'
import { outcomeWords } from '../text/outcome-words.ts'
import type { ImportedHistory, ImportedRow } from './history.ts'

export interface Examined {
  /** Rows whose text, as written, says something of the result. It was split off into the note. */
  readonly leaking: { readonly rows: number; readonly share: number }
  /** Finished rows that are better than plausible, by a guess. */
  readonly atRisk: readonly RowAtRisk[]
  /** ISO 8601; null where no row has a time. */
  readonly dates: { readonly first: string; readonly last: string } | null
  /** The most frequent reason first. Numbers and names in the reasons are left out to group them. */
  readonly unusable: readonly { readonly reason: string; readonly rows: number; readonly places: readonly string[] }[]
}

export interface RowAtRisk {
  readonly place: string
  readonly value: number
  /** How far it is from the middle of the others, in robust standard deviations. */
  readonly deviations: number
}

export function examine(history: ImportedHistory): Examined {
  const rows = history.rows.filter(({ note, intervention }) => note !== null || intervention.sentence !== '')
  const leaking = leakingRows(history).length
  return {
    leaking: { rows: leaking, share: rows.length === 0 ? 0 : leaking / rows.length },
    atRisk: rowsAtRisk(history),
    dates: datesOf(history.rows),
    unusable: reasonsOf(history),
  }
}

/** Those whose text, as written, said something of the result: their note has it now. */
export function leakingRows({ rows, metrics }: ImportedHistory): ImportedRow[] {
  return rows.filter(row => saysResult(row, metrics[0].name))
}

/** The note holds what was split off; a note that was one from the beginning counts where it speaks of the result. */
function saysResult({ note, outcome }: ImportedRow, objective: string): boolean {
  if (note === null) return false
  const value = outcome.metrics[objective]
  return outcomeWords(note).length > 0 || (value !== undefined && measuredNumber(note, [value]) !== null)
}

/** Beyond this many robust standard deviations a result is not believed without a look. */
const plausible = 8
const fewest = 8

/**
 * Steps that are better than plausible. Where the log keeps rows, a step is the improvement of a row over the one it was tried on, and
 * the kept ones say what is usual; otherwise it is the value itself among all values.
 */
export function rowsAtRisk({ rows, metrics }: ImportedHistory): RowAtRisk[] {
  const { name, direction } = metrics[0]
  if (direction === null) return []
  const value = (row: ImportedRow) => (row.outcome.kind === 'finished' ? row.outcome.metrics[name] : undefined)
  const byKey = new Map(rows.flatMap(row => (row.role === 'tried' ? [] : [[row.key, value(row)] as const])))
  const keeps = rows.some(({ role }) => role === 'kept')
  const stepOf = (row: ImportedRow): number | undefined => {
    const own = value(row)
    const base = !keeps ? 0 : row.against === null ? undefined : byKey.get(row.against)
    return own === undefined || base === undefined ? undefined : signed(own - base, direction)
  }
  // Twice over the rows, and nothing kept of each: there may be a million.
  const usual: number[] = []
  for (const row of rows) {
    const step = keeps && row.role !== 'kept' ? undefined : stepOf(row)
    if (step !== undefined) usual.push(step)
  }
  if (usual.length < fewest) return []
  const middle = median(usual)
  const away = usual.map(step => Math.abs(step - middle))
  // Steps that are mostly equal have a median deviation of 0; then the mean one, scaled for normal values too.
  const spread = 1.4826 * median(away) || 1.2533 * mean(away)
  if (!(spread > 0)) return []
  return rows.flatMap(row => {
    const step = row.role === 'reference' ? undefined : stepOf(row)
    const deviations = step === undefined ? 0 : (step - middle) / spread
    return deviations > plausible ? [{ place: row.place, value: value(row)!, deviations }] : []
  })
}

function signed(difference: number, direction: Direction): number {
  return direction === 'maximize' ? difference : -difference
}

function datesOf(rows: readonly ImportedRow[]): Examined['dates'] {
  let first: string | null = null
  let last: string | null = null
  for (const { outcome } of rows) {
    for (const moment of [outcome.startedAt, outcome.finishedAt]) {
      if (moment === null) continue
      if (first === null || moment < first) first = moment
      if (last === null || moment > last) last = moment
    }
  }
  return first === null || last === null ? null : { first, last }
}

function reasonsOf({ unusable }: ImportedHistory): Examined['unusable'] {
  const groups = Map.groupBy(unusable, ({ reason }) =>
    reason.replace(/\b[0-9a-f]{7,40}\b/g, '…').replace(/\b(line|row|run|trial) \S+?(?=[,.;:]?(\s|$))/g, '$1 …'),
  )
  return [...groups]
    .map(([reason, rows]) => ({ reason, rows: rows.length, places: rows.map(({ place }) => place) }))
    .sort((a, b) => b.rows - a.rows)
}
