/** Replays a campaign on a finished history: what each forecaster would have found, beside an oracle and random choice. */
import { z } from 'zod'
import { type Replayed, replayLog, replayLogAtRandom, replayLogByOracle } from '../campaign/replay-log.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { forecasterNames, withoutRanking } from '../forecast/forecaster.ts'
import { nowAndThen } from '../forecast/now-and-then.ts'
import { poolSize } from '../forecast/quality.ts'
import type { Series } from '../forecast/rolling-origin.ts'
import { gainLegend } from '../report/gain-legend.ts'
import { singleLine } from '../report/outside-text.ts'
import { atRandomName, oracleName, type ReplayedTable, replayText } from '../report/replay-text.ts'
import { seededRandom } from '../statistics/random.ts'
import { mean } from '../statistics/summary.ts'
import { entrantsOf } from './entrants.ts'
import { environmentFlags, withSeries } from './evaluated-series.ts'
import { operation } from './operation.ts'
import { shellWord } from './shell-word.ts'

/** Random choice is averaged over so many draws: it costs no forecasts. */
const draws = 200

export interface ReplayRow {
  readonly name: string
  /** Best gain so far after each run, mean over the repeats. */
  readonly curve: readonly number[]
  readonly naulc: number
  /** Of the repeats. */
  readonly spread: { readonly low: number; readonly high: number }
}

interface ReplayedEnvironment extends ReplayedTable {
  readonly rows: readonly ReplayRow[]
}

export const replay = operation({
  name: 'replay',
  summary: 'what a campaign would have found on a finished history, by forecaster',
  example: 'almanac replay --forecasters kernel stack',
  positional: [],
  input: z.strictObject({
    ...environmentFlags,
    forecasters: z
      .array(z.string())
      .optional()
      .describe(`of ${forecasterNames.join(', ')} (default: all that rank)`),
    offered: z.number().int().min(2).default(poolSize).describe('candidates in a round'),
    choose: z.number().int().positive().default(3).describe('how many of them are run'),
    order: z.enum(['time', 'random']).default('time').describe('of the history, or shuffled for each repeat'),
    repeats: z.number().int().positive().default(5).describe('each chooses at random where worth is equal'),
    seed: z.number().int().default(1).describe('decides everything that is random'),
  }),
  run: ({ environment, all, forecasters, offered, choose, order, repeats, seed }, context) =>
    withSeries(context, { environment, all }, async ({ evaluated, file, ledger, environmentFlags }) => {
      const compared = await entrantsOf({ forecasters }, file, ledger.path, context)
      const entrants = compared.filter(({ name }) => !withoutRanking.includes(name))
      const replayedEnvironments: ReplayedEnvironment[] = []
      const say = nowAndThen((name: string, repeat: number) =>
        context.emit({ type: 'note', text: `${name}: repeat ${repeat + 1} of ${repeats}` }),
      )
      for (const { environment, records } of evaluated) {
        const orders = ordersOf(records, order, repeats, seed)
        const options = { offered, chosen: choose, seed }
        const rows = [
          rowOf(
            oracleName,
            orders.map(one => replayLogByOracle(one, options)),
          ),
        ]
        for (const { name, forecaster } of entrants) {
          const results: Replayed[] = []
          for (const [repeat, one] of orders.entries()) {
            say(name, repeat)
            results.push(await replayLog(forecaster, one, options, seededRandom(seed).fork(`repeat ${repeat}`)))
          }
          rows.push(rowOf(name, results))
        }
        const random = seededRandom(seed).fork('at random')
        const atRandom = orders.map(one =>
          meanOf(Array.from({ length: draws }, () => replayLogAtRandom(one, options, random))),
        )
        rows.push(rowOf(atRandomName, atRandom))
        replayedEnvironments.push({
          environment: environment.family.name,
          gains: gainLegend([environment]),
          records: records.length,
          repeats,
          order,
          offered,
          chosen: choose,
          rows,
          environmentFlags:
            evaluated.length === 1
              ? environmentFlags
              : ` --environment ${shellWord(singleLine(environment.family.name))}`,
        })
      }
      return replayedEnvironments
    }),
  json: replayed => replayed.map(({ gains, environmentFlags, ...rest }) => rest),
  text: replayText,
})

function ordersOf(
  records: Series['records'],
  order: 'time' | 'random',
  repeats: number,
  seed: number,
): ExperimentRecord[][] {
  const inTime = records.toSorted((first, second) => first.id - second.id)
  return Array.from({ length: repeats }, (_, repeat) =>
    order === 'time' ? inTime : seededRandom(seed).fork(`order ${repeat}`).shuffle(inTime),
  )
}

function rowOf(name: string, results: readonly Replayed[]): ReplayRow {
  const { curve, naulc } = meanOf(results)
  const areas = results.map(({ naulc }) => naulc)
  return { name, curve, naulc, spread: { low: Math.min(...areas), high: Math.max(...areas) } }
}

function meanOf(results: readonly Replayed[]): Replayed {
  return {
    curve: results[0]!.curve.map((_, run) => mean(results.map(({ curve }) => curve[run]!))),
    naulc: mean(results.map(({ naulc }) => naulc)),
  }
}
