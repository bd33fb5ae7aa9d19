/**
 * What a history says in plain numbers: gains in the target's units, with their noise, and which records finished legally.
 * A record that failed has no gain and speaks only about finishing; gains of families that measure something else are
 * rescaled by the ratio of typical gains.
 */
import { type Environment, objectiveOf } from '../experiment/environment.ts'
import { isEvidence } from '../experiment/intervention.ts'
import type { ExperimentRecord, MeasuredGain } from '../experiment/record.ts'
import { evidenceOf } from '../experiment/records.ts'
import { median, quantile } from '../statistics/summary.ts'

/** Typical gain where nothing at all is known, in the objective's units: the size of gains in bits per byte. */
export const defaultScale = 0.01

/** Beyond these a gain's square is no number any more; no metric of an experiment is that large or that fine. */
const largestGain = 1e100
const smallestGain = 1e-100

/** A record with a gain that can be computed with. */
export type MeasuredRecord = ExperimentRecord & { readonly measured: MeasuredGain }

export function isMeasured(record: ExperimentRecord): record is MeasuredRecord {
  return record.measured !== null && Math.abs(record.measured.gain) < largestGain
}

export interface GainEvidence {
  readonly record: ExperimentRecord
  /** In the units of the target environment's objective. */
  readonly gain: number
  /** Standard error of the gain in the same units; null when it was never repeated. */
  readonly standardError: number | null
}

/** The records with a gain, in the order of the history. */
export function gainEvidence(environment: Environment, history: readonly ExperimentRecord[]): GainEvidence[] {
  const measured = history.filter(isMeasured).map(record => {
    const { gain, standardError } = record.measured
    return { record, gain, standardError }
  })
  const target = objectiveKey(environment)
  const byObjective = Map.groupBy(measured, ({ record }) => objectiveKey(record.environment))
  const targetScale = typicalGain(byObjective.get(target) ?? []) ?? defaultScale
  const factors = new Map(
    [...byObjective].map(([key, group]) => [
      key,
      key === target ? 1 : targetScale / (typicalGain(group) ?? targetScale),
    ]),
  )
  return measured.map(({ record, gain, standardError }) => {
    const factor = factors.get(objectiveKey(record.environment))!
    return { record, gain: gain * factor, standardError: standardError === null ? null : standardError * factor }
  })
}

/**
 * The typical size of gains: 1.4826 times their median distance from zero (the standard deviation, for normal gains), but
 * no less than their typical standard error; where more than half are exactly zero, the larger half decides. Null where
 * nothing gives a size.
 */
export function typicalGain(
  evidence: readonly { readonly gain: number; readonly standardError: number | null }[],
): number | null {
  if (evidence.length === 0) return null
  const sizes = evidence.map(({ gain }) => Math.abs(gain))
  const errors = evidence.flatMap(({ standardError }) => (standardError === null ? [] : [standardError]))
  const size = Math.max(1.4826 * median(sizes), errors.length === 0 ? 0 : median(errors))
  if (size > smallestGain && size < largestGain) return size
  const large = quantile(sizes, 0.9) || sizes.reduce((first, second) => Math.max(first, second))
  return large > smallestGain ? large : null
}

/** Whether each run that counts finished legally; of a record without runs, what it says itself; empty where nothing is known. */
export function endingsOf({ runs, outcome }: ExperimentRecord): boolean[] {
  const evidence = evidenceOf(runs)
  if (evidence.length > 0) return evidence.map(run => run.outcome!.kind === 'finished')
  return outcome === null || !isEvidence(outcome) ? [] : [outcome === 'finished']
}

/** The share of those that did; null where nothing is known. */
export function finishedShare(record: ExperimentRecord): number | null {
  const endings = endingsOf(record)
  return endings.length === 0 ? null : endings.filter(Boolean).length / endings.length
}

function objectiveKey(environment: Environment): string {
  const { name, direction, unit } = objectiveOf(environment.family)
  return JSON.stringify([name, direction, unit ?? null])
}
