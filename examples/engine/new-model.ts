/**
 * How to add a model and an operation to the engine, in one file: a network that predicts a token from the last few before it (Bengio et
 * al., 2003), with an activation that the engine does not have. Trained to count, it prints how it goes on.
 *
 * Run:  node examples/engine/new-model.ts
 */
import { multiply } from '../../src/engine/algebra/arithmetic.ts'
import { concatenate, reshape, slice } from '../../src/engine/algebra/arrangement.ts'
import { zeros } from '../../src/engine/algebra/broadcast.ts'
import { sigmoid } from '../../src/engine/algebra/functions.ts'
import { lookUpRows } from '../../src/engine/algebra/lookup.ts'
import { matrixProduct } from '../../src/engine/algebra/matrix-product.ts'
import { createEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import type { Tensor } from '../../src/engine/graph/graph.ts'
import type { Model } from '../../src/engine/models/model.ts'
import type { Parameter } from '../../src/engine/parameter.ts'
import { byteTokeniser } from '../../src/engine/tokenisers/byte-tokeniser.ts'
import { seededRandom } from '../../src/statistics/random.ts'

/** log(1 + exp(a)), element by element. */
export function softplus(a: Tensor): Tensor {
  return a.graph.operation({
    operation: 'Softplus',
    inputs: [a],
    shape: a.shape,
    derivative: gradient => [multiply(gradient, sigmoid(a))],
  })
}

export interface WindowConfiguration {
  readonly vocabulary: number
  readonly contextLength: number
  /** How many tokens are seen, the present one among them. */
  readonly window: number
  /** Of an embedding, and of the hidden layer. */
  readonly width: number
}

export function windowModel(configuration: WindowConfiguration): Model {
  const { vocabulary, contextLength, window, width } = configuration
  const parameters: readonly Parameter[] = [
    { name: 'embedding', shape: [vocabulary, width], role: 'embedding' },
    { name: 'hidden', shape: [window * width, width], role: 'matrix' },
    { name: 'head', shape: [width, vocabulary], role: 'head' },
  ]
  return {
    kind: 'window',
    configuration,
    vocabulary,
    contextLength,
    inputs: { tokens: true, encoderTokens: false, features: 0 },
    parameters,
    readouts: { hidden: width },
    initialValues(seed) {
      const random = seededRandom(seed)
      const values = ([inputs, outputs]: readonly number[]) =>
        Float32Array.from({ length: inputs! * outputs! }, () => random.normal() / Math.sqrt(inputs!))
      return new Map(parameters.map(({ name, shape }) => [name, values(shape)]))
    },
    build({ graph, parameters: weights, rows, positions, tokens }) {
      const embedded = reshape(lookUpRows(weights.get('embedding')!, tokens), [rows, positions, width])
      const seen = Array.from({ length: window }, (_, back) => {
        if (back === 0) return embedded
        if (back >= positions) return zeros(graph, embedded.shape)
        return concatenate([zeros(graph, [rows, back, width]), slice(embedded, 1, 0, positions - back)], 1)
      })
      const joined = reshape(concatenate(seen, 2), [rows * positions, window * width])
      const hidden = softplus(matrixProduct(joined, weights.get('hidden')!))
      return { logits: matrixProduct(hidden, weights.get('head')!), readouts: new Map([['hidden', hidden]]) }
    },
    incremental: null,
  }
}

/** Trains it to count; returns how it goes on from a beginning. */
export async function learnToCount(): Promise<string> {
  const tokeniser = byteTokeniser()
  const tokens = tokeniser.encode('one two three four five six seven eight nine ten ')
  const model = windowModel({ vocabulary: tokeniser.vocabulary, contextLength: tokens.length, window: 6, width: 16 })
  const engine = createEmbeddedEngine()
  const trainer = await engine.createTrainer({ model, seed: 1 })
  const datum = {
    input: { tokens: tokens.subarray(0, -1) },
    targets: tokens.subarray(1),
    weights: new Float32Array(tokens.length - 1).fill(1 / tokens.length),
  }
  const groups = [{ match: () => true, optimiser: { kind: 'adamw' }, learningRate: 0.02 }] as const
  for (let step = 0; step < 120; step++) {
    await trainer.forwardBackward([datum], { kind: 'cross_entropy' })
    await trainer.optimStep({ groups })
  }
  const sampler = await trainer.snapshot()
  const prompt = { tokens: tokeniser.encode('one two ') }
  const [samples] = await sampler.sample([{ prompt, maximumTokens: 22, temperature: 0 }])
  await engine.dispose()
  return tokeniser.decode(samples![0]!.tokens)
}

if (import.meta.main) console.log(await learnToCount())
