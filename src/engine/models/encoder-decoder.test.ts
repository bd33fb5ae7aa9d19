/**
 * The encoder-decoder as a whole: gradients against finite differences over its options, what matters to what, and the
 * logits step by step against those of the whole.
 */
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import { createEmbeddedEngine } from '../embedded/engine.ts'
import { worstDerivativeError } from '../graph/derivative-check.ts'
import { Graph, type Tensor } from '../graph/graph.ts'
import { compile } from '../graph/program.ts'
import { checkInput } from '../losses/check-data.ts'
import { crossEntropy } from '../losses/cross-entropy.ts'
import { appendingCache, pastTensors } from '../sampling/cache-tensors.ts'
import { encoderDecoder } from './encoder-decoder.ts'
import { type EncoderDecoderOptions, encoderDecoderProblems } from './encoder-decoder-configuration.ts'
import type { Model } from './model.ts'

const tiny: EncoderDecoderOptions = {
  vocabulary: 7,
  contextLength: 4,
  depth: 1,
  encoderDepth: 2,
  width: 8,
  heads: 2,
  keyValueHeads: 1,
  feedForwardWidth: 6,
  tiedEmbeddings: true,
  sharedEmbeddings: true,
}

const variants: readonly Partial<EncoderDecoderOptions>[] = [
  {},
  {
    encoderVocabulary: 5,
    encoderContextLength: 6,
    sharedEmbeddings: false,
    tiedEmbeddings: false,
    positions: 'learned',
    normKind: 'layer',
    norm: 'post',
    residualScaling: 'depth',
  },
  { depth: 2, encoderDepth: 1, headWidth: 6, keyValueHeads: 2, queryKeyNorm: true, positions: 'alibi' },
  { memory: { slots: 9, chosen: 2, productKeys: true } },
  {
    memory: { slots: 9, chosen: 2, query: 'history' },
    encoderWindow: 2,
    sharedEmbeddings: false,
    encoderVocabulary: 5,
  },
]

const rows = 2
const encoderLengths = Int32Array.of(5, 3)
const encoderTokens = Int32Array.of(1, 2, 3, 4, 0, 4, 3, 2, 0, 0)
const tokens = Int32Array.of(5, 1, 2, 3, 6, 0, 0, 1)
const fixed = { tokens, lengths: Int32Array.of(4, 4), encoderTokens, encoderLengths }

function perturbedValues(model: Model) {
  const random = seededRandom('perturbation')
  const initial = model.initialValues(1)
  return Object.fromEntries(
    model.parameters.map(({ name, shape }) => {
      const values = Float64Array.from(initial.get(name)!, value => value + 0.2 * random.normal())
      return [name, { shape, values }]
    }),
  )
}

const encoderOf = (graph: Graph, model: Model) => ({
  positions: 5,
  tokens: graph.indices('encoderTokens', [rows * 5], model.inputs.encoderVocabulary!),
  lengths: graph.indices('encoderLengths', [rows], 6),
})

function wholeLogits(graph: Graph, model: Model, parameters: ReadonlyMap<string, Tensor>): Tensor {
  return model.build({
    graph,
    parameters,
    rows,
    positions: 4,
    tokens: graph.indices('tokens', [rows * 4], model.vocabulary),
    lengths: graph.indices('lengths', [rows], 5),
    encoder: encoderOf(graph, model),
    dropout: (_, tensor) => tensor,
  }).logits
}

const parametersOf = (graph: Graph, model: Model) =>
  new Map(model.parameters.map(({ name, shape }) => [name, graph.input(name, shape)]))

const arraysOf = (model: Model) =>
  Object.fromEntries(Object.entries(perturbedValues(model)).map(([name, { values }]) => [name, values]))

it.each(variants)('gradients agree with finite differences: %j', async changes => {
  const model = encoderDecoder({ ...tiny, ...changes })
  const error = await worstDerivativeError({
    inputs: perturbedValues(model),
    fixed: {
      ...fixed,
      targets: Int32Array.of(1, 2, 3, 6, 0, 0, 1, 5),
      weights: Float64Array.of(1, 0.5, 0, -1, 1, 1, 2, 1),
    },
    build: (graph, inputs) => {
      const logits = wholeLogits(graph, model, new Map(Object.entries(inputs)))
      return crossEntropy(
        logits,
        { kind: 'single', tokens: graph.indices('targets', [8], 7) },
        graph.input('weights', [8, 1]),
      ).objective
    },
    elements: 3,
  })
  expect(error).toBeLessThan(1e-5)
})

