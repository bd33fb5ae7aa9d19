/**
 * The rows of a git history in the words of every import. Pure.
 */
import type { Outcome } from '../experiment/intervention.ts'
import { contentHash } from '../experiment/json.ts'
import type { LineCommit } from '../repository/commit-line.ts'
import type { CodeDiff } from './git-code.ts'
import type { LineRow } from './git-line.ts'
import type { GitMessage } from './git-message.ts'
import { type Span, wordsOfMessage } from './git-sentence.ts'
import type { ImportedRole, ImportedRow } from './history.ts'

export interface RowSource {
  readonly source: string
  readonly commits: readonly LineCommit[]
  /** Of each commit. */
  readonly messages: readonly GitMessage[]
  /** What a row changed; null for a reference. */
  codeOf(row: LineRow): CodeDiff | null
  metricsOf(row: LineRow): Outcome['metrics']
  /** Where a text states the metric. */
  resultsIn(text: string): readonly Span[]
}

export function importedRows(rows: readonly LineRow[], from: RowSource): ImportedRow[] {
  const builtUpon = new Set(rows.map(row => row.against))
  return rows.map(row => importedRow(row, roleOf(row, builtUpon.has(row)), from))
}

/** What others were tried on was kept, whatever was said of it later. */
function roleOf({ isReference, takenBackBy, measurement }: LineRow, isBuiltUpon: boolean): ImportedRole {
  if (isReference) return 'reference'
  const isKept = takenBackBy === null && measurement.kind === 'finished' && !measurement.isDiscarded
  return isBuiltUpon || isKept ? 'kept' : 'tried'
}

function importedRow(row: LineRow, role: ImportedRole, from: RowSource): ImportedRow {
  const { commits, source } = from
  const commit = commits[row.code]!
  const code = from.codeOf(row)
  const text = textOf(row, from)
  const words = wordsOfMessage(text, from.resultsIn(text))
  const takenBack = row.takenBackBy === null ? '' : `taken back by ${commits[row.takenBackBy]!.commit.slice(0, 7)}`
  return {
    key: keyOf(commits[row.at]!, commit),
    place: placeOf(commit),
    seed: null,
    intervention: {
      sentence: words.sentence || `the change of ${placeOf(commit)}`,
      overrides: null,
      diff: code?.diff || null,
      tags: [],
      origin: source,
    },
    outcome: {
      kind: row.measurement.kind,
      reason: row.measurement.reason,
      metrics: from.metricsOf(row),
      exitCode: null,
      startedAt: null,
      finishedAt: momentOf(commits[row.at]!.date),
      seconds: null,
      cost: null,
    },
    role,
    against: row.against === null ? null : keyOf(commits[row.against.at]!, commits[row.against.code]!),
    commit: commit.commit,
    code: { commit: commit.commit, tree: commit.tree, treeAfterDiff: code?.treeAfterDiff ?? null },
    note: [words.note, takenBack].filter(part => part !== '').join('; ') || null,
  }
}

/** Of several commits that are one change, what stands below the subjects would be too much. */
function textOf(row: LineRow, { messages }: RowSource): string {
  return row.changes.length > 1 ? row.changes.map(step => messages[step]!.subject).join('\n') : messages[row.code]!.text
}

/** A result and the code that it is of: two results may be written down at once. */
export function keyOf({ commit }: LineCommit, code?: LineCommit): string {
  return contentHash({ commit, code: code?.commit ?? commit })
}

export function placeOf({ commit }: LineCommit): string {
  return `commit ${commit.slice(0, 7)}`
}

/** Null for a date that git could not make sense of. */
function momentOf(date: string): string | null {
  const moment = new Date(date)
  return Number.isNaN(moment.getTime()) ? null : moment.toISOString()
}
