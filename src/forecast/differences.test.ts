/** Chances that hold where there is no difference, whoever is compared with whom, and no interval from too few blocks. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seededRandom } from '../statistics/random.ts'
import { mean } from '../statistics/summary.ts'
import { type Contender, differences } from './differences.ts'
import { blocksOfPools, poolResamples } from './figures.ts'
import type { PoolQuality, Ratio } from './pool-quality.ts'

const nothing: Ratio = [0, 0]
const silent: PoolQuality = {
  spearman: nothing,
  kendall: nothing,
  pairs: nothing,
  error: nothing,
  pinball: nothing,
  held: nothing,
  regret: nothing,
  ndcg: nothing,
  better: nothing,
  betterShare: nothing,
  finishing: nothing,
  finishingShare: nothing,
}

/** The same scale in so many environments. */
const even = (environments: number) => Array.from({ length: environments }, () => ({ pinball: 1, regret: 1 }))

/** Losses of one pool each, in as many environments. */
function contender(name: string, losses: readonly (readonly number[])[]): Contender {
  return { name, byEnvironment: losses.map(own => own.map(loss => ({ ...silent, pinball: [loss, 1] }))) }
}

test('over several environments p is as often small as it says where two are as good, and the difference is 0', () => {
  const random = seededRandom('null')
  const found = Array.from({ length: 300 }, () => {
    const skewed = () => Array.from({ length: 12 }, () => [-Math.log(1 - random.uniform())])
    const resamples = Array.from({ length: 12 }, () => poolResamples(1, 10, random))
    return differences([contender('constant', skewed()), contender('rival', skewed())], even(12), resamples, random)[0]!
  })
  // Binomial(300, 0.05): 15, with a standard deviation of 3.8. Shares of one of the two would give several times as many.
  expect(found.filter(({ p }) => p <= 0.05).length).toBeLessThan(28)
  // The difference of two exponential losses has the variance 2.
  expect(Math.abs(mean(found.map(({ value }) => value)))).toBeLessThan(4 * Math.sqrt(2 / (12 * 300)))
})

test('whom one is named before changes the sign alone', () => {
  const random = seededRandom('sign')
  const losses = () => Array.from({ length: 3 }, () => Array.from({ length: 9 }, () => random.uniform()))
  const [a, b] = [contender('a', losses()), contender('b', losses())]
  const resamples = a.byEnvironment.map(pools => poolResamples(pools.length, 50, random))
  const [one] = differences([a, b], even(3), resamples, seededRandom(1))
  const [other] = differences([b, a], even(3), resamples, seededRandom(1))
  expect(other!.value).toBeCloseTo(-one!.value, 12)
  expect(other!.low).toBeCloseTo(-one!.high, 12)
  expect(other!.p).toBe(one!.p)
})

test('an environment of one block or two gives no interval, and neither does a mean that it is in', () => {
  const random = seededRandom('few')
  const losses = (...pools: number[]) => pools.map(count => Array.from({ length: count }, () => 1 + random.uniform()))
  const compared = (...pools: number[]) =>
    differences(
      [contender('a', losses(...pools)), contender('b', losses(...pools))],
      even(pools.length),
      pools.map(count => poolResamples(count, 50, random)),
      random,
    )[0]!
  expect(compared(20, 20).low).toBeLessThan(compared(20, 20).high)
  for (const few of [compared(1), compared(2, 20), compared(20, 1)]) {
    expect(few.low).toBeNaN()
    expect(few.high).toBeNaN()
  }
})

test('more pools never make fewer blocks, and these are of one length or the next', () => {
  expect([1, 2, 3, 4, 8, 15, 16, 20, 60].map(pools => blocksOfPools(pools).at(-1)! + 1)).toEqual([
    1, 2, 2, 3, 4, 6, 6, 7, 15,
  ])
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 400 }), pools => {
      const blocks = blocksOfPools(pools)
      expect(blocks.at(-1)!).toBeGreaterThanOrEqual(blocksOfPools(pools - 1).at(-1)!)
      const lengths = [...Map.groupBy(blocks, block => block).values()].map(({ length }) => length)
      expect(lengths).toHaveLength(blocks.at(-1)! + 1)
      expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(1)
    }),
  )
})
