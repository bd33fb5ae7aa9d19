import { expect, test } from 'vitest'
import { resolveConfiguration } from './configuration.ts'
import { divergence, uniformLoss } from './divergence.ts'
import { tiny } from './fixtures/tiny.ts'
import type { Metrics } from './metrics.ts'
import type { Configuration } from './options.ts'
import { pretrain } from './pretrain.ts'
import { loadText } from './text.ts'

async function run(overrides: Partial<Configuration>, seed = 1, threads = 1): Promise<Metrics> {
  return pretrain({ ...resolveConfiguration(tiny), ...overrides }, { seed, threads })
}

test('the same seed gives the same numbers to the last bit, with one thread or two; another seed does not', async () => {
  const [first, again, threaded, other] = [await run({}), await run({}), await run({}, 1, 2), await run({}, 2)]
  expect(again.val_bpb).toBe(first.val_bpb)
  expect(again.curve).toEqual(first.curve)
  expect(threaded.val_bpb).toBe(first.val_bpb)
  expect(other.val_bpb).not.toBe(first.val_bpb)
})

test('a batch that is computed in parts is one batch', async () => {
  const { steps, tokens, val_bpb } = await run({ batchTokens: 4096, tokenBudget: 8192 })
  expect({ steps, tokens }).toEqual({ steps: 2, tokens: 8192 })
  expect(Number.isFinite(val_bpb)).toBe(true)
})

test('learns more than the frequencies of bytes', async () => {
  const { val_bpb, curve } = await run({ width: 32, contextLength: 32, batchTokens: 512, tokenBudget: 120 * 512 })
  expect(val_bpb).toBeLessThan(unigramBitsPerByte() - 0.5)
  expect(curve.at(-1)!.train_bpb).toBeLessThan(curve[0]!.train_bpb - 2)
})

test('a masked-diffusion run is measured too', async () => {
  const { val_bpb, val_bpb_moby_dick, val_bpb_sotu, outcome } = await run({ objective: 'masked-diffusion' })
  expect(outcome).toBe('finished')
  expect(val_bpb).toBeCloseTo((Number(val_bpb_moby_dick) + Number(val_bpb_sotu)) / 2, 10)
  expect(val_bpb).toBeLessThan(7.9)
})

test('a run that explodes is diverged, and stops early', async () => {
  const metrics = await run({ learningRate: 10, tokenBudget: 200 * 1024, clipNorm: 0, logitSoftCap: 0 })
  expect(metrics).toMatchObject({ outcome: 'diverged', val_bpb: 'NaN' })
  expect(metrics.reason).toMatch(/loss/)
  expect(metrics.steps).toBeLessThan(150)
})

test.each<Partial<Configuration>>([
  { optimiser: 'muon', muonLearningRate: 10, muonMomentum: 0, newtonSchulzSteps: 12 },
  { initialisationScale: 100 },
  { initialisationScale: 0.01, queryKeyNorm: true },
  { weightDecay: 10, learningRate: 10 },
  { epsilon: 1, beta1: 0, beta2: 0 },
  { learningRate: 0, muonLearningRate: 0, zLoss: 1, logitSoftCap: 0.001 },
  { learningRate: 10, batchTokens: 4096, tokenBudget: 4096, clipNorm: 0 },
])('the extreme values %j end in a result', async overrides => {
  const { outcome, val_bpb, reason } = await run(overrides)
  if (outcome === 'finished') expect({ reason, sound: Number(val_bpb) <= 8 }).toEqual({ reason: null, sound: true })
  else expect({ val_bpb, reason }).toEqual({ val_bpb: 'NaN', reason: expect.stringMatching(/finite|uniform/) })
})

test('divergence: not finite at once; above a uniform guess only for long, and after the warm-up', () => {
  expect(divergence([2, Number.NaN], 0)).toBe('the loss of step 2 is not a finite number')
  expect(divergence(Array(31).fill(9), 0)).toBeNull()
  expect(divergence(Array(32).fill(9), 0)).toMatch(/uniform guess \(9\.00 nats in steps 17 to 32\)/)
  expect(divergence(Array(32).fill(9), 10)).toBeNull()
  expect(divergence(Array(100).fill(uniformLoss), 0)).toBeNull()
})

/** Held-out bits per byte of the best model without context: byte frequencies of the training text, half and half. */
function unigramBitsPerByte(): number {
  const frequencies = new Float64Array(256).fill(1e-6)
  for (const { training } of loadText()) {
    for (const byte of training) frequencies[byte]! += 0.5 / training.length
  }
  const perSource = loadText().map(({ heldOut }) => {
    let bits = 0
    for (const byte of heldOut) bits -= Math.log2(frequencies[byte]!)
    return bits / heldOut.length
  })
  return (perSource[0]! + perSource[1]!) / 2
}
