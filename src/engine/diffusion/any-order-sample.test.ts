import { expect, test } from 'vitest'
import { anyOrderSample } from './any-order-sample.ts'
import { drawToken } from './draw.ts'
import { duelLogLikelihoods } from './duel.ts'
import { allTexts, tableDenoiser } from './fixtures/table-denoiser.ts'
import { blockByBlock, inRandomOrder, leftToRight, mostConfident } from './unmasking-rule.ts'

const denoiser = tableDenoiser(4, 2)
const mask = 3
const empty = Int32Array.of(mask, mask, mask)

test.each([
  ['most confident', mostConfident()],
  ['all at once', mostConfident(3)],
  ['random order', inRandomOrder(1, 2)],
])('%s: texts are drawn as often as their likelihood says, and say that likelihood themselves', async (_, rule) => {
  const samples = 3000
  const [drawn] = await anyOrderSample(denoiser, [{ template: empty, rule, samples }])
  const texts = allTexts(3, 3)
  const expected = await duelLogLikelihoods(denoiser, texts, rule)
  let chiSquare = 0
  const rare = { drawn: 0, mean: 0 }
  const count = (drawn: number, mean: number) => {
    chiSquare += (drawn - mean) ** 2 / mean
  }
  for (const [index, text] of texts.entries()) {
    const same = drawn!.filter(({ tokens }) => tokens.join() === text.join())
    const mean = samples * Math.exp(expected[index]!)
    if (mean > 5) count(same.length, mean)
    else {
      rare.drawn += same.length
      rare.mean += mean
    }
    for (const { logProbabilities, drawnLogProbabilities } of same.slice(0, 1)) {
      expect(logProbabilities.reduce((sum, value) => sum + value, 0)).toBeCloseTo(expected[index]!, 5)
      expect(drawnLogProbabilities.reduce((sum, value) => sum + value, 0)).toBeCloseTo(expected[index]!, 5)
    }
  }
  if (rare.mean > 0) count(rare.drawn, rare.mean)
  // At most 26 degrees of freedom: exceeded once in ten thousand.
  expect(chiSquare).toBeLessThan(60)
})

test('a sample does not depend on what else is drawn', async () => {
  const request = { template: Int32Array.of(mask, 1, mask, mask, 0), rule: mostConfident(2), seed: 5, samples: 8 }
  const other = { template: empty, rule: leftToRight(), samples: 4 }
  const [alone] = await anyOrderSample(denoiser, [request])
  const [, together] = await anyOrderSample(denoiser, [other, request])
  expect(together).toEqual(alone)
  expect((await anyOrderSample(denoiser, [{ ...request, samples: 2 }]))[0]).toEqual(alone!.slice(0, 2))
  expect(new Set(alone!.map(({ tokens }) => tokens.join())).size).toBeGreaterThan(1)
  const [otherKey] = await anyOrderSample(denoiser, [{ ...request, key: 'other' }])
  const [otherSeed] = await anyOrderSample(denoiser, [{ ...request, seed: 6 }])
  expect(otherKey).not.toEqual(alone)
  expect(otherSeed).not.toEqual(alone)
})

test('what is given stays; passes say the order', async () => {
  const template = Int32Array.of(2, mask, mask, 1, mask, mask)
  const [[inBlocks], [inPairs]] = (await anyOrderSample(denoiser, [
    { template, rule: blockByBlock(3, leftToRight()) },
    { template, rule: leftToRight(3) },
  ])) as [[Sample], [Sample]]
  for (const { tokens, logProbabilities } of [inBlocks, inPairs]) {
    expect([tokens[0], tokens[3], logProbabilities[0], logProbabilities[3]]).toEqual([2, 1, 0, 0])
    expect(tokens).not.toContain(mask)
  }
  expect([...inBlocks.passes]).toEqual([-1, 0, 1, -1, 2, 3])
  expect([...inPairs.passes]).toEqual([-1, 0, 0, -1, 0, 1])
})
type Sample = Awaited<ReturnType<typeof anyOrderSample>>[number][number]

test('temperature: 0 takes the most probable, others sharpen or flatten', async () => {
  const row = Float32Array.of(Math.log(0.2), Math.log(0.5), Math.log(0.3), Number.NEGATIVE_INFINITY)
  expect(drawToken(row, 0, 0.9)).toEqual({ token: 1, logProbability: 0 })
  const at = (uniform: number, temperature = 1) => drawToken(row, temperature, uniform).token
  expect([0, 0.19, 0.21, 0.69, 0.71, 1 - 2 ** -53].map(uniform => at(uniform))).toEqual([0, 0, 1, 1, 2, 2])
  // At temperature 1/2 the odds are 4 : 25 : 9.
  expect([0.1, 0.11, 0.76, 0.77].map(uniform => at(uniform, 0.5))).toEqual([0, 1, 1, 2])
  expect(drawToken(row, 0.5, 0.5).logProbability).toBeCloseTo(Math.log(25 / 38), 6)
  const [greedy] = await anyOrderSample(denoiser, [
    { template: empty, rule: mostConfident(), temperature: 0, samples: 2 },
  ])
  expect(greedy![0]).toEqual(greedy![1])
  expect([...greedy![0]!.drawnLogProbabilities]).toEqual([0, 0, 0])
  expect(greedy![0]!.logProbabilities.every(value => value < 0)).toBe(true)
})

test('a call can be ended between two passes', async () => {
  const controller = new AbortController()
  const stopping = {
    ...denoiser,
    distributions: (sequences: readonly Int32Array[]) => {
      controller.abort(new Error('enough'))
      return denoiser.distributions(sequences)
    },
  }
  const request = { template: empty, rule: leftToRight() }
  await expect(anyOrderSample(stopping, [request], { signal: controller.signal })).rejects.toThrow('enough')
})

test.each([
  [{ template: Int32Array.of(0, 4) }, 'requests[0].template[1] is 4: expected a token from 0 to 3'],
  [{ samples: -1 }, 'requests[0].samples is -1: expected a whole number from 0 on'],
  [{ temperature: Number.NaN }, 'requests[0].temperature is NaN: expected a number from 0 on'],
])('what cannot be is refused with a sentence (%#)', async (wrong, sentence) => {
  await expect(anyOrderSample(denoiser, [{ template: empty, rule: leftToRight(), ...wrong }])).rejects.toThrow(sentence)
})
