/**
 * Which of several metrics a history is about, and which way is better, where its source does not say. A guess, and named as one.
 */
import type { Direction } from '../experiment/environment.ts'
import { directionOfName } from './direction.ts'

/** What a run costs is rarely what it is for. */
const costs =
  /mem|vram|gib|_gb|_mb|bytes|cost|usd|time|latency|seconds|duration|runtime|size|step|epoch|lr$|learning_rate|grad|params/i
const heldOut = /(^|[^a-z])(val|valid|validation|eval|test|dev|holdout|best|final)([^a-z]|$)/i

/**
 * The metric that most runs have, among those that are named like results: measured on held-out data before others, costs last.
 * `counts` says how many runs have each, in order of appearance. Null where there is none.
 */
export function guessedObjective(counts: ReadonlyMap<string, number>): string | null {
  const most = Math.max(0, ...counts.values())
  const rank = (name: string) =>
    (counts.get(name)! >= 0.5 * most ? 8 : 0) +
    (directionOfName(name) === null ? 0 : 4) +
    (costs.test(name) ? 0 : 4) +
    (heldOut.test(name) ? 2 : 0)
  let best: string | null = null
  for (const name of counts.keys()) if (best === null || rank(name) > rank(best)) best = name
  return best
}

/** The sentence for a guess, without its full stop. */
export function objectiveGuess(name: string, direction: Direction | null, why: string): string {
  if (direction === null) return `the metric is ${name}: ${why}; nothing tells whether higher or lower is better`
  return `the metric is ${name}, ${direction === 'minimize' ? 'lower' : 'higher'} is better: ${why}`
}
