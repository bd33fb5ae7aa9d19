/**
 * One token from a row of log-probabilities, by the inverse of its cumulative distribution.
 */

export interface Draw {
  readonly token: number
  /** Of the token, in nats, under the row at the temperature. */
  readonly logProbability: number
}

/** `uniform`: in [0, 1). Temperature 0 takes the most probable token, of equals the first. */
export function drawToken(logProbabilities: Float32Array, temperature: number, uniform: number): Draw {
  let best = 0
  for (let token = 1; token < logProbabilities.length; token++)
    if (logProbabilities[token]! > logProbabilities[best]!) best = token
  if (temperature === 0) return { token: best, logProbability: 0 }
  const highest = logProbabilities[best]!
  const relative = Float64Array.from(logProbabilities, value => (value - highest) / temperature)
  const total = relative.reduce((sum, value) => sum + Math.exp(value), 0)
  let token = best
  let left = uniform * total
  // Where rounding leaves something over, the last token that has any probability is taken.
  for (let candidate = 0; candidate < relative.length && left >= 0; candidate++) {
    const weight = Math.exp(relative[candidate]!)
    if (weight === 0) continue
    token = candidate
    left -= weight
  }
  return { token, logProbability: relative[token]! - Math.log(total) }
}
