import { expect, test } from 'vitest'
import { type ExperimentRecord, type Forecast, quantileLevels } from '../experiment/record.ts'
import { intervalOf } from '../statistics/bootstrap.ts'
import { seededRandom } from '../statistics/random.ts'
import { spearman } from '../statistics/ranks.ts'
import { constant } from './constant.ts'
import { type Entrant, evaluateRolling, planRolling, type RollingEvaluationOptions } from './evaluate-rolling.ts'
import type { Forecaster } from './forecaster.ts'
import { neighbours } from './neighbours.ts'
import { oracle } from './planted/oracle.ts'
import { candidateOf, environmentOf, recordWith } from './planted/records.ts'
import { plantedRecords, recipeEnvironment } from './planted/response-surface.ts'
import { normalQuantiles } from './quantiles.ts'
import { ridge } from './ridge.ts'

const worth = (forecasts: readonly Forecast[]) => forecasts.map(({ quantiles }) => quantiles[2])
const options: RollingEvaluationOptions = { resamples: 200, seed: 1, worth }
const olmo = {
  environment: recipeEnvironment('olmo'),
  records: plantedRecords('olmo', 60, seededRandom(1)),
  references: [],
}
const nanochat = {
  environment: recipeEnvironment('nanochat'),
  records: plantedRecords('nanochat', 60, seededRandom(2), 1001),
  references: [],
}
const entrant = (name: string, forecaster: Forecaster, history: Entrant['history'] = 'in-environment'): Entrant => ({
  name,
  forecaster,
  history,
})

/** A forecaster that says a number for each candidate, with a spread. */
function saying(of: (candidate: ExperimentRecord) => number, spread: number): Forecaster {
  return (_environment, history, candidates) =>
    (candidates as readonly ExperimentRecord[]).map(candidate => ({
      quantiles: normalQuantiles(of(candidate), spread),
      finishes: 0.9,
      forecaster: 'saying',
      forecasterVersion: '1',
      recordIds: history.map(({ id }) => id),
    }))
}

test('an oracle is perfect, a constant is the yardstick and has no ranking, and their difference is found', async () => {
  const { results, differences } = await evaluateRolling(
    [entrant('constant', constant), entrant('oracle', oracle), entrant('ridge', ridge)],
    planRolling([olmo, nanochat]),
    options,
  )
  const [yardstick, truth] = results.map(({ overall }) => overall)
  expect(truth!.spearman.value).toBeCloseTo(1, 12)
  expect(truth!.kendall.value).toBeCloseTo(1, 12)
  for (const figure of ['pairs', 'pinballSkill', 'regretSkill', 'ndcg', 'held', 'finishing'] as const) {
    expect(truth![figure].value, figure).toBeCloseTo(1, 9)
    expect(intervalOf(truth![figure]).low, figure).toBeCloseTo(1, 9)
  }
  expect(truth!.better.value).toBeGreaterThan(0.9)
  expect(yardstick!.spearman.value).toBeNaN()
  expect(yardstick!.kendall.value).toBeNaN()
  expect(yardstick!.pairs.value).toBe(0.5)
  expect(yardstick!.pinballSkill.value).toBe(0)
  expect(yardstick!.regretSkill.value).toBe(0)
  const best = differences.find(
    ({ measure, first, second }) => measure === 'pinball' && first === 'constant' && second === 'oracle',
  )!
  // About the loss of the best constant quantiles.
  expect(best.value).toBeLessThan(-0.8)
  expect(best.adjusted).toBeLessThan(0.01)
  expect([best.better, best.worse, best.environments]).toEqual([0, 2, 2])
  expect(differences.filter(({ measure }) => measure === 'spearman')).toHaveLength(1)
  for (const { p, adjusted } of differences) expect(adjusted).toBeGreaterThanOrEqual(p)
})

test('skills are beside constant on earlier rows, whoever is named first', async () => {
  const entrants = [entrant('without', constant, 'none'), entrant('within', constant), entrant('ridge', ridge)]
  const figures = async (some: readonly Entrant[]) => {
    const { results } = await evaluateRolling(some, planRolling([olmo]), options)
    return new Map(results.map(({ entrant, overall }) => [entrant.name, overall]))
  }
  const [one, other] = [await figures(entrants), await figures(entrants.toReversed())]
  expect(one.get('within')!.pinballSkill.value).toBe(0)
  expect(one.get('without')!.pinballSkill.value).not.toBe(0)
  for (const { name } of entrants) expect(other.get(name)).toEqual(one.get(name))
})

test('no forecast sees its own time or later, nor a near-duplicate of another environment', async () => {
  const asked: { ids: number[]; seen: readonly ExperimentRecord[] }[] = []
  const noting: Forecaster = (environment, history, candidates, seed) => {
    asked.push({ ids: (candidates as readonly ExperimentRecord[]).map(({ id }) => id), seen: history })
    return constant(environment, history, candidates, seed)
  }
  const own = (id: number) => id < 1000
  for (const history of ['none', 'in-environment', 'cross-environment', 'pooled'] as const) {
    asked.length = 0
    const left: number[] = []
    await evaluateRolling([entrant('noting', noting, history)], planRolling([olmo], [nanochat]), options)
    expect(asked.flatMap(({ ids }) => ids).length).toBeGreaterThan(40)
    for (const { ids, seen } of asked) {
      expect(ids.length).toBeLessThanOrEqual(4)
      const [mine, others] = [seen.filter(({ id }) => own(id)), seen.filter(({ id }) => !own(id))]
      expect(mine.every(({ id }) => id < Math.min(...ids))).toBe(true)
      const uses = {
        mine: history === 'in-environment' || history === 'pooled',
        others: history === 'cross-environment' || history === 'pooled',
      }
      expect(mine.length > 0).toBe(uses.mine)
      expect(others.length > 0).toBe(uses.others)
      if (!uses.others) continue
      left.push(nanochat.records.length - others.length)
      const ideas = (records: readonly ExperimentRecord[]) =>
        records.map(({ changes }) =>
          changes
            .map(({ option }) => option)
            .sort()
            .join(),
        )
      const tested = olmo.records.filter(({ id }) => ids.includes(id))
      expect(ideas(others).filter(idea => ideas(tested).includes(idea))).toEqual([])
    }
    if (left.length > 0) expect(Math.max(...left)).toBeGreaterThan(0)
  }
})

