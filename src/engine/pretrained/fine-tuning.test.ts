/**
 * A published model in use: the embedded engine samples what transformers' greedy decoding gives, trains low-rank
 * adapters on it, and what is written with the adapters merged is what was trained.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { createEmbeddedEngine } from '../embedded/engine.ts'
import { readPretrained } from './read-pretrained.ts'
import { writePretrained } from './write-pretrained.ts'

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/pretrained/${name}`, import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'almanac-fine-tuning-'))
const engine = createEmbeddedEngine()
afterAll(async () => {
  await engine.dispose()
  rmSync(scratch, { recursive: true })
})

interface Expected {
  readonly sequences: readonly { readonly tokens: readonly number[]; readonly greedy: readonly number[] }[]
}

describe.each(['llama', 'llama-tied', 'qwen3'])('%s', name => {
  it('continues greedily as transformers does', async () => {
    const { sequences } = JSON.parse(readFileSync(join(fixture(name), 'expected.json'), 'utf8')) as Expected
    const { model, values } = readPretrained(fixture(name))
    const trainer = await engine.createTrainer({ model, values })
    const sampler = await trainer.snapshot()
    const requests = sequences.map(({ tokens, greedy }) => ({
      prompt: { tokens: Int32Array.from(tokens) },
      maximumTokens: greedy.length,
      temperature: 0,
    }))
    const samples = await sampler.sample(requests)
    samples.forEach(([sample], index) => {
      expect([...sample!.tokens]).toEqual(sequences[index]!.greedy)
    })
  })
})

it('learns a text by adapters alone, and is the same model when it was written and read', async () => {
  const adapters = { rank: 2, projections: ['query', 'value', 'down'] }
  const { model, values } = readPretrained(fixture('llama-tied'))
  const before = new Map([...values].map(([parameter, array]) => [parameter, array.slice()]))
  const trainer = await engine.createTrainer({ model, values, adapters })
  const tokens = Int32Array.of(1, 7, 30, 12, 7, 25, 3, 18)
  const targets = Int32Array.of(7, 30, 12, 7, 25, 3, 18, 2)
  const datum = { input: { tokens }, targets, weights: new Float32Array(8).fill(1 / 8) }
  const loss = { kind: 'cross_entropy' } as const
  const { lossSum: atFirst } = await trainer.forward([datum], loss)
  for (let step = 0; step < 30; step++) {
    await trainer.forwardBackward([datum], loss)
    await trainer.optimStep({ groups: [{ match: () => true, optimiser: { kind: 'adamw' }, learningRate: 0.05 }] })
  }
  const trained = await trainer.forward([datum], loss)
  expect(trained.lossSum).toBeLessThan(atFirst / 4)
  expect(values).toEqual(before)

  const folder = join(scratch, 'tuned')
  const all = new Map([...values, ...(await trainer.values())])
  for (const [given, sentence] of [
    [
      { model, values: all },
      'values has blocks.0.attention.query.adapter.a, which the model does not have: give `adapters`',
    ],
    [{ model, values, adapters }, 'values has no blocks.0.attention.query.adapter.a, which the adapters have'],
  ] as const)
    expect(() => writePretrained(folder, given)).toThrow(sentence)
  writePretrained(folder, { model, values: all, adapters, from: fixture('llama-tied') })
  const again = readPretrained(folder)
  const merged = await engine.createTrainer({ model: again.model, values: again.values })
  const { logProbabilities } = await merged.forward([datum], loss)
  logProbabilities[0]!.forEach((value, position) => {
    expect(value).toBeCloseTo(trained.logProbabilities[0]![position]!, 4)
  })
})
