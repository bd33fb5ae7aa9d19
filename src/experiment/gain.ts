/**
 * How much better than the reference, how sure, and the verdict. The gain is a difference of medians over seeds; its
 * noise is pooled from everything that was repeated in the version, shrunk towards the reference's own. Failures never
 * come in here: they have no gain.
 */
import { studentCdf } from '../statistics/student.ts'
import { median, variance } from '../statistics/summary.ts'
import type { Direction } from './environment.ts'
import type { MeasuredGain, Verdict } from './record.ts'
import { varianceRatioTail } from './variance-ratio.ts'

/** Variance of one run's objective between seeds, in the metric's unit squared. */
export interface Noise {
  readonly variance: number
  readonly degreesOfFreedom: number
}

/**
 * An intervention whose variance would come up less often than this, were it like the others', is taken to be noisier
 * than they are.
 */
const incompatible = 0.005

/**
 * The pooled noise of a version, null when nothing was repeated.
 *
 * s² = (v_r s_r² + w s_p²) / (v_r + w): s_r² with v_r degrees of freedom from the reference's seeds; s_p² from within the
 * interventions, whose weight w is their degrees of freedom but at most 4 v_r + 8. Without that limit sixty interventions
 * would drown the reference's five seeds, and interventions need not be as noisy as the reference.
 *
 * A run close to divergence may vary a thousand times more than the rest. So that it does not make every other verdict
 * inconclusive, groups that an F test finds incompatible (P < 0.005) with a robust estimate stay out of the pool; the
 * estimate is the weighted median of all groups' variances, each over the median of its chi-squared distribution, and
 * counts for half of all degrees of freedom. `measureGain` uses such an intervention's own variance for itself.
 *
 * @param reference objective values of the reference's finished seeds
 * @param interventions the same for every other intervention of the version
 */
export function pooledNoise(reference: readonly number[], interventions: Iterable<readonly number[]>): Noise | null {
  const groups: Noise[] = []
  for (const values of interventions) if (values.length > 1) groups.push(noiseWithin(values))
  const own = reference.length > 1 ? noiseWithin(reference) : { variance: 0, degreesOfFreedom: 0 }
  const pool = pooled(compatibleGroups(own.degreesOfFreedom > 0 ? [own, ...groups] : groups, groups))
  const weight = Math.min(pool.degreesOfFreedom, 4 * own.degreesOfFreedom + 8)
  const degreesOfFreedom = own.degreesOfFreedom + weight
  if (degreesOfFreedom === 0) return null
  return {
    variance: (own.degreesOfFreedom * own.variance + weight * pool.variance) / degreesOfFreedom,
    degreesOfFreedom,
  }
}

/** One side of a comparison: the median over its finished seeds, and how well that median is known. */
export interface Side {
  readonly median: number
  /** Of the median, not of one run; in the metric's unit squared. */
  readonly variance: number
  readonly degreesOfFreedom: number
  /** Whether the noise is the pool's: then two sides share one estimate, and its degrees of freedom. */
  readonly pooled: boolean
}

/**
 * The side of an intervention with at least one finished seed. Its variance is s² V(n): s² the pooled noise, V(n) the
 * variance of a median of n standard normal values. Of two or three seeds the own variance says next to nothing, so it
 * counts only where it is much too large to be the pool's (F test as for `pooledNoise`).
 */
export function sideOf(values: readonly number[], noise: Noise): Side {
  const own = values.length > 1 ? noiseWithin(values) : noise
  const pooled = values.length === 1 || !isNoisier(own, noise)
  const { variance, degreesOfFreedom } = pooled ? noise : own
  return { median: median(values), variance: variance * varianceOfMedian(values.length), degreesOfFreedom, pooled }
}

/** The standard error of the difference of two medians; degrees of freedom by Welch and Satterthwaite where not both are the pool's. */
export function uncertaintyOf(one: Side, other: Side): { standardError: number; degreesOfFreedom: number } {
  const total = one.variance + other.variance
  const standardError = Math.sqrt(total)
  if (one.pooled && other.pooled) return { standardError, degreesOfFreedom: one.degreesOfFreedom }
  const share = one.variance / total
  const degreesOfFreedom = 1 / (share ** 2 / one.degreesOfFreedom + (1 - share) ** 2 / other.degreesOfFreedom)
  return { standardError, degreesOfFreedom }
}

/**
 * The gain of one intervention and how sure it is to be positive; null when the intervention or the reference has no
 * finished seed. Each side has the standard error of its own number of seeds (`sideOf`); the reference's noise is always
 * the pool's, which leans towards it.
 */
