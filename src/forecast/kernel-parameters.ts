/**
 * Hyper-parameters of the kernel by their posterior: marginal likelihood times weak log-normal priors, so that a short
 * history keeps sensible values and a long one decides by itself.
 */
import type { ExperimentRecord } from '../experiment/record.ts'
import { conditionGaussianProcess, type GaussianProcess } from '../statistics/gaussian-process.ts'
import { type SearchPlan, searchMaximum } from '../statistics/gaussian-process-search.ts'
import { seededRandom } from '../statistics/random.ts'
import { compareSubjects, gainCovariance, type KernelParameters } from './gain-kernel.ts'
import { bendGain, bendSlope } from './gain-transform.ts'

/** A gain and its standard error (0 where it is not known: the fit finds it), in typical gains of its family. */
export interface Observation {
  readonly scaled: number
  readonly error: number
}

export interface FittedParameters {
  readonly parameters: KernelParameters
  /** Variance of what neither the kernel nor the measured standard errors explain. */
  readonly noise: number
  /** Where gains bend from linear to logarithmic, in typical gains (`gain-transform.ts`). */
  readonly bend: number
}

export interface FitEffort extends Pick<SearchPlan, 'starts' | 'steps'> {
  /** A random sample of so many records decides, fewer where they change many options: each try costs a factorisation. */
  readonly mostFitted: number
}

const usualChanges = 4

/** Prior medians and standard deviations in logarithms (in log-odds for shares). Scaled gains have a size of about one. */
const priors = {
  additive: [0.4, 1.2],
  interaction: [0.15, 1.2],
  departure: [0.4, 1.2],
  words: [0.2, 1.2],
  tags: [0.1, 1.2],
  mean: [0.1, 1],
  length: [1.5, 0.5],
  remainder: [0.6, 0.7],
  family: [0.8, 0.7],
  noise: [0.1, 1],
  bend: [2.5, 0.7],
} as const

const names = Object.keys(priors) as (keyof typeof priors)[]
const shares = new Set<string>(['remainder', 'family'])

export function fitParameters(
  records: readonly ExperimentRecord[],
  observations: readonly Observation[],
  { mostFitted, starts, steps }: FitEffort,
  seed: number,
): FittedParameters {
  const centre = names.map(name =>
    shares.has(name) ? Math.log(priors[name][0] / (1 - priors[name][0])) : Math.log(priors[name][0]),
  )
  const spread = names.map(name => priors[name][1])
  if (records.length === 0) return parametersAt(centre)
  const random = seededRandom(seed).fork('kernel')
  const everyone = records.map((_, index) => index)
  const changes = records.reduce((sum, record) => sum + record.changes.length, 0) / records.length
  const limit = Math.ceil(mostFitted * Math.sqrt(Math.min(1, usualChanges / changes)))
  const chosen = records.length <= limit ? everyone : random.sample(everyone, limit).sort((a, b) => a - b)
  const compared = compareSubjects(
    chosen.map(index => records[index]!),
    chosen.length,
  )
  const observed = chosen.map(index => observations[index]!)
  const posterior = (point: readonly number[]): number => {
    const fitted = parametersAt(point)
    const prior = point.reduce((sum, value, axis) => sum - 0.5 * ((value - centre[axis]!) / spread[axis]!) ** 2, 0)
    const { logMarginalLikelihood } = conditionOn(gainCovariance(compared, fitted.parameters), observed, fitted)
    // The density of the gains themselves, so that different bends compare.
    const jacobian = observed.reduce((sum, { scaled }) => sum + Math.log(bendSlope(scaled, fitted.bend)), 0)
    return prior + logMarginalLikelihood + jacobian
  }
  return parametersAt(searchMaximum(posterior, { centre, spread, starts, steps }, random).point)
}

/** The Gaussian process of bent gains, given what was observed. */
export function conditionOn(
  covariance: Float64Array,
  observations: readonly Observation[],
  { noise, bend }: FittedParameters,
): GaussianProcess {
  return conditionGaussianProcess(
    covariance,
    Float64Array.from(observations, ({ scaled, error }) => noise + (error * bendSlope(scaled, bend)) ** 2),
    Float64Array.from(observations, ({ scaled }) => bendGain(scaled, bend)),
  )
}

function parametersAt(point: readonly number[]): FittedParameters {
  const at = (name: keyof typeof priors): number => {
    const value = point[names.indexOf(name)]!
    return shares.has(name) ? 1 / (1 + Math.exp(-value)) : Math.exp(value)
  }
  return {
    parameters: {
      additive: at('additive'),
      interaction: at('interaction'),
      departure: at('departure'),
      words: at('words'),
      tags: at('tags'),
      mean: at('mean'),
      length: at('length'),
      remainder: at('remainder'),
      family: at('family'),
    },
    noise: at('noise'),
    bend: at('bend'),
  }
}
