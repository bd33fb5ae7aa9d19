/**
 * What every importer is: one file for one format, which tells whether a source is of its kind and reads it. Reading only; nothing of a
 * source is executed, and no link out of it is followed.
 */
import type { Constraint, Direction } from '../experiment/environment.ts'
import type { ImportedHistory } from './history.ts'

/** What the user names: a file, a folder, or an address on the web. */
export type Source =
  | { readonly kind: 'file'; readonly path: string; readonly name: string }
  | { readonly kind: 'folder'; readonly path: string; readonly name: string }
  | { readonly kind: 'address'; readonly url: URL; readonly name: string }

export interface ImportOptions {
  /** The objective, where the caller says one; its direction, where that is known too. */
  readonly metric?: { readonly name: string; readonly direction?: Direction }
  /** What stands in which column or field, where the importer's guess is wrong: the source's name for each role, such as `metric`. */
  readonly columns?: Readonly<Record<string, string>>
  /** The run that others are changes of, by its id or name. */
  readonly reference?: string
  /** The one environment of several that is wanted, by name. */
  readonly environment?: string
  readonly constraints?: readonly Constraint[]
  /** Of a git repository: the revision or range whose commits are read, such as `main` or `v1..HEAD`. Without it, `HEAD`. */
  readonly revisions?: string
  /** Mail addresses, hosts, user names, home paths and arguments are read too. */
  readonly keepPersonal?: boolean
  /** The secret of a server that wants one; never stored or printed. */
  readonly token?: string
  readonly signal?: AbortSignal
  /** Told how many rows were read, now and then. */
  readonly progress?: (rows: number) => void
}

export interface Importer {
  /** What `--format` calls it. */
  readonly name: string
  /** What a person calls it: `MLflow, SQLite`. */
  readonly title: string
  /** Which of the options that not every format has a use for it takes; the others are refused. */
  readonly takes: readonly ('columns' | 'reference' | 'revisions')[]
  recognises(source: Source): boolean | Promise<boolean>
  /** One history for each environment of the source. Throws a sentence where the source cannot be read at all. */
  read(source: Source, options: ImportOptions): Promise<readonly ImportedHistory[]>
}
