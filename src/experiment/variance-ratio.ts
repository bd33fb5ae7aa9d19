/**
 * The upper tail of Fisher's F distribution for whole degrees of freedom: how surprising a ratio of two variances is.
 * From Student's t (one degree above) or the closed form (two), upwards by the recurrence of the incomplete beta
 * function, I_x(a + 1, b) = I_x(a, b) - x^a (1 - x)^b / (a B(a, b)) (DLMF 8.17.20): all terms positive.
 */
import { studentCdf } from '../statistics/student.ts'

/** P(F >= ratio) with `numerator` and `denominator` degrees of freedom, whole and positive. */
export function varianceRatioTail(ratio: number, numerator: number, denominator: number): number {
  if (ratio <= 0) return 1
  if (ratio === Number.POSITIVE_INFINITY) return 0
  const b = denominator / 2
  const scaled = (numerator * ratio) / denominator
  const x = scaled / (1 + scaled)
  const rest = (1 + scaled) ** -b
  const odd = numerator % 2 === 1
  let tail = odd ? 2 * studentCdf(-Math.sqrt(numerator * ratio), denominator) : rest
  let term = odd ? (2 * Math.sqrt(x) * rest) / betaOfHalf(denominator) : x * b * rest
  for (let a = odd ? 0.5 : 1; a < numerator / 2; a++) {
    tail += term
    term *= (x * (a + b)) / (a + 1)
  }
  return tail
}

/** B(1/2, degrees / 2). */
function betaOfHalf(degrees: number): number {
  const odd = degrees % 2 === 1
  let beta = odd ? Math.PI : 2
  for (let b = odd ? 0.5 : 1; b < degrees / 2; b++) beta *= b / (b + 0.5)
  return beta
}
