/**
 * Gains on the kernel's scale: x = gain / scale, then z = bend · asinh(x / bend). Odd and monotone, linear for gains below
 * the bend and logarithmic for the disasters, so that one diverging run does not drown the rest, and medians and
 * quantiles map back exactly. How soon it bends is fitted with the kernel (a warped Gaussian process, Snelson et al. 2004).
 */
import { type Environment, objectiveOf } from '../experiment/environment.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { defaultScale, isMeasured, typicalGain } from './evidence.ts'

/** How many records of its own a family needs before its typical gain counts as much as that of its kin. */
const kinWeight = 3

/** The scale of each family in the history and of the target: its typical gain, drawn to that of all with its objective. */
export function familyScales(environment: Environment, records: readonly ExperimentRecord[]): Map<string, number> {
  const environments = new Map([environment, ...records.map(record => record.environment)].map(e => [e.familyId, e]))
  return new Map(
    [...environments].map(([id, { family }]) => {
      const { name, unit } = objectiveOf(family)
      const kin = records.filter(record => {
        const other = objectiveOf(record.environment.family)
        return other.name === name && other.unit === unit
      })
      const own = kin.filter(record => record.environment.familyId === id)
      const kinScale = scaleOf(kin)
      const ownScale = scaleOf(own)
      if (kinScale === null) return [id, defaultScale]
      if (ownScale === null) return [id, kinScale]
      const share = own.length / (own.length + kinWeight)
      return [id, Math.exp(share * Math.log(ownScale) + (1 - share) * Math.log(kinScale))]
    }),
  )
}

function scaleOf(records: readonly ExperimentRecord[]): number | null {
  return typicalGain(records.filter(isMeasured).map(({ measured }) => measured))
}

/** z of x, in the same units near zero. */
export function bendGain(scaled: number, bend: number): number {
  return bend * Math.asinh(scaled / bend)
}

/** Beyond this a hyperbolic sine is no forecast but an overflow. */
const largestExponent = 50

/** x of z. */
export function unbendGain(value: number, bend: number): number {
  return bend * Math.sinh(Math.max(-largestExponent, Math.min(largestExponent, value / bend)))
}

/** dz/dx: what a small error of x is in z. */
export function bendSlope(scaled: number, bend: number): number {
  return 1 / Math.hypot(1, scaled / bend)
}
