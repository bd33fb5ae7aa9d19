/**
 * The loop replayed on finished records: each round offers new candidates, a forecaster chooses a few, and their results
 * are looked up instead of paid for and join its history.
 */
import type { Environment } from '../experiment/environment.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import type { Forecaster } from '../forecast/forecaster.ts'
import { withoutNearDuplicates } from '../forecast/leak-guard.ts'
import { chosenOfPool, poolSize } from '../forecast/quality.ts'
import { standingIn } from '../forecast/stand-in.ts'
import { bestSoFar, naulc, oracleChoice, type Round } from '../statistics/learning-curve.ts'
import { type Random, seededRandom } from '../statistics/random.ts'
import { mean } from '../statistics/summary.ts'
import { scores as worthOf } from './choose.ts'

const mostRounds = 8

/** Random choice is averaged over this many draws in each repeat: it needs no forecasts. */
const randomDraws = 200

/** An environment's records whose outcome is known, with all gains against one reference. */
export interface Known {
  readonly environment: Environment
  readonly records: readonly ExperimentRecord[]
}

/** How a loop ended: its best gain (0: the reference is kept), and its area under the curve beside the oracle's. */
export interface LoopResult {
  readonly best: number
  readonly naulc: number
}

/** As many rounds of 16 new candidates as the records allow, up to 8; one round of all where there are fewer than 16. */
export function poolsOf(records: readonly ExperimentRecord[], random: Random): ExperimentRecord[][] {
  const shuffled = random.shuffle(records)
  const rounds = Math.min(mostRounds, Math.max(1, Math.floor(records.length / poolSize)))
  return Array.from({ length: rounds }, (_, round) => shuffled.slice(round * poolSize, (round + 1) * poolSize))
}

/** `source`: records of other environments, of which a round sees those that are no near-duplicates of its candidates. */
export async function replay(
  forecaster: Forecaster,
  own: Known,
  source: readonly ExperimentRecord[],
  seed: number,
): Promise<LoopResult> {
  const asked = standingIn(forecaster)
  const executed: ExperimentRecord[] = []
  const rounds: Round[] = []
  for (const pool of poolsOf(own.records, seededRandom(seed).fork('pools'))) {
    const history = [...withoutNearDuplicates(source, pool), ...executed]
    const forecasts = await asked(own.environment, history, pool, { seed })
    // The largest worth first, as a campaign without exploration; equal worth in the pool's order, which is random.
    const chosen = oracleChoice(chosenOfPool, worthOf(forecasts))
    executed.push(...chosen.map(index => pool[index]!))
    rounds.push({ pool: pool.map(gainOf), chosen })
  }
  return resultOf(rounds)
}

/** The mean over many loops that choose at random. */
export function replayAtRandom(own: Known, seed: number): LoopResult {
  const pools = poolsOf(own.records, seededRandom(seed).fork('pools'))
  const random = seededRandom(seed).fork('at random')
  const results = Array.from({ length: randomDraws }, () =>
    resultOf(
      pools.map(pool => ({
        pool: pool.map(gainOf),
        chosen: random.sample([...pool.keys()], Math.min(chosenOfPool, pool.length)),
      })),
    ),
  )
  return { best: mean(results.map(({ best }) => best)), naulc: mean(results.map(({ naulc }) => naulc)) }
}

/** The best that any choice could find. */
export function replayOracle(own: Known, seed: number): LoopResult {
  const pools = poolsOf(own.records, seededRandom(seed).fork('pools')).map(pool => pool.map(gainOf))
  return resultOf(pools.map(pool => ({ pool, chosen: oracleChoice(chosenOfPool, pool) })))
}

function gainOf({ measured }: ExperimentRecord): number | null {
  return measured?.gain ?? null
}

function resultOf(rounds: readonly Round[]): LoopResult {
  const gains = rounds.flatMap(({ pool, chosen }) => chosen.map(index => pool[index]!))
  return { best: bestSoFar(gains).at(-1)!, naulc: naulc(rounds) }
}
