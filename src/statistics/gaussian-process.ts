/**
 * Gaussian-process regression on a covariance matrix that the caller has computed (Rasmussen and Williams, Gaussian
 * Processes for Machine Learning, 2006, algorithm 2.1). Knows nothing of kernels; the mean is zero (a constant in the
 * covariance stands for an unknown mean).
 */
import { type CholeskyFactor, cholesky, solveCholesky, solveLower } from './cholesky.ts'

export interface GaussianProcess {
  /** ln p(targets), in nats. */
  readonly logMarginalLikelihood: number
  /**
   * Mean and variance of the noise-free function at a point: `cross` holds its covariances with the observations, in
   * their order, and `self` its own variance.
   */
  predict(cross: Float64Array, self: number): { readonly mean: number; readonly variance: number }
  /** The mean alone, which takes no time to speak of. */
  meanAt(cross: Float64Array): number
}

/**
 * Conditions a Gaussian process on `targets`, observed with independent noise of the given variances.
 * `covariance` is n × n, row-major; only its lower triangle is read. A matrix that rounding has made indefinite gets the
 * smallest jitter (from 1e-10 of the mean diagonal, times ten a step) that lets it factorise.
 */
export function conditionGaussianProcess(
  covariance: Float64Array,
  noise: Float64Array,
  targets: Float64Array,
): GaussianProcess {
  const size = targets.length
  if (noise.length !== size) {
    throw new Error(`conditionGaussianProcess: ${noise.length} noise variances for ${size} targets; give one each`)
  }
  const factor = factorise(covariance, noise, size)
  const weights = solveCholesky(factor, targets)
  const meanAt = (cross: Float64Array): number => {
    let mean = 0
    for (let i = 0; i < size; i++) mean += cross[i]! * weights[i]!
    return mean
  }
  return {
    logMarginalLikelihood: -0.5 * (meanAt(targets) + factor.logDeterminant + size * Math.log(2 * Math.PI)),
    predict(cross, self) {
      const half = solveLower(factor, cross)
      let explained = 0
      for (let i = 0; i < size; i++) explained += half[i]! * half[i]!
      return { mean: meanAt(cross), variance: Math.max(0, self - explained) }
    },
    meanAt,
  }
}

function factorise(covariance: Float64Array, noise: Float64Array, size: number): CholeskyFactor {
  let trace = 0
  for (let i = 0; i < size; i++) trace += covariance[i * (size + 1)]! + noise[i]!
  for (let jitter = 0; jitter <= 1e-2; jitter = jitter === 0 ? 1e-10 : jitter * 10) {
    const factor = cholesky(
      covariance,
      size,
      noise.map(variance => variance + (jitter * trace) / size),
    )
    if (factor !== null) return factor
  }
  throw new Error('conditionGaussianProcess: the covariance is far from positive definite; is the kernel a kernel?')
}
