/**
 * What a tracker knows: runs with whole configurations, not changes of a reference. Importers of trackers yield this; which run is the
 * reference, and what each other one changed, is found in one place for all of them (`tracked-history.ts`).
 */
import type { Constraint, Direction } from '../experiment/environment.ts'
import type { OutcomeKind } from '../experiment/intervention.ts'
import type { JsonObject } from '../experiment/json.ts'
import type { UnusableRow } from './history.ts'

export interface TrackedRun {
  /** The source's own, unique in its experiment. */
  readonly id: string
  readonly name: string | null
  /** As in ImportedRow: `run 3f2a`, `trial 7`. */
  readonly place: string
  /** Everything that was set, nested as the source has it; a seed among it is found and taken out later. Empty where the source has none. */
  readonly configuration: JsonObject
  /** Where the source has a field of its own for it. */
  readonly seed: number | null
  readonly kind: OutcomeKind
  /** The source's word for how it ended. */
  readonly status: string | null
  /** Why it did not finish; null for one that did. */
  readonly reason: string | null
  /** Finite numbers only. */
  readonly metrics: Readonly<Record<string, number>>
  /** Metrics whose value is NaN or infinite: a run that finished with such an objective diverged. */
  readonly notFinite?: readonly string[]
  /** Moments in ISO 8601. */
  readonly startedAt: string | null
  readonly finishedAt: string | null
  readonly seconds: number | null
  /** What a person or an agent wrote of what was tried, before it ran where the source tells; outcome words are split off later. */
  readonly text: string | null
  /** Written after the run. */
  readonly note: string | null
  readonly tags: readonly string[]
  /** Whether the source marks it as what others are compared with. */
  readonly isBaseline: boolean
  /** The run that it was made from (trees of programs), by id; null where the source has no such thing, and for a root. */
  readonly parent: string | null
  /** What changed in the code from its parent, as a unified diff. */
  readonly diff: string | null
  readonly commit: string | null
}

export interface TrackedExperiment {
  /** Null where the source gives it no name. */
  readonly name: string | null
  readonly description: string | null
  /** Null where the source does not say which of the metrics it is about. */
  readonly objective: { readonly name: string; readonly direction: Direction | null } | null
  readonly constraints: readonly Constraint[]
  /** In order of time. */
  readonly runs: readonly TrackedRun[]
  readonly unusable: readonly UnusableRow[]
  /** What the importer itself inferred, as in ImportedHistory. */
  readonly guesses: readonly string[]
}
