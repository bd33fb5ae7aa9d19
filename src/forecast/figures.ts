/**
 * The figures of a rolling evaluation with their bootstrap resamples: what is drawn again are blocks of consecutive pools, since
 * neighbouring rows of a log try the same idea.
 */
import { blockResamples, combine, type Estimate } from '../statistics/bootstrap.ts'
import type { Random } from '../statistics/random.ts'
import { overPools, type PoolQuality, skillOverPools } from './pool-quality.ts'

/** Ones that mean the same in every environment, whatever its unit: these are averaged over environments. */
export const comparableFigures = [
  'spearman',
  'kendall',
  'pairs',
  'pinballSkill',
  'regretSkill',
  'ndcg',
  'held',
  'better',
  'finishing',
] as const

/** In the units of the environment's metric. */
export const unitFigures = ['error', 'pinball', 'regret'] as const

export type Figure = (typeof comparableFigures)[number] | (typeof unitFigures)[number]
export type Figures = Readonly<Record<Figure, Estimate>>

/** How often a resample draws each pool. */
export type PoolResample = ArrayLike<number>

/**
 * The block of each pool, in order. Blocks are of about the cube root of the number of pools, which is the rate at which the error of a
 * block bootstrap is least (Hall, Horowitz and Jing 1995); they differ by one pool at most, and more pools never make fewer of them.
 */
export function blocksOfPools(count: number): number[] {
  const blocks = Math.round(count / Math.cbrt(count))
  return Array.from({ length: count }, (_, index) => Math.floor((index * blocks) / count))
}

/** None where there are fewer than three blocks: one or two have no scatter that an interval could show. */
export function poolResamples(count: number, resamples: number, random: Random): PoolResample[] {
  const blocks = blocksOfPools(count)
  return blocks.at(-1)! < 2 ? [] : blockResamples(blocks, resamples, random)
}

/** `yardstick`: the same pools judged by the forecaster that looks at no candidate; skills are beside it. */
export function figuresOf(
  pools: readonly PoolQuality[],
  yardstick: readonly PoolQuality[],
  resamples: readonly PoolResample[],
): Figures {
  const estimate = (of: (times?: PoolResample) => number): Estimate => ({
    value: of(),
    resampled: resamples.map(times => of(times)),
  })
  const plain = (figure: Exclude<keyof PoolQuality, 'betterShare' | 'finishingShare'>) =>
    estimate(times => overPools(pools, figure, times))
  const [pinball, regret] = [plain('pinball'), plain('regret')]
  const beside = (own: Estimate, figure: 'pinball' | 'regret') =>
    combine([own, estimate(times => overPools(yardstick, figure, times))], (mine, its) =>
      its > 0 ? 1 - mine / its : Number.NaN,
    )
  return {
    spearman: plain('spearman'),
    kendall: plain('kendall'),
    pairs: plain('pairs'),
    pinballSkill: beside(pinball, 'pinball'),
    regretSkill: beside(regret, 'regret'),
    ndcg: plain('ndcg'),
    held: plain('held'),
    better: estimate(times => skillOverPools(pools, 'better', times)),
    finishing: estimate(times => skillOverPools(pools, 'finishing', times)),
    error: plain('error'),
    pinball,
    regret,
  }
}
