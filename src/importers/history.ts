/**
 * The one shape every importer yields: what a log of experiments says, row by row, in the words of this project. Reading
 * only; `commit-diffs.ts` adds the code where git still has it, `store-history.ts` writes it into a ledger.
 */
import type { Constraint, Direction } from '../experiment/environment.ts'
import type { Intervention, Outcome } from '../experiment/intervention.ts'

export interface ImportedMetric {
  readonly name: string
  /** Null when neither the caller, nor the name, nor the kept rows tell; somebody has to be asked. */
  readonly direction: Direction | null
  /** Whether the choice of the metric, or its direction, is ours and not the caller's. */
  readonly guessed: boolean
}

/** `reference`: what later rows are measured against, with no change of its own. `kept`: tried, and built upon. `tried`: the rest. */
export type ImportedRole = 'reference' | 'kept' | 'tried'

export interface ImportedCode {
  readonly commit: string
  readonly tree: string
  /** Tree after the intervention's diff on its reference; null without a diff. Not `tree` where files are left out of the diff. */
  readonly treeAfterDiff: string | null
}

export interface ImportedRow {
  /** Content hash of the row: the same row is the same row in a file that has grown, moved, or changed its line ends. */
  readonly key: string
  /** Where it stands in the source, as a reader would look for it: `line 12`, `run 3f2a`, `trial 7`. */
  readonly place: string
  /** Where the source says one; runs whose seed is not known are counted. */
  readonly seed: number | null
  /** For a reference, `overrides` is its whole configuration, where the log has one. */
  readonly intervention: Intervention
  readonly outcome: Outcome
  readonly role: ImportedRole
  /**
   * Key of the row it was tried against: the one kept before it. Null where nothing came before, and for a reference; a
   * reference that is measured again names the row that measured it first.
   */
  readonly against: string | null
  /** As the log writes it; null where it writes none. */
  readonly commit: string | null
  /** What git has of that commit; null until `attachDiffs` found it, and where it does not tell this row from others. */
  readonly code: ImportedCode | null
  /** What the text says about the result, kept apart from what was tried. */
  readonly note: string | null
}

export interface UnusableRow {
  /** Like a row's key, with the number of the copy behind it. */
  readonly key: string
  readonly place: string
  readonly reason: string
  /** The row as written, shortened. */
  readonly text: string
}

/** A word of the source for how a run ended, what it was taken for, and how many rows have it. */
export interface ImportedStatus {
  readonly word: string
  readonly meaning: string
  readonly rows: number
}

/** What one environment of a source says; a source may hold several. */
export interface ImportedHistory {
  /** Where it came from, as the user names it. */
  readonly source: string
  /** The environment's name within the source: an experiment, a study, a project, a segment. Null where there is but one, without a name. */
  readonly name: string | null
  readonly description: string | null
  /** The first is the objective; the others were found beside it. */
  readonly metrics: readonly [ImportedMetric, ...ImportedMetric[]]
  /** Those that the source states, or the caller. */
  readonly constraints: readonly Constraint[]
  /** In the order of the log. */
  readonly rows: readonly ImportedRow[]
  readonly unusable: readonly UnusableRow[]
  readonly statuses: readonly ImportedStatus[]
  /** Of a table: what its columns were taken for, by group, where their names do not say it. */
  readonly columns?: readonly (readonly [label: string, columns: string])[]
  /** Of a table: columns that count as measured, and may have been set. */
  readonly doubtful?: readonly string[]
  /** What was inferred and not said, one sentence each: `the metric val_loss: its name says that lower is better`. */
  readonly guesses: readonly string[]
}
