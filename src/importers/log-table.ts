/** A log as a table, wherever it came from: tab-separated text, CSV, or records with names. */
import type { Direction } from '../experiment/environment.ts'
import type { BrokenRecord } from './json-records.ts'
import type { TableLine } from './table.ts'

export interface LogTable {
  readonly source: string
  /** Of the environment, where the source says one. */
  readonly name: string | null
  readonly description: string | null
  /** Null where the first line is a row already. */
  readonly header: readonly string[] | null
  /** Gone through more than once; each time from the beginning. */
  readonly lines: Iterable<TableLine>
  /** Lines that are no row of the table, with the reason. */
  readonly broken?: readonly BrokenRecord[]
  /** What the source itself says its objective is: the name of the column that holds it. */
  readonly objective?: { readonly name: string; readonly direction: Direction | null }
}
