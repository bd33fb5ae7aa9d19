import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import type { Denoiser } from './denoiser.ts'
import { bitsPerByte, duelLogLikelihoods } from './duel.ts'
import { blockByBlock, inRandomOrder, leftToRight, mostConfident, type UnmaskingRule } from './unmasking-rule.ts'

const vocabulary = 4
const maskToken = 3

/** Any table of conditional distributions: for every partly masked sequence, something else at every position. */
function randomTable(seed: number): Denoiser {
  const random = seededRandom(seed)
  return {
    vocabulary,
    maskToken,
    distributions: async sequences =>
      sequences.map(tokens => {
        const stream = random.fork(tokens.join(' '))
        return Float32Array.from([...tokens].flatMap(() => distribution(() => 2 * stream.normal())))
      }),
  }
}

/** Log-probabilities of three tokens; the mask has none. */
function distribution(logit: () => number): number[] {
  const exponentiated = Array.from({ length: vocabulary - 1 }, () => Math.exp(logit()))
  const sum = exponentiated.reduce((total, value) => total + value, 0)
  return [...exponentiated.map(value => Math.log(value / sum)), Number.NEGATIVE_INFINITY]
}

/** All texts of a length, over the tokens that are not the mask. */
function allTexts(length: number): Int32Array[] {
  return Array.from({ length: maskToken ** length }, (_, number) =>
    Int32Array.from({ length }, (_, place) => Math.floor(number / maskToken ** place) % maskToken),
  )
}

const rules: Record<string, UnmaskingRule> = {
  'left to right': leftToRight(),
  'two at a time': leftToRight(2),
  'most confident': mostConfident(),
  'the two most confident': mostConfident(2),
  'all at once': mostConfident(9),
  'random order': inRandomOrder(5),
  'block by block': blockByBlock(2, mostConfident()),
  'the first known token says where to go on': ({ tokens, masked }) => {
    const known = tokens.find(token => token !== maskToken) ?? 0
    return [masked[known % masked.length]!]
  },
}

test.each(Object.entries(rules))('probabilities of all texts sum to one, by any denoiser: %s', async (_, rule) => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), async seed => {
      const logLikelihoods = await duelLogLikelihoods(randomTable(seed), allTexts(3), rule)
      expect(logLikelihoods.reduce((sum, value) => sum + Math.exp(value), 0)).toBeCloseTo(1, 6)
    }),
    { numRuns: 10 },
  )
})
