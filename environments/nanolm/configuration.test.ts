import fc from 'fast-check'
import { expect, test } from 'vitest'
import { configurationProblems, effectiveKey, feedForwardWidth, resolveConfiguration } from './configuration.ts'
import { type Configuration, optionNames, options } from './options.ts'

const defaults = resolveConfiguration({})

test.each([
  [{ dpeth: 3 }, 'Unknown option "dpeth". Did you mean "depth"?'],
  [{ LearningRate: 1 }, 'Unknown option "LearningRate". Did you mean "learningRate"?'],
  [{ depth: 0 }, 'Option "depth" must be a whole number from 1 to 16, not 0.'],
  [{ depth: 2.5 }, 'Option "depth" must be a whole number from 1 to 16, not 2.5.'],
  [{ learningRate: '0.1' }, 'Option "learningRate" must be a number from 0 to 10, not "0.1".'],
  [{ learningRate: null }, 'Option "learningRate" must be a number from 0 to 10, not null.'],
  [{ contextLength: 48 }, 'Option "contextLength" must be a power of two from 8 to 512, not 48.'],
  [{ activation: 'tanh' }, 'Option "activation" must be one of gelu, swiglu, relu-squared, not "tanh".'],
  [{ queryKeyNorm: 1 }, 'Option "queryKeyNorm" must be true or false, not 1.'],
  [{ width: 98 }, 'Option "width" must be a multiple of "heads" (4), not 98.'],
  [{ width: 100 }, 'Option "width" must give each of 4 heads an even size for rotary positions, not 25.'],
  [{ keyValueHeads: 3 }, 'Option "keyValueHeads" must divide "heads" (4), which 3 does not.'],
  [{ batchTokens: 32 }, 'Option "batchTokens" must be at least "contextLength" (64), not 32.'],
  [
    { curriculum: 'linear', curriculumStartLength: 64 },
    'Option "curriculumStartLength" must be below "contextLength" (64) for a curriculum, not 64.',
  ],
  [{ tokenBudget: 500 }, 'Option "tokenBudget" must be at least "batchTokens" (512), not 500.'],
  [
    { schedule: 'warmup-stable-decay', warmupFraction: 0.7 },
    'Option "decayFraction" must leave room for "warmupFraction" (0.7) within 1, not 0.4.',
  ],
  [[], 'A configuration must be a JSON object of options, not [].'],
])('%j is refused with a sentence', (value, sentence) => {
  expect(configurationProblems(value)).toEqual([sentence])
})

test('an option that resembles none is answered with the list', () => {
  expect(configurationProblems({ colour: 'red' })[0]).toMatch(
    /^Unknown option "colour". The options are depth, width, /,
  )
})

test('every problem is named', () => {
  expect(configurationProblems({ depth: 0, heads: 'x', wdith: 2 })).toHaveLength(3)
})

test('names of the language are not options', () => {
  expect(configurationProblems({ constructor: 1 })).toHaveLength(1)
})

test('a default is a value that its option allows', () => {
  expect(configurationProblems(Object.fromEntries(optionNames.map(name => [name, options[name].default])))).toEqual([])
})

test('feed-forward layers have nearly the same parameters whatever the activation', () => {
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 40 }), fc.double({ min: 1, max: 8, noNaN: true }), (eighths, factor) => {
      const base: Configuration = { ...defaults, width: 8 * eighths, feedForwardFactor: factor }
      const gated = 3 * feedForwardWidth({ ...base, activation: 'swiglu' })
      const plain = 2 * feedForwardWidth({ ...base, activation: 'gelu' })
      // Each is rounded to a multiple of 8, so off by at most 4 units.
      expect(Math.abs(gated - plain)).toBeLessThanOrEqual(3 * 4 + 2 * 4)
    }),
  )
})

test('idle options do not make configurations different, others do', () => {
  const key = (value: Partial<Configuration>) => effectiveKey({ ...defaults, ...value })
  expect(key({ muonMomentum: 0.5 })).toBe(key({}))
  expect(key({ optimiser: 'muon', muonMomentum: 0.5 })).not.toBe(key({ optimiser: 'muon' }))
  expect(key({ lionLearningRate: 1, lionMomentum: 0, sgdLearningRate: 1, sgdMomentum: 0 })).toBe(key({}))
  expect(key({ optimiser: 'sgd', learningRate: 1, beta2: 0, epsilon: 1 })).toBe(key({ optimiser: 'sgd' }))
  expect(key({ optimiser: 'muon', learningRate: 1 })).not.toBe(key({ optimiser: 'muon' }))
  expect(key({ averagingDecay: 0.5, averagingFraction: 0.5 })).toBe(key({}))
  expect(key({ weightAveraging: 'tail', averagingFraction: 0.5 })).not.toBe(key({ weightAveraging: 'tail' }))
  expect(key({ curriculumStartLength: 512, curriculumFraction: 1 })).toBe(key({}))
  expect(key({ decayFraction: 0.1 })).toBe(key({}))
  expect(key({ schedule: 'constant', finalLearningRateFraction: 0.9 })).toBe(key({ schedule: 'constant' }))
  expect(key({ tiedEmbeddings: true, headLearningRateFactor: 9 })).toBe(key({ tiedEmbeddings: true }))
  expect(key({ feedForwardFactor: 4.01 })).toBe(key({}))
  expect(key({ beta1: 0.8 })).not.toBe(key({}))
})
