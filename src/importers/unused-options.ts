/** Options that a format has no use for: what the user asked for would be left out in silence. */
import type { Importer, ImportOptions, Source } from './importer.ts'

/** Throws a sentence where one is given. */
export function refuseUnusedOptions({ title, takes }: Importer, source: Source, options: ImportOptions): void {
  const format = `${source.name} is read as ${title}`
  if (options.revisions !== undefined && !takes.includes('revisions')) {
    throw new Error(
      `--revisions names commits of a git repository, and ${format}: leave it out, or name the repository`,
    )
  }
  if (options.reference !== undefined && !takes.includes('reference')) {
    throw new Error(
      `--reference names a run of a tracker or a sweep, and ${format}, which says itself what it was measured against: leave it out`,
    )
  }
  if (options.columns !== undefined && !takes.includes('columns')) refuseColumns(source, options)
}

/** For a source that says itself what its values are. */
export function refuseColumns(source: Source, { columns }: ImportOptions): void {
  if (columns === undefined) return
  const metric = columns['metric']?.split('\n')[0]
  const instead = metric === undefined ? 'leave it out' : `the metric is chosen with --metric ${metric}`
  throw new Error(`--column says what stands in a column of a table, and ${source.name} is none: ${instead}`)
}
