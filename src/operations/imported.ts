/** What an import gives back. */
import type { Constraint } from '../experiment/environment.ts'
import type { MissingCode } from '../importers/commit-diffs.ts'
import type { Examined } from '../importers/examine.ts'
import type { ImportedHistory, UnusableRow } from '../importers/history.ts'
import type { StoredHistory } from '../importers/store-history.ts'
import type { ImportedReference } from './import-reference.ts'

export interface Imported {
  readonly source: string
  /** The source as it was named, for a further command. */
  readonly given: string
  /** What a person calls the format. */
  readonly format: string
  /** Nothing was stored. */
  readonly dryRun: boolean
  readonly ledger: string
  readonly environments: readonly ImportedEnvironment[]
  /** Of all environments together. */
  readonly added: number
  readonly known: number
  readonly unusable: ImportedEnvironment['unusable']
  readonly withoutCode: ImportedEnvironment['withoutCode']
  /** Rows of earlier readings that are left out from now on. */
  readonly replaced: number
  /** The flags of earlier imports by which it was read, as they stand on a command line; empty where those of this one counted. */
  readonly asBefore: readonly string[]
  /** Whether gains of the folder's environment are measured against a row of the import from now on. */
  readonly changesReference: boolean
}

export interface ImportedEnvironment {
  /** In the ledger. */
  readonly name: string
  /** Whether it is the environment of the folder. */
  readonly isHere: boolean
  readonly metrics: ImportedHistory['metrics']
  /** Whether the caller said which metric is the objective. */
  readonly metricSaid: boolean
  readonly constraints: readonly Constraint[]
  /** What the first rows are measured against; null where the source has no reference. */
  readonly reference: ImportedReference | null
  readonly statuses: ImportedHistory['statuses']
  /** Of a table: what its columns were taken for, by group, where their names do not say it. */
  readonly columns: readonly (readonly [label: string, columns: string])[]
  /** Of a table: columns that count as measured, and may have been set. */
  readonly doubtful: readonly string[]
  readonly guesses: readonly string[]
  readonly added: StoredHistory['added']
  readonly known: number
  /** That the source has of it, new or known. */
  readonly rows: number
  /** In a dry run: why it would be refused, and what could be done; null where nothing stands in the way. */
  readonly refusal: string | null
  /** Other environments that have these rows too. */
  readonly alsoIn: readonly string[]
  /** Where rows stood that an earlier import brought and that are not in the source any more. */
  readonly vanished: readonly string[]
  /** Whether rows that are known would be read otherwise now. */
  readonly isReadOtherwise: boolean
  readonly unusable: readonly UnusableRow[]
  readonly unusableByReason: Examined['unusable']
  readonly withoutCode: readonly MissingCode[]
  /** Rows that broke a rule. */
  readonly violated: number
  readonly leaking: Examined['leaking']
  /** In a dry run, of each text that said how it went: what is left of it, and what was cut out. */
  readonly cuts: readonly { readonly place: string; readonly tried: string; readonly cut: string }[]
  readonly atRisk: Examined['atRisk']
  readonly dates: Examined['dates']
  readonly changesReference: boolean
}
