/**
 * One row of a results table: what was tried, how it ended, whether it was kept; or the reason why the row cannot be used.
 */
import type { Outcome, OutcomeKind } from '../experiment/intervention.ts'
import type { JsonObject } from '../experiment/json.ts'
import { alignedRow } from './aligned-row.ts'
import { saysBaseline } from './baseline.ts'
import type { Columns } from './columns.ts'
import { zeroMeansMissing } from './direction.ts'
import { isPending, meaningOf, type StatusMeaning } from './status-words.ts'
import type { TableLine } from './table.ts'
import { boundedText, triedIn } from './tried.ts'
import { commitIn, isMissing, isNotFinite, looksLikeHash, momentIn, numberIn } from './value.ts'

export interface ReadRow {
  /** Null where the table has no status. */
  readonly role: StatusMeaning['role'] | null
  /** As written; null where the table has none. */
  readonly status: string | null
  readonly saysBaseline: boolean
  /** What the log calls it: its tag, or its commit. */
  readonly name: string | null
  readonly sentence: string
  readonly note: string | null
  readonly outcome: Outcome
  readonly commit: string | null
  readonly seed: number | null
  /** Which of several environments in one file; an empty text where there is one. */
  readonly series: string
  /** In a table of settings: what was set. */
  readonly options: JsonObject | null
  /** What was set is all that tells rows apart. */
  readonly isOfSweep: boolean
}

export function readRow(
  line: TableLine,
  columns: Columns,
  objective: number,
  objectiveName: string,
): ReadRow | { reason: string } {
  const row = alignedRow(line, columns)
  if (row === null) return { reason: statusReason(line.cells[columns.status!] ?? '', line, columns) }
  const written = columns.status === null ? '' : row.cell(columns.status)
  const status = columns.status === null || (columns.saysFailuresOnly && isMissing(written)) ? null : written
  if (status !== null && isPending(status)) return { reason: `was not run: its status is "${status}"` }
  const meaning = status === null ? null : meaningOf(status)!
  const text = {
    tag: textIn(row.cell(columns.tag)),
    proposal: textIn(row.cell(columns.proposal)),
    description: textIn(row.cell(columns.description)),
    configuration: textIn(row.cell(columns.configuration)),
    extra: row.extra,
  }
  const commit = commitIn(row.cell(columns.commit))
  const options = columns.options.length === 0 ? null : optionsIn(columns, row.cell)
  const ended = outcomeIn(row.cell(objective), meaning?.kind ?? 'finished', objectiveName, status)
  const values = 'value' in ended && ended.value !== null ? [ended.value] : []
  const tried = triedIn({ ...text, values })
  const { sentence } = tried
  const notes = columns.notes.flatMap(index => textIn(row.cell(index)) ?? [])
  const note = [tried.note, ...notes].filter(Boolean).join('; ') || null
  const named = sentence || (commit !== null && looksLikeHash(commit) ? `the change of commit ${commit}` : '')
  if (named === '' && options === null) return { reason: 'nothing says what was tried: no description, and no commit' }
  if ('reason' in ended) return ended
  return {
    role: meaning?.role ?? null,
    status,
    saysBaseline: saysBaseline({ commit, tag: text.tag, description: text.description }),
    name: text.tag ?? commit,
    sentence: named,
    note,
    outcome: {
      kind: ended.kind,
      reason:
        ended.kind === 'finished'
          ? null
          : [`the log says "${status ?? row.cell(objective)}"`, note].filter(Boolean).join(': '),
      metrics: metricsIn(columns, row.cell, objective, objectiveName, ended),
      exitCode: null,
      startedAt: null,
      finishedAt: momentIn(row.cell(columns.time)),
      seconds: null,
      cost: null,
    },
    commit,
    seed: seedIn(row.cell(columns.seed)),
    series: columns.series === null ? '' : row.cell(columns.series),
    options,
    isOfSweep: columns.isSweep && options !== null,
  }
}

function statusReason(cell: string, line: TableLine, columns: Columns): string {
  const { length } = line.cells
  const cells =
    length === columns.names.length
      ? ''
      : ` (the row has ${length} cell${length === 1 ? '' : 's'}, the header ${columns.names.length})`
  if (isMissing(cell)) return `no status${cells}`
  return `unknown status "${cell.length > 40 ? `${cell.slice(0, 40)}…` : cell}"${cells}`
}

/** How it ended and its number; a number is not believed of a run that failed, and 0 not of a metric that cannot be 0. */
function outcomeIn(
  cell: string,
  kind: OutcomeKind,
  metric: string,
  status: string | null,
): { kind: OutcomeKind; value: number | null } | { reason: string } {
  if (isNotFinite(cell) && (kind === 'finished' || kind === 'diverged' || kind === 'crashed'))
    return { kind: 'diverged', value: null }
  const value = numberIn(cell)
  const measured = value !== null && !(value === 0 && zeroMeansMissing(metric)) ? value : null
  if (kind === 'violated') return { kind, value: measured }
  if (kind !== 'finished') return { kind, value: null }
  if (measured !== null) return { kind, value: measured }
  const written = isMissing(cell)
    ? ''
    : value === 0
      ? ' (0 stands for a value that was not measured)'
      : `: "${cell}" is not a number`
  return { reason: `${status === null ? '' : `status "${status}", but `}no value of ${metric}${written}` }
}

function metricsIn(
  columns: Columns,
  cell: (index: number) => string,
  objective: number,
  objectiveName: string,
  ended: { kind: OutcomeKind; value: number | null },
): Record<string, number> {
  if (ended.kind !== 'finished' && ended.kind !== 'violated') return {}
  const metrics: Record<string, number> = ended.value === null ? {} : { [objectiveName]: ended.value }
  for (const { index, name } of columns.metrics) {
    const value = numberIn(cell(index))
    if (index === objective || value === null || (value === 0 && zeroMeansMissing(name))) continue
    metrics[name] = value
  }
  return metrics
}

function seedIn(cell: string): number | null {
  return /^\d{1,15}$/.test(cell.trim()) ? Number(cell) : null
}

function optionsIn(columns: Columns, cell: (index: number) => string): JsonObject {
  const set = columns.options.filter(({ index }) => !isMissing(cell(index)))
  return Object.fromEntries(set.map(({ index, name }) => [name, optionValue(cell(index))]))
}

function optionValue(cell: string): string | number | boolean {
  if (/^(true|false)$/i.test(cell)) return cell.toLowerCase() === 'true'
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(cell) ? Number(cell) : cell
}

function textIn(cell: string): string | null {
  return isMissing(cell) ? null : boundedText(cell)
}
