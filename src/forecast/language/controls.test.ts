import { expect, test } from 'vitest'
import type { Forecast } from '../../experiment/record.ts'
import { seededRandom } from '../../statistics/random.ts'
import { spearman } from '../../statistics/ranks.ts'
import { forecasters } from '../forecaster.ts'
import { candidateOf, environmentOf, recordWith } from '../planted/records.ts'
import { plantedRecords, recipeEnvironment } from '../planted/response-surface.ts'
import { serialise } from '../serialise.ts'
import { controls, renamedProblem, shuffledOutcomes, withControl } from './controls.ts'

const environment = recipeEnvironment('olmo')
const records = [
  ...plantedRecords('olmo', 60, seededRandom(1)),
  ...plantedRecords('nanochat', 20, seededRandom(2), 1001),
]
const options = { seed: 3 }

test('shuffled outcomes are the same ones in each version, and those of other interventions', () => {
  const shuffled = shuffledOutcomes(records, seededRandom(1))
  expect(shuffled.map(({ id, intervention, changes }) => ({ id, intervention, changes }))).toEqual(
    records.map(({ id, intervention, changes }) => ({ id, intervention, changes })),
  )
  for (const name of ['olmo', 'nanochat'] as const) {
    const gains = (from: typeof records) =>
      from.flatMap(({ environment, measured }) =>
        environment.familyId === recipeEnvironment(name).familyId ? [measured?.gain ?? null] : [],
      )
    expect(gains(shuffled).sort()).toEqual(gains(records).sort())
    expect(gains(shuffled)).not.toEqual(gains(records))
  }
  for (const { measured, outcome, verdict } of shuffled) {
    expect(
      records.some(record => record.measured === measured && record.outcome === outcome && record.verdict === verdict),
    ).toBe(true)
  }
})

test('renamed, no old name is left anywhere in the text, and equal names stay equal', () => {
  const olmo = environmentOf('olmo', { learningRate: 0.002, optimiser: 'adamw', model: { layer_count: 4 } })
  const record = recordWith(
    7,
    olmo,
    {
      ...candidateOf(
        olmo,
        'On OLMo, raise the learning rate (learning_rate) of AdamW with layer-count 8.',
        { learningRate: 0.004 },
        ['learning-rate'],
      ),
    },
    0.01,
  )
  const diff = '--- a/train.py\n+++ b/train.py\n@@ -1,1 +1,1 @@\n-LEARNING_RATE = 1\n+LEARNING_RATE = 2\n'
  const changed = { option: 'train.py:LEARNING_RATE', from: 1, to: 2 }
  const candidate = {
    intervention: { sentence: 'Twice.', overrides: null, diff, tags: [], origin: 'lr.json' },
    changes: [changed],
  }
  const renamed = renamedProblem(olmo, [record], [candidate], 1)
  const text = serialise(renamed.environment, renamed.history, renamed.candidates[0]!)
  expect(text).not.toMatch(/olmo|learning.?rate|adamw|layer.?count|optimiser/i)
  const name = renamed.history[0]!.changes[0]!.option
  expect(name).toMatch(/^option\d+$/)
  expect(renamed.candidates[0]!.changes[0]!.option).toBe(`train.py:${name}`)
  expect(text).toContain(`"On environment`)
  expect(text.split(name)).toHaveLength(9)
  expect(text).toContain('raise the')
  expect(text).toContain('0.004')
})

test('a control says when it changes nothing: one outcome for all, or no option with a name', () => {
  const changes = (history: typeof records) =>
    controls.map(control => control.changes({ environment: history[0]!.environment, history, candidates: [] }))
  expect(changes(records)).toEqual([true, true])
  const olmo = environmentOf('olmo', {})
  const inWords = [0.01, 0.02].map((gain, index) => recordWith(index, olmo, candidateOf(olmo, 'Less of it.', {}), gain))
  expect(changes(inWords)).toEqual([true, false])
  expect(changes(inWords.slice(1))).toEqual([false, false])
})

test('who reads the records keeps its skill under new names and loses it with shuffled outcomes', async () => {
  const own = records.slice(0, 60)
  const [history, tested] = [[...own.slice(0, 40), ...records.slice(60)], own.slice(40)]
  const skill = (forecasts: readonly Forecast[]): number => {
    const measured = tested.flatMap(({ measured }, index) =>
      measured ? [[forecasts[index]!.quantiles[2], measured.gain] as const] : [],
    )
    return spearman(
      measured.map(([median]) => median),
      measured.map(([, gain]) => gain),
    )!
  }
  const plain = skill(forecasters.kernel(environment, history, tested, options))
  const [shuffled, renamed] = (await Promise.all(
    controls.map(async control =>
      skill(await withControl<Forecast>(forecasters.kernel, control)(environment, history, tested, options)),
    ),
  )) as [number, number]
  expect(plain).toBeGreaterThan(0.4)
  expect(renamed).toBeGreaterThan(plain - 0.15)
  expect(shuffled).toBeLessThan(plain - 0.3)
})
