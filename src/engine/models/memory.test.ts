/**
 * A memory inside a decoder, through the front door: what it is at the start, what it learns, and what it leaves alone.
 */
import { afterAll, describe, expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import { add } from '../algebra/arithmetic.ts'
import type { CrossEntropyDatum } from '../datum.ts'
import { createEmbeddedEngine } from '../embedded/engine.ts'
import { worstDerivativeError } from '../graph/derivative-check.ts'
import type { ParameterGroup } from '../optimisers/optimiser.ts'
import { decoder } from './decoder.ts'
import type { DecoderOptions } from './decoder-configuration.ts'
import { estimatedFlopsPerToken } from './decoder-parameters.ts'
import type { MemoryConfiguration } from './memory-configuration.ts'

const backbone: DecoderOptions = {
  vocabulary: 7,
  contextLength: 6,
  depth: 2,
  width: 8,
  heads: 2,
  keyValueHeads: 1,
  feedForwardWidth: 12,
  tiedEmbeddings: true,
}
const kinds: readonly MemoryConfiguration[] = [
  { slots: 12, chosen: 3 },
  { slots: 16, chosen: 3, productKeys: true, block: 0 },
  { slots: 12, chosen: 4, query: 'history', block: 2 },
]
const withMemory = (memory: MemoryConfiguration) => decoder({ ...backbone, memory })

const engine = createEmbeddedEngine()
afterAll(() => engine.dispose())

const random = seededRandom('data')
const tokens = (length: number) => Int32Array.from({ length }, () => random.integer(7))
const adamw: ParameterGroup = { match: () => true, optimiser: { kind: 'adamw' }, learningRate: 0.01 }

/** Rows of different lengths; histories where they are read. */
function batch(memory: MemoryConfiguration | null): CrossEntropyDatum[] {
  const histories = [9, 4].map(tokens)
  return [6, 3].map((length, row) => ({
    input: { tokens: tokens(length), ...(memory?.query === 'history' && { encoderTokens: histories[row]! }) },
    targets: tokens(length),
    weights: new Float32Array(length).fill(0.2),
  }))
}

const withoutHistory = ({ input, ...datum }: CrossEntropyDatum): CrossEntropyDatum => ({
  ...datum,
  input: { tokens: input.tokens },
})

describe.each(kinds)('%j', memory => {
  it('is its backbone, and stays it while the memory is frozen and no inner state counts', async () => {
    const frozen: ParameterGroup = { ...adamw, match: ({ name }) => name.startsWith('memory.'), frozen: true }
    const whole = await engine.createTrainer({ model: withMemory(memory), seed: 3 })
    const plain = await engine.createTrainer({ model: decoder(backbone), seed: 3 })
    for (let step = 0; step < 3; step++) {
      const data = batch(memory)
      const result = await whole.forwardBackward(data, { kind: 'cross_entropy', innerStateWeight: 0 })
      const expected = await plain.forwardBackward(data.map(withoutHistory), { kind: 'cross_entropy' })
      expect(result.logProbabilities).toEqual(expected.logProbabilities)
      await whole.optimStep({ groups: [frozen, adamw] })
      await plain.optimStep({ groups: [adamw] })
    }
    const values = await whole.values()
    for (const [name, array] of await plain.values()) expect(values.get(name)).toEqual(array)
    await whole.dispose()
    await plain.dispose()
  })

  it('has gradients of both losses that agree with finite differences', async () => {
    const model = withMemory(memory)
    const noise = seededRandom('moved')
    const values = model.initialValues(1)
    const moved = model.parameters.map(({ name, shape }) => {
      const array = Float64Array.from(values.get(name)!, value => value + 0.3 * noise.normal())
      return [name, { shape, values: array }] as const
    })
    const error = await worstDerivativeError({
      inputs: Object.fromEntries(moved),
      fixed: {
        tokens: Int32Array.of(1, 2, 3, 4, 5, 6),
        lengths: Int32Array.of(3, 2),
        encoderTokens: Int32Array.of(1, 2, 3, 4, 5, 6, 0, 0),
        encoderLengths: Int32Array.of(4, 2),
      },
      build: (graph, parameters) => {
        const { logits, innerLogits } = model.build({
          graph,
          parameters: new Map(Object.entries(parameters)),
          rows: 2,
          positions: 3,
          tokens: graph.indices('tokens', [6], 7),
          lengths: graph.indices('lengths', [2], 4),
          encoder: {
            positions: 4,
            tokens: graph.indices('encoderTokens', [8], 7),
            lengths: graph.indices('encoderLengths', [2], 5),
          },
          dropout: (_, tensor) => tensor,
        })
        return add(logits, innerLogits!)
      },
      elements: 8,
    })
    expect(error).toBeLessThan(1e-5)
  })

  it('says which slots it chose and how much of each it took', async () => {
    const trainer = await engine.createTrainer({ model: withMemory(memory), seed: 1 })
    const capture = ['memory.slots', 'memory.weights']
    const { captured } = await trainer.forward(batch(memory), { kind: 'cross_entropy' }, { capture })
    for (const [row, length] of [6, 3].entries()) {
      const [slots, weights] = capture.map(name => captured.get(name)![row]!)
      expect(slots).toHaveLength(length * memory.chosen)
      for (let position = 0; position < length; position++) {
        const [start, end] = [position * memory.chosen, (position + 1) * memory.chosen]
        const chosen = [...slots!.subarray(start, end)]
        expect(new Set(chosen).size).toBe(memory.chosen)
        expect(chosen.every(slot => Number.isInteger(slot) && slot >= 0 && slot < memory.slots)).toBe(true)
        const shares = [...weights!.subarray(start, end)]
        expect(shares.reduce((a, b) => a + b)).toBeCloseTo(1, 5)
        expect(shares).toEqual(shares.toSorted((a, b) => b - a))
      }
      if (memory.query === 'history')
        expect([...slots!]).toEqual(Array.from({ length }, () => [...slots!.subarray(0, memory.chosen)]).flat())
    }
    await trainer.dispose()
  })
})

it('the inner state is what the memory was added to, read by the head', async () => {
  const loss = { kind: 'cross_entropy', innerStateWeight: 0.5 } as const
  for (const block of [0, 1, 2]) {
    const trainer = await engine.createTrainer({ model: withMemory({ slots: 8, chosen: 2, block }), seed: 4 })
    const { lossSum, parts } = await trainer.forward(batch(null), loss)
    const ofOutput = lossSum - parts['innerState']!
    // After the last block nothing is left between the two.
    if (block === 2) expect(parts['innerState']).toBeCloseTo(0.5 * ofOutput, 5)
    else expect(Math.abs(parts['innerState']! - 0.5 * ofOutput)).toBeGreaterThan(1e-3)
    await trainer.dispose()
  }
})

it('a step of one user moves no value that another chose alone', async () => {
  const model = withMemory({ slots: 40, chosen: 2, query: 'history' })
  const trainer = await engine.createTrainer({ model, seed: 2 })
  const user = (history: number[]): CrossEntropyDatum => ({
    input: { tokens: Int32Array.of(1, 2, 3), encoderTokens: Int32Array.from(history) },
    targets: Int32Array.of(2, 3, 4),
    weights: new Float32Array(3).fill(1),
  })
  const users = [user([1, 2, 3, 1, 2, 3]), user([6, 5, 4, 6, 5, 4])]
  const loss = { kind: 'cross_entropy' } as const
  const { captured } = await trainer.forward(users, loss, { capture: ['memory.slots'] })
  const [ours, others] = captured.get('memory.slots')!.map(slots => new Set(slots))
  expect(ours!.intersection(others!).size).toBe(0)
  const before = (await trainer.values()).get('memory.values')!
  await trainer.forwardBackward([users[0]!], loss)
  await trainer.optimStep({ groups: [{ match: () => true, optimiser: { kind: 'sgd' }, learningRate: 0.1 }] })
  const after = (await trainer.values()).get('memory.values')!
  for (let slot = 0; slot < 40; slot++) {
    const [from, to] = [before, after].map(values => [...values.subarray(8 * slot, 8 * slot + 8)])
    if (ours!.has(slot)) expect(to).not.toEqual(from)
    else expect(to).toEqual(from)
  }
  await trainer.dispose()
})

it('learns from a history that is longer than what the backbone reads', async () => {
  const model = withMemory({ slots: 16, chosen: 4, query: 'history', block: 1 })
  const trainer = await engine.createTrainer({ model, seed: 2 })
  // Users go round the items upwards or downwards; each history holds all of them, and the backbone sees the last.
  const draw = (): CrossEntropyDatum => {
    const direction = random.integer(2) === 0 ? 1 : 6
    const start = random.integer(7)
    const items = Array.from({ length: 8 + random.integer(5) }, (_, place) => (start + direction * place) % 7)
    return {
      input: { tokens: Int32Array.of(items.at(-2)!), encoderTokens: Int32Array.from(items.slice(0, -1)) },
      targets: Int32Array.of(items.at(-1)!),
      weights: Float32Array.of(1 / 32),
    }
  }
  const data = () => Array.from({ length: 32 }, draw)
  const loss = { kind: 'cross_entropy' } as const
  for (let step = 0; step < 150; step++) {
    await trainer.forwardBackward(data(), loss)
    await trainer.optimStep({ groups: [{ ...adamw, learningRate: 0.02 }], clipNorm: 1 })
  }
  // Without the history both directions are as likely: log 2.
  expect((await trainer.forward(data(), loss)).lossSum).toBeLessThan(0.1)
  await trainer.dispose()
})

it('costs what is compared and what is chosen', () => {
  const cost = (memory: MemoryConfiguration) =>
    estimatedFlopsPerToken({ ...backbone, memory }) - estimatedFlopsPerToken(backbone)
  expect(cost({ slots: 64, chosen: 4 })).toBe(2 * 64 * 8 + 12 * 4 * 8)
  expect(cost({ slots: 64, chosen: 4, productKeys: true })).toBe(2 * 8 * 8 + 12 * 4 * 8)
  expect(cost({ slots: 64, chosen: 4, query: 'history' })).toBe(0)
})

it('a configuration with a memory that cannot be is refused', () => {
  expect(() => withMemory({ slots: 4, chosen: 5 })).toThrow(
    "The decoder's configuration is not valid: memory.chosen is 5: expected at most slots, which is 4",
  )
})
