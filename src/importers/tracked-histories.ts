/**
 * All environments of a tracker. One of several in which nothing was ever measured is passed over, and so is one without the metric
 * that was asked for; only where none is left is that an error.
 */
import type { ImportedHistory } from './history.ts'
import type { ImportOptions } from './importer.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'
import { trackedHistory } from './tracked-history.ts'

/** Throws a sentence that names the environments there are, where the one that was asked for is not among them. */
export function trackedHistories(
  experiments: readonly TrackedExperiment[],
  source: string,
  options: ImportOptions,
): readonly ImportedHistory[] {
  if (experiments.length === 0) {
    throw new Error(
      options.environment === undefined
        ? `${source} has no runs`
        : `${source} has no runs of "${options.environment}"; leave the environment out to see which there are`,
    )
  }
  const histories: ImportedHistory[] = []
  const refused: unknown[] = []
  for (const experiment of experiments) {
    try {
      histories.push(trackedHistory(experiment, source, options))
    } catch (error) {
      refused.push(error)
    }
  }
  if (histories.length === 0) throw refused[0]
  return histories
}
