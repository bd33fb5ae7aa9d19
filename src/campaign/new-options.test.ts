import { expect, test } from 'vitest'
import { newOptions } from './new-options.ts'

const reference = { learningRate: 1, optimiser: { beta1: 0.9, warmup_steps: 10 }, n_head: 4, rate: 1, layers: 2 }

/** `meant!` for a name that is taken for a mistake, `meant` for one that may be, an empty text for one like no other. */
function said(overrides: object): Record<string, string> {
  const found = newOptions(reference, { overrides: overrides as never })
  return Object.fromEntries(
    found.map(({ option, meant, misspelt }) => [option, `${meant ?? ''}${misspelt ? '!' : ''}`]),
  )
}

test('a name that differs by case, separators or one letter is taken for a mistake', () => {
  expect(said({ learning_rate: 2 })).toEqual({ learning_rate: 'learningRate!' })
  expect(said({ optimiser: { warmupSteps: 5 } })).toEqual({ 'optimiser.warmupSteps': 'optimiser.warmup_steps!' })
  for (const typo of ['rat', 'ratte', 'raet', 'rste']) expect(said({ [typo]: 2 }), typo).toEqual({ [typo]: 'rate!' })
  expect(said({ layer: 3 })).toEqual({ layer: 'layers!' })
  expect(said({ optimizer: { beta1: 0.5 } })).toEqual({ 'optimizer.beta1': 'optimiser.beta1!' })
})

test('names that are like others on purpose are not', () => {
  for (const name of ['d_head', 'n_heap1', 'm_head', 'late', 'dropout']) {
    expect(said({ [name]: 1 }), name).toEqual({ [name]: '' })
  }
  expect(said({ optimiser: { beta2: 0.9, beta: 1 } })).toEqual({ 'optimiser.beta2': '', 'optimiser.beta': '' })
})

test('the same name elsewhere may be what was meant; known options and removed ones are not new', () => {
  expect(said({ beta1: 0.8 })).toEqual({ beta1: 'optimiser.beta1' })
  expect(said({ rate: 2, layers: null, gone: null })).toEqual({})
  expect(newOptions(null, { overrides: { rate: 1 } })).toEqual([])
})
