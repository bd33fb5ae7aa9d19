/**
 * Weights that are at least 0 and add up to 1, chosen by a loss on what was seen and drawn to weights that were believed before: with
 * little seen they stay there. (Convex; by mirror descent, Beck and Teboulle 2003, which on the simplex is the exponentiated gradient of
 * Kivinen and Warmuth 1997.)
 */

const iterations = 400

/**
 * Minimises loss(w) + strength · Σ w log(w / prior).
 *
 * @param prior positive, adds up to 1
 * @param strength how much the prior counts, in the units of the loss
 * @param gradient of the loss, which must be convex; any subgradient where it has a kink
 */
export function simplexWeights(
  prior: readonly number[],
  strength: number,
  gradient: (weights: readonly number[]) => readonly number[],
): number[] {
  if (!prior.every(weight => weight > 0) || !(strength > 0)) {
    throw new Error(
      `simplexWeights: the prior is ${prior.join(', ')} and its strength ${strength}; give positive numbers`,
    )
  }
  let weights = [...prior]
  const mean = weights.map(() => 0)
  let total = 0
  for (let iteration = 0; iteration < iterations; iteration++) {
    const slope = gradient(weights).map((value, index) => value + strength * Math.log(weights[index]! / prior[index]!))
    const centre = slope.reduce((sum, value, index) => sum + weights[index]! * value, 0)
    const size = slope.reduce((most, value) => Math.max(most, Math.abs(value - centre)), 0)
    // At the minimum already, up to rounding.
    if (size < 1e-9 * strength) return weights
    // Steps shrink as 1 / sqrt(iteration), the rate that kinks need; the mean over the later ones is what settles.
    const step = 1 / (size * Math.sqrt(1 + iteration))
    const moved = weights.map((weight, index) => Math.max(1e-12, weight * Math.exp(-step * (slope[index]! - centre))))
    const sum = moved.reduce((all, weight) => all + weight, 0)
    weights = moved.map(weight => weight / sum)
    if (iteration < iterations / 2) continue
    weights.forEach((weight, index) => {
      mean[index]! += weight
    })
    total++
  }
  return mean.map(weight => weight / total)
}
