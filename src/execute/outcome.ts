/**
 * From how a process ended and what it left behind to the outcome of a run, in the experiment's words.
 */
import type { Outcome } from '../experiment/intervention.ts'
import type { Exit } from './exit.ts'
import type { Readings } from './read-metrics.ts'

export interface Evidence {
  readonly exit: Exit | 'lost'
  readonly readings: Readings
  /** Name of the metric that decides: without it the run crashed, and diverged when it is not finite. */
  readonly objective: string
  /** The sentence of a broken constraint, by someone who knows the reference; null when none is. */
  readonly broken: string | null
  /** The last line of the program's errors, to explain a crash; data, cut and cleaned here. */
  readonly lastLine?: string | null
  readonly cost?: number | null
}

export function outcomeOf(evidence: Evidence): Outcome {
  throw new Error(`outcomeOf is being written: ${evidence.objective}`)
}