it('the whole encoder text matters everywhere, its padding and later tokens of the decoder nowhere', async () => {
  const model = encoderDecoder(tiny)
  const graph = new Graph('float64')
  const program = await compile({ logits: wholeLogits(graph, model, parametersOf(graph, model)) })
  const values = arraysOf(model)
  const run = async (changes: Partial<typeof fixed>) =>
    (await program.run({ ...values, ...fixed, ...changes }))['logits'] as Float64Array
  const base = await run({})
  /** By position of both rows, whether the logits moved. */
  const moved = (other: Float64Array) =>
    Array.from({ length: 8 }, (_, position) => {
      const own = other.slice(7 * position, 7 * position + 7)
      const most = Math.max(...own.map((value, token) => Math.abs(value - base[7 * position + token]!)))
      if (most > 1e-12 && most < 1e-6) throw new Error(`${most} is neither nothing nor much`)
      return most > 1e-6 ? 1 : 0
    }).join('')
  for (const [place, expected] of ['1', '1', '1', '1', '1', '2', '2', '2', '-', '-'].entries()) {
    const seen = moved(await run({ encoderTokens: encoderTokens.with(place, 6) }))
    expect(seen).toBe({ 1: '11110000', 2: '00001111', '-': '00000000' }[expected])
  }
  for (const [place, expected] of ['11110000', '01110000', '00110000', '00010000', '00001111'].entries())
    expect(moved(await run({ tokens: tokens.with(place, 4) }))).toBe(expected)
  await program.dispose()
})

/** The decoder's tokens in parts, each with what came before it in the cache. */
async function logitsInParts(model: Model, counts: readonly number[]): Promise<number[][]> {
  const incremental = model.incremental!
  const values = arraysOf(model)
  const graph = new Graph('float64')
  const encode = incremental.encode!({
    graph,
    parameters: parametersOf(graph, model),
    rows,
    encoder: encoderOf(graph, model),
  })
  const encoder = await compile(Object.fromEntries(encode))
  const encoded = (await encoder.run({ ...values, encoderTokens, encoderLengths })) as Record<string, Float64Array>
  await encoder.dispose()
  let past: Record<string, Float64Array> = {}
  let start = 0
  const logits: number[][] = Array.from({ length: rows }, () => [])
  for (const count of counts) {
    const graph = new Graph('float64')
    const shape = { rows, capacity: start, encoderPositions: 5 }
    const places = graph.indices('places', [rows, count], 4)
    const fresh = new Map<string, Tensor>()
    const cache = appendingCache(pastTensors(graph, incremental, shape), shape, places, fresh)
    const parameters = parametersOf(graph, model)
    const tokenInput = graph.indices('tokens', [rows * count], 7)
    const step = incremental.step({ graph, parameters, rows, count, tokens: tokenInput, places, placesBelow: 4, cache })
    const program = await compile({ ...Object.fromEntries(fresh), logits: step.logits })
    const piece = [0, 4].flatMap(row => [...tokens.slice(row + start, row + start + count)])
    const range = Array.from({ length: count }, (_, index) => start + index)
    const run = await program.run({
      ...values,
      ...Object.fromEntries(Object.entries({ ...encoded, ...past }).map(([name, array]) => [`cache.${name}`, array])),
      'cache.lengths': Int32Array.of(start, start),
      tokens: Int32Array.from(piece),
      places: Int32Array.from([...range, ...range]),
    })
    await program.dispose()
    for (const row of [0, 1]) logits[row]!.push(...run['logits']!.slice(row * count * 7, (row + 1) * count * 7))
    past = Object.fromEntries(
      [...fresh].map(([name, { shape }]) => [name, joined(past[name], run[name] as Float64Array, shape, start, count)]),
    )
    start += count
  }
  return logits
}

/** Along the positions of (rows, heads, positions, channels). */
function joined(
  before: Float64Array | undefined,
  added: Float64Array,
  shape: readonly number[],
  start: number,
  count: number,
) {
  const [outer, channels] = [shape[0]! * shape[1]!, shape[3]!]
  return Float64Array.from(
    Array.from({ length: outer }, (_, head) => [
      ...(before?.slice(head * start * channels, (head + 1) * start * channels) ?? []),
      ...added.slice(head * count * channels, (head + 1) * count * channels),
    ]).flat(),
  )
}

