/**
 * A campaign replayed on a finished log, in its order: each round offers the next rows, a forecaster that knows only what it has run so
 * far chooses a few, and their results are looked up. It is chosen by what pays, the gain over what the log began with: a row's forecast
 * gain, and how far its own reference is above the beginning, which whoever proposes a row knows. What is left out here was run by whoever
 * wrote the log, and later rows build on it, so a replay says how well the few are chosen and not how far a campaign would have come.
 */
import { objectiveOf } from '../experiment/environment.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { byOrigin, evidenceOf, finishedValues } from '../experiment/records.ts'
import type { Forecaster } from '../forecast/forecaster.ts'
import { judgePool } from '../forecast/judge-pool.ts'
import { mapQuantiles } from '../forecast/quantiles.ts'
import { isTestable } from '../forecast/rolling-origin.ts'
import { bestSoFar, naulc, oracleChoice, type Round } from '../statistics/learning-curve.ts'
import type { Random } from '../statistics/random.ts'
import { median } from '../statistics/summary.ts'
import { scores } from './choose.ts'

export interface ReplayOptions {
  /** Rows offered in a round, and how many of them are run. */
  readonly offered: number
  readonly chosen: number
  readonly seed: number
}

export interface Replayed {
  /** Gain over what the log began with, after each run; 0 while nothing better was found. */
  readonly curve: readonly number[]
  /** Area under the curve beside an oracle's. */
  readonly naulc: number
}

/** Rows that are offered together, in the order of the records; what is left over at the end makes a smaller round. */
export function roundsOf(records: readonly ExperimentRecord[], { offered }: ReplayOptions): ExperimentRecord[][] {
  const usable = records.filter(isTestable)
  const count = Math.ceil(usable.length / offered)
  return Array.from({ length: count }, (_, round) => usable.slice(round * offered, (round + 1) * offered))
}

export async function replayLog(
  forecaster: Forecaster,
  records: readonly ExperimentRecord[],
  options: ReplayOptions,
  random: Random,
): Promise<Replayed> {
  const levels = referenceLevels(records)
  const gains = gainsOverBeginning(records)
  const run: ExperimentRecord[] = []
  const rounds: Round[] = []
  for (const pool of roundsOf(records, options)) {
    const judged = await judgePool(forecaster, pool, run, options.seed)
    const worth = scores(
      judged.map(({ record, forecast }) => {
        const above = levels.get(record.environment.version.id) ?? 0
        return { ...forecast, quantiles: mapQuantiles(index => forecast.quantiles[index]! + above) }
      }),
    )
    // Equal worth in random order: in the first round nothing is known, and the first rows of a log are no better than its next ones.
    const shuffled = random.shuffle([...pool.keys()])
    const order = oracleChoice(
      Math.min(options.chosen, pool.length),
      shuffled.map(index => worth[index]!),
    )
    const chosen = order.map(place => shuffled[place]!)
    run.push(...chosen.map(index => pool[index]!))
    rounds.push({ pool: pool.map(({ id }) => gains.get(id) ?? null), chosen })
  }
  return replayed(rounds)
}

/** Choices by nobody: at random, once. */
export function replayLogAtRandom(
  records: readonly ExperimentRecord[],
  options: ReplayOptions,
  random: Random,
): Replayed {
  return choosing(records, options, (pool, count) => random.sample([...pool.keys()], count))
}

/** Choices by whoever knows the results. */
export function replayLogByOracle(records: readonly ExperimentRecord[], options: ReplayOptions): Replayed {
  return choosing(records, options, (pool, count) => oracleChoice(count, pool))
}

function choosing(
  records: readonly ExperimentRecord[],
  options: ReplayOptions,
  choose: (pool: readonly (number | null)[], count: number) => number[],
): Replayed {
  const gains = gainsOverBeginning(records)
  return replayed(
    roundsOf(records, options).map(round => {
      const pool = round.map(({ id }) => gains.get(id) ?? null)
      return { pool, chosen: choose(pool, Math.min(options.chosen, pool.length)) }
    }),
  )
}

function replayed(rounds: readonly Round[]): Replayed {
  return {
    curve: bestSoFar(rounds.flatMap(({ pool, chosen }) => chosen.map(index => pool[index]!))),
    naulc: naulc(rounds),
  }
}

/** Gains by record id over the reference of the earliest record with a gain, whatever reference each was against and in whatever order. */
export function gainsOverBeginning(records: readonly ExperimentRecord[]): Map<number, number> {
  const levels = referenceLevels(records)
  return new Map(
    records.flatMap(({ id, environment, measured }) =>
      measured === null ? [] : [[id, measured.gain + (levels.get(environment.version.id) ?? 0)] as const],
    ),
  )
}

/**
 * How far the reference of each version is above that of the earliest record with a gain, larger is better. Runs of our own and a log's may be
 * of other machines: where a version was measured by both, what they differ by puts the versions that only we measured on the log's scale.
 * Versions that nothing is known of are taken to be at the beginning.
 */
function referenceLevels(records: readonly ExperimentRecord[]): Map<string, number> {
  const own = new Map<string, number>()
  const imported = new Map<string, number>()
  for (const record of records) {
    const found = referenceOf(record)
    const levels = found?.isOwn ? own : imported
    const { id } = record.environment.version
    if (found !== null && !levels.has(id)) levels.set(id, found.level)
  }
  const differences = [...own].flatMap(([id, level]) => (imported.has(id) ? [level - imported.get(id)!] : []))
  const difference = differences.length === 0 ? 0 : median(differences)
  const levels = new Map([...[...own].map(([id, level]) => [id, level - difference] as const), ...imported])
  const first = records
    .toSorted((one, other) => one.id - other.id)
    .find(({ measured, environment }) => measured !== null && levels.has(environment.version.id))
  const beginning = first === undefined ? 0 : levels.get(first.environment.version.id)!
  return new Map([...levels].map(([id, level]) => [id, level - beginning]))
}

/** What the reference measured follows from a record's metric and its gain; null where it is not known which runs the gain is of. */
function referenceOf(record: ExperimentRecord): { readonly isOwn: boolean; readonly level: number } | null {
  const { family } = record.environment
  const { name, direction } = objectiveOf(family)
  const { own, imported } = byOrigin(evidenceOf(record.runs))
  const values = finishedValues([...own, ...imported], name)
  if (record.measured === null || values.length === 0 || (own.length > 0 && imported.length > 0)) return null
  const sign = direction === 'minimize' ? -1 : 1
  return { isOwn: own.length > 0, level: sign * median(values) - record.measured.gain }
}
