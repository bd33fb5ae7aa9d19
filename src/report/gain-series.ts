/**
 * What the figures about gains are drawn from: intervals, the best gain after each run, forecasts paired with what was
 * measured, and the frame that shows most gains well. Pure; no drawing here.
 */
import type { ExperimentRecord, Forecast, MeasuredGain } from '../experiment/record.ts'
import { studentQuantile } from '../statistics/student.ts'
import { quantile } from '../statistics/summary.ts'
import type { ReportData } from './report-data.ts'

export interface Interval {
  readonly low: number
  readonly high: number
}

/**
 * The 95 % interval of a measured gain, by Student's t with its degrees of freedom (1.96 standard errors when there are
 * many), like the verdict; but that asks about one side only, so it changes where the 90 % interval meets zero. Null where
 * nothing was repeated.
 */
export function gainInterval({ gain, standardError, degreesOfFreedom }: MeasuredGain): Interval | null {
  if (standardError === null || !Number.isFinite(standardError) || !(degreesOfFreedom > 0)) return null
  const half = standardError * studentQuantile(0.975, degreesOfFreedom)
  return { low: gain - half, high: gain + half }
}

/** A record with a gain that can be drawn. */
export interface MeasuredRecord {
  readonly record: ExperimentRecord
  readonly gain: number
  readonly interval: Interval | null
}

export function measuredRecord(record: ExperimentRecord): MeasuredRecord | null {
  const { measured } = record
  if (measured === null || !Number.isFinite(measured.gain)) return null
  return { record, gain: measured.gain, interval: gainInterval(measured) }
}

/** Runs of a record that have ended, in any way. */
export function runsEnded(record: ExperimentRecord): number {
  return record.runs.filter(run => run.outcome !== null).length
}

export interface BestByRun {
  /** One broken line a version: gains against different references are never joined. */
  readonly segments: readonly {
    readonly versionId: string
    readonly firstRun: number
    readonly steps: readonly Step[]
  }[]
  readonly points: readonly (MeasuredRecord & { readonly run: number })[]
  readonly failures: readonly { readonly record: ExperimentRecord; readonly run: number }[]
  readonly lastRun: number
}

export interface Step {
  readonly run: number
  readonly best: number
}

/**
 * The best gain so far after each run of a candidate (runs of the reference are not counted), in the order of the
 * records. It starts at zero in each version, since the reference can always be kept.
 */
export function bestByRun(records: readonly ExperimentRecord[]): BestByRun {
  const segments: { versionId: string; firstRun: number; steps: Step[] }[] = []
  const points: (MeasuredRecord & { run: number })[] = []
  const failures: { record: ExperimentRecord; run: number }[] = []
  let run = 0
  for (const record of records) {
    const ended = runsEnded(record)
    if (ended === 0) continue
    const versionId = record.environment.version.id
    let segment = segments.at(-1)
    if (segment?.versionId !== versionId) {
      segment = { versionId, firstRun: run, steps: [{ run, best: 0 }] }
      segments.push(segment)
    }
    run += ended
    const point = measuredRecord(record)
    if (point !== null) points.push({ ...point, run })
    else if (record.verdict === 'failed') failures.push({ record, run })
    segment.steps.push({ run, best: Math.max(segment.steps.at(-1)!.best, point?.gain ?? 0) })
  }
  return { segments, points, failures, lastRun: run }
}

/**
 * The largest measured gain at the newest version that has any; null where nothing was measured. The largest of many
 * noisy measurements flatters itself: it is shown with its interval and verdict.
 */
export function bestRecord(data: Pick<ReportData, 'lineage' | 'records'>): MeasuredRecord | null {
  const measured = data.records.flatMap(record => measuredRecord(record) ?? [])
  for (const { version } of data.lineage.toReversed()) {
    const here = measured.filter(({ record }) => record.environment.version.id === version.id)
    if (here.length > 0) return here.reduce((best, next) => (next.gain > best.gain ? next : best))
  }
  return measured.length > 0 ? measured.reduce((best, next) => (next.gain > best.gain ? next : best)) : null
}

export interface ForecastPair extends MeasuredRecord {
  readonly forecast: Forecast
}

/** Records with both a forecast from before the run and a measured gain. */
export function forecastPairs({ records, forecasts }: Pick<ReportData, 'records' | 'forecasts'>): ForecastPair[] {
  return records.flatMap(record => {
    const forecast = forecasts.get(record.id)
    const measured = measuredRecord(record)
    return forecast !== undefined && measured !== null && forecast.quantiles.every(Number.isFinite)
      ? [{ ...measured, forecast }]
      : []
  })
}

/**
 * The range of gains that a figure shows: always zero, and all values unless a few lie so far out (three interquartile
 * ranges beyond the quartiles) that they would flatten the rest. Those are drawn at the edge and counted in the caption.
 * The ends of intervals widen the frame by at most a quarter on each side.
 */
export function gainFrame(values: readonly number[], ends: readonly Interval[] = []): Interval {
  const finite = values.filter(Number.isFinite)
  if (finite.length === 0) return { low: -1, high: 1 }
  const first = quantile(finite, 0.25)
  const third = quantile(finite, 0.75)
  const reach = 3 * (third - first)
  const kept = reach > 0 ? finite.filter(value => value >= first - reach && value <= third + reach) : finite
  const low = kept.reduce((least, value) => Math.min(least, value), 0)
  const high = kept.reduce((most, value) => Math.max(most, value), 0)
  // Differences that no figure of this report could show.
  if (high - low < 1e-12) return { low: low - 1, high: high + 1 }
  const quarter = 0.25 * (high - low)
  const near = ends.filter(end => end.low <= high && end.high >= low)
  const lowest = Math.max(
    low - quarter,
    near.reduce((least, end) => Math.min(least, end.low), low),
  )
  const highest = Math.min(
    high + quarter,
    near.reduce((greatest, end) => Math.max(greatest, end.high), high),
  )
  const margin = 0.06 * (highest - lowest)
  return { low: lowest - margin, high: highest + margin }
}

/** Within the frame, or on its edge. */
export function within(value: number, { low, high }: Interval): number {
  return Math.min(high, Math.max(low, value))
}

export function isOutside(value: number, { low, high }: Interval): boolean {
  return value < low || value > high
}
