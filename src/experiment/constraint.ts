/**
 * Constraints: predicates on metrics that a legal run must satisfy.
 */
import type { Constraint } from './environment.ts'

/** Rounding in a relative bound must not break a constraint that holds exactly. */
const tolerance = 1e-9

/**
 * The first constraint that the metrics break, as a sentence; null when all hold. A metric that was not read breaks its
 * constraint: it cannot be shown to hold. A relative bound needs the reference's value and is passed over without it (the
 * reference's own first runs). The bound is r + (factor - 1)|r|, so that a factor above 1 allows more for a negative r too.
 */
export function brokenConstraint(
  constraints: readonly Constraint[],
  metrics: Readonly<Record<string, number>>,
  referenceMetrics: Readonly<Record<string, number>> | null,
): string | null {
  for (const constraint of constraints) {
    const { metric, atMost, atLeast, relativeTo } = constraint
    const value = metrics[metric]
    if (value === undefined) return `${metric} was not read, and a constraint needs it`
    const reference = relativeTo === 'reference' ? referenceMetrics?.[metric] : null
    if (reference === undefined) continue
    const bound = (factor: number) => (reference === null ? factor : reference + (factor - 1) * Math.abs(reference))
    const words = (factor: number) =>
      reference === null ? `${factor}` : `${factor} times the reference's ${reference} (${bound(factor)})`
    const slack = (limit: number) => tolerance * Math.abs(limit)
    if (atMost !== undefined && !(value <= bound(atMost) + slack(bound(atMost)))) {
      return `${metric} is ${value}, and may be at most ${words(atMost)}`
    }
    if (atLeast !== undefined && !(value >= bound(atLeast) - slack(bound(atLeast)))) {
      return `${metric} is ${value}, and must be at least ${words(atLeast)}`
    }
  }
  return null
}
