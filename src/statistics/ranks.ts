/**
 * Ranks and rank correlation. Depends on order alone: invariant under strictly increasing maps of either argument.
 */
import { mean } from './summary.ts'

/** Ranks from 1, smallest first; equal values share the average of their ranks. */
export function ranks(values: ArrayLike<number>): number[] {
  const order = Array.from({ length: values.length }, (_, index) => index)
  for (const index of order) {
    if (Number.isNaN(values[index])) throw new Error(`ranks: value ${index} is NaN, which has no rank`)
  }
  order.sort((i, j) => (values[i]! < values[j]! ? -1 : values[i]! > values[j]! ? 1 : 0))
  const result = new Array<number>(values.length)
  for (let start = 0; start < order.length; ) {
    let end = start + 1
    while (end < order.length && values[order[end]!] === values[order[start]!]) end++
    for (let position = start; position < end; position++) result[order[position]!] = (start + 1 + end) / 2
    start = end
  }
  return result
}

/** Spearman's rank correlation with average ranks; null when either argument is constant or has fewer than two values. */
export function spearman(a: ArrayLike<number>, b: ArrayLike<number>): number | null {
  refuseUnequal('spearman', a, b)
  return pearson(ranks(a), ranks(b))
}

/** Pearson's correlation; null when either argument is constant or has fewer than two values. */
export function pearson(a: ArrayLike<number>, b: ArrayLike<number>): number | null {
  refuseUnequal('pearson', a, b)
  if (a.length < 2) return null
  const centreA = mean(a)
  const centreB = mean(b)
  let products = 0
  let squaresA = 0
  let squaresB = 0
  for (let i = 0; i < a.length; i++) {
    const deviationA = a[i]! - centreA
    const deviationB = b[i]! - centreB
    products += deviationA * deviationB
    squaresA += deviationA * deviationA
    squaresB += deviationB * deviationB
  }
  if (squaresA === 0 || squaresB === 0) return null
  return Math.max(-1, Math.min(1, products / (Math.sqrt(squaresA) * Math.sqrt(squaresB))))
}

function refuseUnequal(what: string, a: ArrayLike<number>, b: ArrayLike<number>): void {
  if (a.length !== b.length) {
    throw new Error(`${what}: the two lists must be of equal length, got ${a.length} and ${b.length}`)
  }
}