export function measureGain(
  candidate: readonly number[],
  reference: readonly number[],
  direction: Direction,
  noise: Noise | null,
): MeasuredGain | null {
  if (candidate.length === 0 || reference.length === 0) return null
  const difference = median(candidate) - median(reference)
  // Zero has no sign to turn: -0 would print and hash differently.
  const gain = difference === 0 ? 0 : direction === 'minimize' ? -difference : difference
  if (noise === null) return { gain, standardError: null, degreesOfFreedom: 0, probabilityBetter: null }
  const against: Side = {
    median: median(reference),
    variance: noise.variance * varianceOfMedian(reference.length),
    degreesOfFreedom: noise.degreesOfFreedom,
    pooled: true,
  }
  const { standardError, degreesOfFreedom } = uncertaintyOf(sideOf(candidate, noise), against)
  const probabilityBetter =
    standardError === 0 ? (Math.sign(gain) + 1) / 2 : studentCdf(gain / standardError, degreesOfFreedom)
  return { gain, standardError, degreesOfFreedom, probabilityBetter }
}

/**
 * The verdict on an intervention of which `evidence` runs ended with an outcome that says something about it, `finished`
 * of them legally; null while there is no evidence. `better` from P(gain > 0) = 0.95, `worse` up to 0.05; a reference
 * measured once leaves everything inconclusive.
 */
export function verdictOf(ended: {
  readonly evidence: number
  readonly finished: number
  readonly referenceFinished: number
  readonly measured: MeasuredGain | null
}): Verdict | null {
  if (ended.evidence === 0) return null
  if (ended.finished === 0) return 'failed'
  const probability = ended.measured?.probabilityBetter ?? null
  if (ended.referenceFinished < 2 || probability === null) return 'inconclusive'
  if (probability >= 0.95) return 'better'
  return probability <= 0.05 ? 'worse' : 'inconclusive'
}

/** Exact for 1 to 20 values (quadrature over order statistics, see fixtures/gain.py). */
const exactVariances = [
  1, 0.5, 0.44867110457820814, 0.29819961843525, 0.286833661605877, 0.21474266658156, 0.2104468615353074,
  0.1681808551594, 0.16610128135871927, 0.13832643583627, 0.13716243354763225, 0.11751618711889, 0.11679899500137716,
  0.10216783679614, 0.10169465208236828, 0.09037521122499, 0.09004658142277998, 0.08102851005255, 0.08079097507221716,
  0.07343702770512,
]

/**
 * Variance of the median of n standard normal values. Beyond 20: pi / (2n) with its first correction in 1/n, which
 * differs for even n, where the median is the mean of two; within 0.2 % of the exact value.
 */
export function varianceOfMedian(n: number): number {
  const correction = (4 - Math.PI) / 2 + (n % 2 === 0 ? 1 : 0)
  return exactVariances[n - 1] ?? Math.PI / (2 * (n + correction))
}

function noiseWithin(values: readonly number[]): Noise {
  return { variance: variance(values), degreesOfFreedom: values.length - 1 }
}

function isNoisier(own: Noise, others: Noise): boolean {
  if (own.variance <= others.variance) return false
  const ratio = others.variance === 0 ? Number.POSITIVE_INFINITY : own.variance / others.variance
  return varianceRatioTail(ratio, own.degreesOfFreedom, others.degreesOfFreedom) < incompatible
}

function compatibleGroups(all: readonly Noise[], groups: readonly Noise[]): readonly Noise[] {
  const typical = typicalVariance(all)
  const degrees = all.reduce((sum, group) => sum + group.degreesOfFreedom, 0)
  const robust = { variance: typical, degreesOfFreedom: Math.max(1, Math.floor(degrees / 2)) }
  return groups.filter(group => !isNoisier(group, robust))
}

/** Weighted median of the groups' variances, each scaled to be median-unbiased for normal values. */
function typicalVariance(groups: readonly Noise[]): number {
  const scaled = groups
    .map(({ variance, degreesOfFreedom }) => ({
      value: variance / medianOfChiSquared(degreesOfFreedom),
      degreesOfFreedom,
    }))
    .sort((a, b) => a.value - b.value)
  const half = scaled.reduce((sum, group) => sum + group.degreesOfFreedom, 0) / 2
  let passed = 0
  for (const group of scaled) {
    passed += group.degreesOfFreedom
    if (passed >= half) return group.value
  }
  return 0
}

/**
 * Median of chi-squared over its degrees of freedom: exact for one, Wilson and Hilferty (1931) beyond (error below 1
 * %).
 */
function medianOfChiSquared(degreesOfFreedom: number): number {
  return degreesOfFreedom === 1 ? 0.454936 : (1 - 2 / (9 * degreesOfFreedom)) ** 3
}

function pooled(groups: readonly Noise[]): Noise {
  let squares = 0
  let degreesOfFreedom = 0
  for (const group of groups) {
    squares += group.variance * group.degreesOfFreedom
    degreesOfFreedom += group.degreesOfFreedom
  }
  return { variance: degreesOfFreedom === 0 ? 0 : squares / degreesOfFreedom, degreesOfFreedom }
}
