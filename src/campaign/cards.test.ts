import { expect, test } from 'vitest'
import { seededRandom } from '../statistics/random.ts'
import { pairs, parseCards, singles } from './cards.ts'

const cards = parseCards(
  [
    { name: 'rate', sentence: 'Learn at {value}.', tag: 'learning-rate', option: 'optimiser.rate', values: [0.1, 0.2] },
    { name: 'decay', sentence: 'Decay by {value}.', tag: 'regularisation', option: 'optimiser.decay', values: [0.01] },
    { name: 'muon', sentence: 'Use {value}.', tag: 'optimiser', values: [{ optimiser: { name: 'muon', rate: 0.02 } }] },
  ],
  'cards.json',
)

test('each value of each card is an intervention', () => {
  expect(singles(cards).map(({ overrides, origin }) => ({ overrides, origin }))).toEqual([
    { overrides: { optimiser: { rate: 0.1 } }, origin: 'rate=0.1' },
    { overrides: { optimiser: { rate: 0.2 } }, origin: 'rate=0.2' },
    { overrides: { optimiser: { decay: 0.01 } }, origin: 'decay' },
    { overrides: { optimiser: { name: 'muon', rate: 0.02 } }, origin: 'muon' },
  ])
})

test('pairs never change one option twice, and the same seed draws the same pairs', () => {
  const drawn = pairs(cards, 20, seededRandom(3))
  expect(drawn.map(each => each.overrides)).toHaveLength(3)
  for (const { origin } of drawn) expect(origin).not.toMatch(/rate.*rate|rate.*muon|muon.*rate/)
  expect(pairs(cards, 20, seededRandom(3))).toEqual(drawn)
})

test('a wrong card is refused with its field, its value and what was expected', () => {
  expect(() => parseCards([{ name: 'a', sentence: 'b', tag: 'c', values: [3] }], 'cards.json')).toThrow(
    'cards.json: [0].values is [3]; expected objects (merge patches), because the card names no "option".',
  )
  expect(() => parseCards([...cards, cards[0]], 'cards.json')).toThrow('two cards are named "rate"')
})
