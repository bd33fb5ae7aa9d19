/**
 * One or more changes relative to the reference of a version, written down before they run; and the outcome words for
 * what then happened.
 */
import type { Json, JsonObject } from './json.ts'

export interface Intervention {
  /** The sentence that proposes it: what is changed and why it might help. Never says how it went. */
  readonly sentence: string
  /** JSON merge patch (RFC 7396) on the reference configuration. */
  readonly overrides: JsonObject | null
  /** Unified diff against the reference's tree. */
  readonly diff: string | null
  /** Mechanism tags: what kind of change it is, in a word or two each. */
  readonly tags: readonly string[]
  /** Where it came from: a card's name, a file and row, `working tree`. */
  readonly origin: string | null
}

/** One option that an intervention changes: its value in the reference and its new value; undefined where it is absent. */
export interface ChangedOption {
  /** Dotted path in the configuration, or `file:NAME` for a literal assignment in a diff. */
  readonly option: string
  readonly from: Json | undefined
  readonly to: Json | undefined
}

/**
 * How a run ended. `finished`: legal, with its metrics. `crashed`: with a reason. `diverged`: the metric is not a finite
 * number. `timed-out`: over its time. `violated`: a number exists, a constraint is broken. `infrastructure`: says nothing
 * about the idea. `cancelled`: by the user.
 */
export const outcomeKinds = [
  'finished',
  'crashed',
  'diverged',
  'timed-out',
  'violated',
  'infrastructure',
  'cancelled',
] as const
export type OutcomeKind = (typeof outcomeKinds)[number]

/** Whether an outcome says something about the idea: the others are tried again and never counted. */
export function isEvidence(kind: OutcomeKind): boolean {
  return kind !== 'infrastructure' && kind !== 'cancelled'
}

export interface Outcome {
  readonly kind: OutcomeKind
  /** For anything but `finished`: exit code, signal, missing metric, broken constraint, in one sentence. */
  readonly reason: string | null
  /** What was read, NaN and infinities left out; present for `violated` too. */
  readonly metrics: Readonly<Record<string, number>>
  readonly exitCode: number | null
  /** ISO 8601, UTC; null where an import did not know. */
  readonly startedAt: string | null
  readonly finishedAt: string | null
  readonly seconds: number | null
  /** In the environment's currency, where it states a price. */
  readonly cost: number | null
}

/** One execution of an intervention with one seed. */
export interface Run {
  readonly id: number
  readonly versionId: string
  readonly interventionId: number
  readonly seed: number
  readonly attempt: number
  /** Null while it is queued or running: those are derived, never stored. */
  readonly outcome: Outcome | null
}
