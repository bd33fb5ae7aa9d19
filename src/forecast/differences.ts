/**
 * Whether one forecaster is better than another, on the same pools: paired differences, each block of consecutive pools one piece of
 * evidence, and Holm's correction over all pairs of one measure. About these environments: other rows of them, not other environments.
 */
import { intervalOf, meanEstimate } from '../statistics/bootstrap.ts'
import { holm } from '../statistics/holm.ts'
import type { Random } from '../statistics/random.ts'
import { signFlipProbability } from '../statistics/sign-flips.ts'
import { blocksOfPools, type PoolResample } from './figures.ts'
import type { PoolQuality } from './pool-quality.ts'

/**
 * Loss and regret as shares of what the outcomes alone say (`Scale`), so that environments can be averaged. A share of what one of the two
 * has lost would change as they are exchanged, which is what p does, and the chances would be wrong; of the mean of both, whoever loses
 * evenly would seem worse than whoever loses as much now and then.
 */
export const comparedMeasures = ['pinball', 'regret', 'spearman'] as const
export type ComparedMeasure = (typeof comparedMeasures)[number]

/** One forecaster's pools in each environment, in the same order for all. */
export interface Contender {
  readonly name: string
  readonly byEnvironment: readonly (readonly PoolQuality[])[]
}

/** Of an environment, whoever forecasts: the loss of the best quantiles that are the same for all records, and the regret of random choice. */
export interface Scale {
  readonly pinball: number
  readonly regret: number
}

export interface Difference {
  readonly measure: ComparedMeasure
  readonly first: string
  readonly second: string
  /** Mean over the environments; positive: the first is better. */
  readonly value: number
  /** NaN where an environment has fewer than three blocks. */
  readonly low: number
  readonly high: number
  /** In how many environments the first is better, and worse, of those in which the two can be compared. */
  readonly better: number
  readonly worse: number
  readonly environments: number
  /** Two-sided, by turned signs of blocks; and after Holm's correction. */
  readonly p: number
  readonly adjusted: number
}

/**
 * All pairs of contenders, first named first. Rank correlations only of those that rank. `scales` and `resamples` are for each environment,
 * and of resamples as many in each.
 */
export function differences(
  contenders: readonly Contender[],
  scales: readonly Scale[],
  resamples: readonly (readonly PoolResample[])[],
  random: Random,
): Difference[] {
  const pairs = contenders.flatMap((first, index) =>
    contenders.slice(index + 1).map(second => [first, second] as const),
  )
  return comparedMeasures.flatMap(measure => {
    const found = pairs.flatMap(([first, second]) => {
      const difference = differenceOf(measure, first, second, scales, resamples, random)
      return difference === null ? [] : [difference]
    })
    const adjusted = holm(found.map(({ p }) => p))
    return found.map((difference, index) => ({ ...difference, adjusted: adjusted[index]! }))
  })
}

/** With fewer blocks than this not even the clearest of so many pairs has 2 / 2^blocks, after Holm's correction, at 0.05 or below. */
export function blocksNeeded(pairs: number): number {
  return Math.ceil(Math.log2((2 * pairs) / 0.05))
}

/** The same the other way round where the second is the better one. */
export function betterFirst(difference: Difference): Difference {
  const { first, second, value, low, high, better, worse } = difference
  if (value >= 0) return difference
  return {
    ...difference,
    first: second,
    second: first,
    value: -value,
    low: -high,
    high: -low,
    better: worse,
    worse: better,
  }
}

function differenceOf(
  measure: ComparedMeasure,
  first: Contender,
  second: Contender,
  scales: readonly Scale[],
  resamples: readonly (readonly PoolResample[])[],
  random: Random,
): Omit<Difference, 'adjusted'> | null {
  const shares = first.byEnvironment.flatMap((pools, environment) => {
    const share = poolShares(measure, pools, second.byEnvironment[environment]!, scales[environment]!)
    return share === null ? [] : [{ share, resamples: resamples[environment]! }]
  })
  if (shares.length === 0) return null
  const values = shares.map(({ share }) => sum(share))
  const value = sum(values) / shares.length
  const { low, high } = intervalOf(
    meanEstimate(
      shares.map(({ share, resamples }) => ({
        value: sum(share),
        resampled: resamples.map(times => sum(share.map((value, pool) => value * times[pool]!))),
      })),
    ),
  )
  const blocks = shares.flatMap(({ share }) => blockSums(share))
  return {
    measure,
    first: first.name,
    second: second.name,
    value,
    low,
    high,
    better: values.filter(value => value > 0).length,
    worse: values.filter(value => value < 0).length,
    environments: shares.length,
    p: signFlipProbability(blocks, random.fork(`${measure} ${first.name} ${second.name}`)),
  }
}

/** What each pool adds to the difference of one environment; null where the two cannot be compared. */
function poolShares(
  measure: ComparedMeasure,
  first: readonly PoolQuality[],
  second: readonly PoolQuality[],
  scales: Scale,
): number[] | null {
  if (measure === 'spearman') {
    const both = first.map((pool, index) => pool.spearman[1] * second[index]!.spearman[1])
    const count = sum(both)
    if (count === 0) return null
    return first.map((pool, index) => (both[index]! * (pool.spearman[0] - second[index]!.spearman[0])) / count)
  }
  const scale = scales[measure]
  const count = sum(first.map(pool => pool[measure][1]))
  if (!(scale > 0) || count === 0) return null
  return first.map((pool, index) => (second[index]![measure][0] - pool[measure][0]) / (count * scale))
}

function blockSums(share: readonly number[]): number[] {
  const blocks = blocksOfPools(share.length)
  const sums = new Array<number>((blocks.at(-1) ?? -1) + 1).fill(0)
  share.forEach((value, index) => {
    sums[blocks[index]!]! += value
  })
  return sums
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
