import { expect, test } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import { candidateOf, environmentOf, recordWith } from '../planted/records.ts'
import { plantedRecords, recipeEnvironment } from '../planted/response-surface.ts'
import { serialiseRecord } from '../serialise.ts'
import { chooseRecords } from './choose-records.ts'

const environment = environmentOf('olmo', { rate: 0.002, depth: 4, warmup: 0.05, optimiser: 'adamw' })
const to = (id: number, sentence: string, overrides: object) =>
  recordWith(id, environment, candidateOf(environment, sentence, { ...overrides } as never), 0.01 * id)

test('all are shown where they fit, in the order of their ids', () => {
  const records = plantedRecords('olmo', 20, seededRandom(1))
  const [candidate, ...history] = records
  const chosen = chooseRecords(recipeEnvironment('olmo'), seededRandom(2).shuffle(history), [candidate!], 1e6)
  expect(chosen).toEqual([...history].sort((first, second) => first.id - second.id))
})

test('no room is exceeded, and more room never shows fewer', () => {
  const target = recipeEnvironment('olmo')
  const [candidate, ...history] = plantedRecords('olmo', 40, seededRandom(3))
  let before = 0
  for (const room of [0, 100, 500, 1000, 3000, 1e5]) {
    const chosen = chooseRecords(target, history, [candidate!], room)
    const length = chosen.reduce((sum, record) => sum + serialiseRecord(target, record).length + 1, 0)
    expect(length).toBeLessThanOrEqual(room)
    expect(chosen.length).toBeGreaterThanOrEqual(before)
    before = chosen.length
  }
  expect(before).toBe(history.length)
})

test('relevant before far, and another idea before the same one told a third time', () => {
  const same = [1, 2, 3, 4, 5].map(id => to(id, 'Raise the learning rate.', { rate: 0.004 }))
  const schedule = to(6, 'Raise the learning rate after a longer warm-up.', { rate: 0.004, warmup: 0.1 })
  const elsewhere = recordWith(
    7,
    environmentOf('rl', { lambda: 1 }),
    candidateOf(environmentOf('rl', { lambda: 1 }), 'Shape the reward.', { lambda: 2 }),
    1,
  )
  const history = [...same, schedule, elsewhere]
  const candidate = candidateOf(environment, 'Raise the learning rate further.', { rate: 0.008 })
  const room = Math.ceil(2.2 * serialiseRecord(environment, schedule).length)
  const ids = chooseRecords(environment, history, [candidate], room).map(({ id }) => id)
  expect(ids).toHaveLength(2)
  expect(ids).toContain(6)
  expect(ids).not.toContain(7)
})
