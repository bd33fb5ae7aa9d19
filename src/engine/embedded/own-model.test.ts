/**
 * Models of a user's own that are not what they say, and models that cannot do what is asked: one sentence each.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { lookUpRows } from '../algebra/lookup.ts'
import { bigram } from '../models/bigram.ts'
import { decoder } from '../models/decoder.ts'
import type { Model } from '../models/model.ts'
import { createEmbeddedEngine } from './engine.ts'

const engine = createEmbeddedEngine()
afterAll(() => engine.dispose())

const table = bigram({ vocabulary: 5, contextLength: 4 })
const own: Model = { ...table, kind: 'own', incremental: null }
const tokens = Int32Array.of(0, 1, 2)
const datum = { input: { tokens }, targets: tokens, weights: new Float32Array(3).fill(1) }

describe.each<[string, Partial<Model>, string]>([
  [
    'logits of another vocabulary',
    { vocabulary: 4 },
    'the model "own": logits, (rows × positions, vocabulary): Gather (3, 5) should have shape (3, 4)',
  ],
  [
    'a parameter that is not there',
    {
      build: ({ parameters, tokens }) => ({ logits: lookUpRows(parameters.get('emb')!, tokens), readouts: new Map() }),
    },
    'the model "own" has no parameter "emb", which build asks for: there are logits',
  ],
])('%s', (_, change, sentence) => {
  it('is refused in training and in sampling', async () => {
    const trainer = await engine.createTrainer({ model: { ...own, ...change } })
    await expect(trainer.forward([datum], { kind: 'cross_entropy' })).rejects.toThrow(sentence)
    const sampler = await trainer.snapshot()
    await expect(sampler.sample([{ prompt: { tokens }, maximumTokens: 1 }])).rejects.toThrow(sentence.slice(0, 30))
  })
})

it('a read-out that is not built is refused', async () => {
  const trainer = await engine.createTrainer({ model: { ...own, readouts: { hidden: 3 } } })
  await expect(trainer.forward([datum], { kind: 'cross_entropy' }, { capture: ['hidden'] })).rejects.toThrow(
    'the model "own": the read-out hidden: build gave none: expected shape (3, 3)',
  )
})

it.each([
  [new Map(), 'initialValues of the model: there are no values of logits'],
  [new Map([['logits', new Float32Array(3)]]), 'initialValues of the model: logits has 3 values: expected 25'],
])('initial values that do not fit are refused', async (values, sentence) => {
  await expect(engine.createTrainer({ model: { ...own, initialValues: () => values } })).rejects.toThrow(sentence)
})

it('a bidirectional model is not continued, and can be scored', async () => {
  const sizes = { vocabulary: 5, contextLength: 8, depth: 1, width: 4, heads: 2 }
  const trainer = await engine.createTrainer({ model: decoder({ ...sizes, attention: 'bidirectional' }) })
  const sampler = await trainer.snapshot()
  const sentence = 'a bidirectional model cannot be continued'
  await expect(sampler.sample([{ prompt: { tokens }, maximumTokens: 1 }])).rejects.toThrow(`sample: ${sentence}`)
  await expect(sampler.beamSearch([{ prompt: { tokens }, beams: 1, maximumTokens: 1, stop: [] }])).rejects.toThrow(
    `beamSearch: ${sentence}`,
  )
  expect(await sampler.score([{ input: { tokens }, targets: tokens }])).toHaveLength(1)
})

it('a checkpoint of an own model says how it is loaded', async () => {
  const home = mkdtempSync(join(tmpdir(), 'almanac-own-model-'))
  try {
    const folder = join(home, 'own')
    const trainer = await engine.createTrainer({ model: own })
    await trainer.save(folder)
    await expect(engine.loadTrainer(folder)).rejects.toThrow(
      'make it, createTrainer({ model }), then trainer.load(folder)',
    )
    await trainer.load(folder)
  } finally {
    rmSync(home, { recursive: true })
  }
})
