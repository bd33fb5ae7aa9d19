/**
 * How good stated probabilities of an event are (Brier 1950).
 */

/** Mean of (probability - happened)^2, in [0, 1]; 0 is perfect. */
export function brierScore(probabilities: ArrayLike<number>, happened: readonly boolean[]): number {
  if (probabilities.length !== happened.length || happened.length === 0) {
    throw new Error(
      `brierScore: there are ${probabilities.length} probabilities and ${happened.length} events; give one for each of at least one`,
    )
  }
  let sum = 0
  for (let i = 0; i < happened.length; i++) {
    const probability = probabilities[i]!
    if (!(probability >= 0 && probability <= 1)) {
      throw new Error(`brierScore: probability ${i} is ${probability}; it must lie in [0, 1]`)
    }
    sum += (probability - Number(happened[i])) ** 2
  }
  return sum / happened.length
}

/**
 * 1 - score / score of always stating the share that happened. 1 is perfect, 0 no better than knowing that share, negative
 * worse. Null where the event always or never happened: then there is nothing to tell apart.
 */
export function brierSkill(probabilities: ArrayLike<number>, happened: readonly boolean[]): number | null {
  const score = brierScore(probabilities, happened)
  const share = happened.filter(Boolean).length / happened.length
  const reference = share * (1 - share)
  return reference === 0 ? null : 1 - score / reference
}