it.each(variants)('step by step the logits are those of the whole: %j', async changes => {
  const model = encoderDecoder({ ...tiny, ...changes })
  const graph = new Graph('float64')
  const program = await compile({ logits: wholeLogits(graph, model, parametersOf(graph, model)) })
  const whole = (await program.run({ ...arraysOf(model), ...fixed }))['logits']!
  await program.dispose()
  const inParts = (await logitsInParts(model, [2, 1, 1])).flat()
  expect(inParts).toHaveLength(whole.length)
  inParts.forEach((value, index) => {
    expect(value).toBeCloseTo(whole[index]!, 10)
  })
})

it('has tables of its own for the encoder unless they are shared, and cross-attention in each block', () => {
  const names = (changes: Partial<EncoderDecoderOptions>) =>
    encoderDecoder({ ...tiny, ...changes }).parameters.map(({ name }) => name)
  expect(names({})).not.toContain('encoder.embedding')
  expect(names({ sharedEmbeddings: false })).toContain('encoder.embedding')
  expect(names({ depth: 2 }).filter(name => name.endsWith('cross.query'))).toEqual([
    'blocks.0.cross.query',
    'blocks.1.cross.query',
  ])
  for (const changes of variants) expect(new Set(names(changes)).size).toBe(names(changes).length)
})

describe('a configuration that is not valid', () => {
  it.each<readonly [object, string]>([
    [{ encoderDepth: 0 }, 'encoderDepth is 0: expected a positive whole number'],
    [{ encoderDepth: undefined }, 'encoderDepth is undefined: expected a positive whole number'],
    [{ encoderContextLength: 2.5 }, 'encoderContextLength is 2.5: expected a positive whole number, or absent'],
    [{ encoderVocabulary: 5 }, "encoderVocabulary is 5: expected 7, the decoder's, for shared embeddings"],
    [{ sharedEmbeddings: 1 }, 'sharedEmbeddings is 1: expected true or false'],
    [{ heads: 3 }, 'width is 8: expected a multiple of heads, which is 3'],
  ])('%j', (changes, sentence) => {
    const configuration = { ...tiny, ...changes } as EncoderDecoderOptions
    expect(encoderDecoderProblems(configuration)).toContain(sentence)
    expect(() => encoderDecoder(configuration)).toThrow(sentence)
  })
})

it('refuses what the encoder cannot read', () => {
  const model = encoderDecoder({ ...tiny, sharedEmbeddings: false, encoderVocabulary: 5, encoderContextLength: 3 })
  const input = (...encoderTokens: number[]) => ({
    tokens: Int32Array.of(6),
    encoderTokens: Int32Array.from(encoderTokens),
  })
  expect(() => checkInput('data[0].input', input(1, 2, 3, 4), model)).toThrow(
    'data[0].input has 4 encoderTokens: the encoder takes at most 3',
  )
  expect(() => checkInput('data[0].input', input(1, 5), model)).toThrow(
    'data[0].input.encoderTokens[1] is 5: expected a token from 0 to 4',
  )
  expect(() => checkInput('data[0].input', input(1, 4), model)).not.toThrow()
})

it('learns to copy what its encoder reads, and says it greedily through the engine', async () => {
  const engine = createEmbeddedEngine()
  const model = encoderDecoder({ ...tiny, width: 16, keyValueHeads: 2, feedForwardWidth: 32, encoderDepth: 1 })
  const trainer = await engine.createTrainer({ model, seed: 1 })
  const random = seededRandom('copying')
  /** The decoder begins with 0 and repeats the encoder's three tokens. */
  const datum = () => {
    const text = Array.from({ length: 3 }, () => 1 + random.integer(6))
    const input = { tokens: Int32Array.of(0, ...text.slice(0, 2)), encoderTokens: Int32Array.from(text) }
    return { input, targets: Int32Array.from(text), weights: new Float32Array(3).fill(1 / 96) }
  }
  for (let step = 0; step < 150; step++) {
    const data = Array.from({ length: 32 }, datum)
    await trainer.forwardBackward(data, { kind: 'cross_entropy' })
    await trainer.optimStep({ groups: [{ match: () => true, optimiser: { kind: 'adamw' }, learningRate: 0.01 }] })
  }
  const sampler = await trainer.snapshot()
  const texts = Array.from({ length: 20 }, () => datum().targets)
  const samples = await sampler.sample(
    texts.map(encoderTokens => ({
      prompt: { tokens: Int32Array.of(0), encoderTokens },
      maximumTokens: 3,
      temperature: 0,
    })),
  )
  const right = samples.filter(([sample], index) => sample!.tokens.join() === texts[index]!.join())
  await engine.dispose()
  // By chance it would be one in 216.
  expect(right.length).toBeGreaterThanOrEqual(18)
})
