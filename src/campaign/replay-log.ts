/**
 * A campaign replayed on a finished log, in its order: each round offers the next rows, a forecaster that knows only what it has run so
 * far chooses a few, and their results are looked up. What is left out here was run by whoever wrote the log, and later rows build on
 * it, so a replay says how well the few are chosen and not how far a campaign would have come.
 */
import { objectiveOf } from '../experiment/environment.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { evidenceOf, finishedValues } from '../experiment/records.ts'
import type { Forecaster } from '../forecast/forecaster.ts'
import { judgePool } from '../forecast/judge-pool.ts'
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
  const gains = gainsOverBeginning(records)
  const run: ExperimentRecord[] = []
  const rounds: Round[] = []
  for (const pool of roundsOf(records, options)) {
    const judged = await judgePool(forecaster, pool, run, options.seed)
    const worth = scores(judged.map(({ forecast }) => forecast))
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

/**
 * Gains by record id over the reference of the first record with a gain, whatever reference each was against: what that one measured
 * follows from a record's metric and its gain.
 */
export function gainsOverBeginning(records: readonly ExperimentRecord[]): Map<number, number> {
  const references = new Map<string, number>()
  const measured = records.flatMap(record => {
    if (record.measured === null) return []
    const { family, version } = record.environment
    const { name, direction } = objectiveOf(family)
    const values = finishedValues(evidenceOf(record.runs), name)
    const sign = direction === 'minimize' ? -1 : 1
    // Records without runs are against one reference: nothing is known of another.
    if (values.length > 0 && !references.has(version.id)) {
      references.set(version.id, sign * median(values) - record.measured.gain)
    }
    return [{ record, gain: record.measured.gain, version: version.id }]
  })
  const beginning = measured.length === 0 ? 0 : (references.get(measured[0]!.version) ?? 0)
  return new Map(
    measured.map(({ record, gain, version }) => [record.id, gain + (references.get(version) ?? beginning) - beginning]),
  )
}
