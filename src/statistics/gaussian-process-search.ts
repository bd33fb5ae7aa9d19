/**
 * The search for hyper-parameters: random starts around a prior guess, then the simplex method of Nelder and Mead (1965)
 * from the best of them. No gradients, a fixed number of evaluations, and the same result for the same generator.
 */
import type { Random } from './random.ts'

export interface SearchPlan {
  /** Where to begin: the centre of the prior, in the coordinates of the objective (logarithms of scales, usually). */
  readonly centre: readonly number[]
  /** How far random starts stray from it, one standard deviation a coordinate. */
  readonly spread: readonly number[]
  /** Random starts, the centre itself included. */
  readonly starts: number
  /** Evaluations of the objective by the simplex. */
  readonly steps: number
}

/** The point with the largest value found. A value that is not a number counts as minus infinity. */
export function searchMaximum(
  objective: (point: readonly number[]) => number,
  plan: SearchPlan,
  random: Random,
): { readonly point: readonly number[]; readonly value: number } {
  let evaluations = 0
  const evaluate = (point: readonly number[]): Vertex => {
    evaluations++
    const value = objective(point)
    return { point, value: Number.isNaN(value) ? Number.NEGATIVE_INFINITY : value }
  }
  let best = evaluate(plan.centre)
  for (let start = 1; start < plan.starts; start++) {
    const tried = evaluate(plan.centre.map((value, axis) => value + plan.spread[axis]! * random.normal()))
    if (tried.value > best.value) best = tried
  }
  const origin = best
  const simplex = [
    origin,
    ...plan.centre.map((_, axis) =>
      evaluate(origin.point.map((value, other) => (other === axis ? value + 0.7 * plan.spread[axis]! : value))),
    ),
  ]
  const limit = evaluations + plan.steps
  while (evaluations < limit) stepSimplex(simplex, evaluate)
  return simplex.reduce((first, second) => (second.value > first.value ? second : first))
}

interface Vertex {
  readonly point: readonly number[]
  readonly value: number
}

/** One step with the usual coefficients: reflect 1, expand 2, contract and shrink 1/2. */
function stepSimplex(simplex: Vertex[], evaluate: (point: readonly number[]) => Vertex): void {
  simplex.sort((first, second) => second.value - first.value)
  const worst = simplex.at(-1)!
  const rest = simplex.slice(0, -1)
  const centroid = worst.point.map((_, axis) => rest.reduce((sum, { point }) => sum + point[axis]!, 0) / rest.length)
  const along = (distance: number) =>
    evaluate(centroid.map((value, axis) => value + distance * (value - worst.point[axis]!)))
  const reflected = along(1)
  if (reflected.value > simplex[0]!.value) {
    const expanded = along(2)
    simplex[simplex.length - 1] = expanded.value > reflected.value ? expanded : reflected
  } else if (reflected.value > rest.at(-1)!.value) {
    simplex[simplex.length - 1] = reflected
  } else {
    const contracted = reflected.value > worst.value ? along(0.5) : along(-0.5)
    if (contracted.value > Math.max(worst.value, reflected.value)) {
      simplex[simplex.length - 1] = contracted
    } else {
      const best = simplex[0]!.point
      for (let vertex = 1; vertex < simplex.length; vertex++) {
        simplex[vertex] = evaluate(simplex[vertex]!.point.map((value, axis) => (value + best[axis]!) / 2))
      }
    }
  }
}
