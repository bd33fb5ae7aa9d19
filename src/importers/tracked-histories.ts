/**
 * All environments of a tracker. One of several in which nothing was ever measured, or that lacks the metric that was asked for, is
 * listed among what the first could not use; only where none is left is that an error.
 */
import { contentHash } from '../experiment/json.ts'
import type { ImportedHistory, UnusableRow } from './history.ts'
import type { ImportOptions } from './importer.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'
import { trackedHistory } from './tracked-history.ts'

/** Throws a sentence where nothing is left to import. */
export function trackedHistories(
  experiments: readonly TrackedExperiment[],
  source: string,
  options: ImportOptions = {},
): readonly ImportedHistory[] {
  const { environment } = options
  if (experiments.length === 0) {
    throw new Error(
      environment === undefined
        ? `${source} has no runs`
        : `${source} has no runs of "${environment}"; leave the environment out to see which there are`,
    )
  }
  const named = experiments.filter(({ name }) => name === environment || `${source}/${name}` === environment)
  const wanted = environment === undefined || named.length === 0 ? experiments : named
  const histories: ImportedHistory[] = []
  const skipped: UnusableRow[] = []
  const refused: unknown[] = []
  for (const experiment of wanted) {
    try {
      histories.push(trackedHistory(experiment, source, options))
    } catch (error) {
      refused.push(error)
      const place = `experiment ${experiment.name ?? 'without a name'}`
      const text = `${experiment.runs.length} runs`
      skipped.push({ key: contentHash([place]), place, reason: (error as Error).message, text })
    }
  }
  const [first, ...others] = histories
  if (first === undefined) throw refused[0]
  return [{ ...first, unusable: [...first.unusable, ...skipped] }, ...others]
}
