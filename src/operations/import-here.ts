/**
 * Which of the histories of a source belongs to the environment of the folder, and what is known of it from there: it measures the same
 * objective. All others become environments of their own.
 */
import type { OpenEnvironment } from '../campaign/open-environment.ts'
import { objectiveOf } from '../experiment/environment.ts'
import type { ImportedHistory } from '../importers/history.ts'
import type { ImportOptions, Source } from '../importers/importer.ts'
import { type ReadSource, readSource } from '../importers/read-source.ts'

export interface ReadForFolder extends ReadSource {
  /** The one that is to become part of the folder's environment; null where none is. */
  readonly here: ImportedHistory | null
}

/**
 * `isExpected` when the user says that it is the folder's own log (it is the one that the environment file names, or they name the
 * column of its objective): then a source without the objective is an error, and not another environment.
 */
export async function readForFolder(
  source: Source,
  options: ImportOptions,
  format: string | undefined,
  opened: OpenEnvironment | null,
  isExpected: boolean,
): Promise<ReadForFolder> {
  if (opened === null) return { ...(await readSource(source, options, format)), here: null }
  const { name, direction } = objectiveOf(opened.family)
  const asObjective = { ...options, metric: { name, direction } }
  if (isExpected && options.metric === undefined) {
    const read = await readSource(source, asObjective, format)
    if (read.histories.length > 1) {
      const names = read.histories.map(each => each.name ?? 'one without a name').join(', ')
      throw new Error(
        `${source.name} holds several environments: ${names}; say which is this folder's, with --environment NAME`,
      )
    }
    return { ...read, here: only(read) }
  }
  const read = await readSource(source, options, format)
  const history = only(read)
  if (history === null) return { ...read, here: null }
  const [first, ...others] = history.metrics
  if (first.name === name && (first.direction === direction || first.guessed)) {
    return first.direction === direction ? { ...read, here: history } : readAgain()
  }
  return options.metric === undefined && others.some(other => other.name === name)
    ? readAgain()
    : { ...read, here: null }

  async function readAgain(): Promise<ReadForFolder> {
    const again = await readSource(source, asObjective, format)
    return { ...again, here: only(again) }
  }
}

function only({ histories }: ReadSource): ImportedHistory | null {
  return histories.length === 1 ? histories[0]! : null
}