test('a forecaster that looks ahead is refused', async () => {
  const peeking: Forecaster = (environment, _history, candidates, seed) =>
    neighbours(environment, olmo.records, candidates, seed)
  await expect(evaluateRolling([entrant('peeking', peeking)], planRolling([olmo]), options)).rejects.toThrow(
    /was shown record \d+/,
  )
  expect(() => planRolling([{ ...olmo, records: olmo.records.slice(0, 9) }])).toThrow(
    'planted-olmo has 9 records; it needs 10 with an outcome or more',
  )
})

test('in pools of few rows, knowing only that gains shrink is worth little; over the whole log it looks good', async () => {
  const environment = environmentOf('shrinking', {})
  const random = seededRandom(3)
  const records = Array.from({ length: 200 }, (_, index) =>
    recordWith(
      index + 1,
      environment,
      candidateOf(environment, `idea ${index}`, {}),
      Math.exp(-index / 60) + 0.2 * random.normal(),
    ),
  )
  const clock = saying(({ id }) => -id, 1)
  const { results } = await evaluateRolling(
    [entrant('clock', clock)],
    planRolling([{ environment, records, references: [] }]),
    options,
  )
  const whole = spearman(
    records.map(({ id }) => -id),
    records.map(({ measured }) => measured!.gain),
  )!
  expect(whole).toBeGreaterThan(0.5)
  expect(Math.abs(results[0]!.overall.spearman.value)).toBeLessThan(0.25)
})

test('between forecasters that know nothing, Holm lets few differences through', async () => {
  const environment = environmentOf('noise', {})
  let found = 0
  for (let trial = 0; trial < 30; trial++) {
    const random = seededRandom(`trial ${trial}`)
    const records = Array.from({ length: 68 }, (_, index) =>
      recordWith(index + 1, environment, candidateOf(environment, `idea ${index}`, {}), random.normal()),
    )
    const guesses = ['a', 'b', 'c'].map(name => {
      const own = new Map(records.map(({ id }) => [id, 0.3 * random.normal()]))
      return entrant(
        name,
        saying(({ id }) => own.get(id)!, 1),
      )
    })
    const { differences } = await evaluateRolling(guesses, planRolling([{ environment, records, references: [] }]), {
      ...options,
      resamples: 5,
    })
    if (differences.some(({ adjusted }) => adjusted <= 0.05)) found++
  }
  // Three corrected families of 0.05 each: at most 0.15 of the trials in expectation, Binomial(30, 0.15).
  expect(found).toBeLessThanOrEqual(10)
})

test('over many short logs, whoever chooses blindly is not told from constant, which chooses at random in expectation', async () => {
  let found = 0
  for (let trial = 0; trial < 60; trial++) {
    const random = seededRandom(`blind ${trial}`)
    const logs = Array.from({ length: 12 }, (_, log) => {
      const environment = environmentOf(`log ${log}`, {})
      const records = Array.from({ length: 12 }, (_, index) =>
        recordWith(
          100 * log + index + 1,
          environment,
          candidateOf(environment, `idea ${index}`, {}),
          -Math.exp(2 * random.normal()),
        ),
      )
      return { environment, records, references: [] }
    })
    const blind = entrant(
      'blind',
      saying(() => random.normal(), 1),
    )
    const { differences } = await evaluateRolling([blind, entrant('constant', constant)], planRolling(logs), options)
    if (differences.find(({ measure }) => measure === 'regret')!.p <= 0.05) found++
  }
  // Gains this skewed make it 0.06 to 0.08: 5, with a standard deviation of 2. Shares of what the two lose make it a third and more.
  expect(found).toBeLessThan(12)
})

test('the quantiles are scored as the pinball loss says', async () => {
  const environment = environmentOf('one', {})
  const records = Array.from({ length: 10 }, (_, index) =>
    recordWith(index + 1, environment, candidateOf(environment, `idea ${index}`, {}), index === 8 ? 1 : 0),
  )
  const { results } = await evaluateRolling(
    [
      entrant(
        'zero',
        saying(() => 0, 0),
      ),
    ],
    planRolling([{ environment, records, references: [] }]),
    options,
  )
  // Of two tested gains, 1 and 0, all quantiles say 0: the loss of the first is the mean level, one half.
  const meanLevel = quantileLevels.reduce<number>((sum, level) => sum + level, 0) / quantileLevels.length
  const [figures] = results[0]!.byEnvironment
  expect(figures!.pinball.value).toBeCloseTo(meanLevel / 2, 12)
  expect(figures!.error.value).toBeCloseTo(0.5, 12)
  expect(figures!.regret.value).toBeCloseTo(0.5, 12)
})
