/**
 * Every built-in loss against PyTorch's losses and gradients (fixtures/losses_torch.py), in double precision as a graph and in single
 * through a trainer; against finite differences; and what counts for nothing.
 */
import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import type { CrossEntropyDatum, Datum, PolicyDatum } from '../datum.ts'
import { createEmbeddedEngine } from '../embedded/engine.ts'
import { Graph } from '../graph/graph.ts'
import { compile } from '../graph/program.ts'
import { bigram } from '../models/bigram.ts'
import { buildComputation, type ComputationShape, gradientOf, plainParameters } from '../passes/computation.ts'
import { pieceInputs } from '../passes/piece-inputs.ts'
import type { Loss } from './loss.ts'

interface Case {
  readonly name: string
  readonly loss: Loss
  readonly targets: 'single' | 'ragged' | 'vocabulary'
  readonly distribution: string
  readonly lossSum: number
  readonly parts: Readonly<Record<string, number>>
  readonly losses: readonly number[]
  readonly logProbabilities: readonly number[]
  /** By the logits, positions × vocabulary. */
  readonly gradient: readonly number[]
  readonly drawn?: readonly number[]
}
const fixture = JSON.parse(readFileSync(new URL('../fixtures/losses-torch.json', import.meta.url), 'utf8')) as {
  readonly positions: number
  readonly vocabulary: number
  readonly logits: readonly number[]
  readonly targets: readonly number[]
  readonly weights: readonly number[]
  readonly ragged: {
    readonly tokens: readonly number[]
    readonly offsets: readonly number[]
    readonly weights: readonly number[]
  }
  readonly vocabularyWeights: readonly number[]
  readonly advantages: readonly number[]
  readonly distributions: Readonly<
    Record<
      string,
      {
        readonly temperature: number
        readonly support: readonly number[][] | null
        readonly blocked: readonly number[]
      }
    >
  >
  readonly cases: readonly Case[]
}
const { positions, vocabulary } = fixture

/** Position i holds token i, so that row i of the table is the logits of position i; the last row is never looked up. */
const model = bigram({ vocabulary, contextLength: positions })
const table = Float32Array.from([...fixture.logits, ...new Array<number>(vocabulary).fill(0)])

function datumOf(example: Case): Datum {
  const { temperature, support, blocked } = fixture.distributions[example.distribution]!
  const common = {
    input: { tokens: Int32Array.from({ length: positions }, (_, index) => index) },
    ...(example.distribution !== 'plain' && {
      distribution: {
        temperature,
        blocked,
        ...(support && {
          support: {
            tokens: Int32Array.from(support.flat()),
            offsets: Int32Array.from([0, ...support.map((_, index) => support.slice(0, index + 1).flat().length)]),
          },
        }),
      },
    }),
  }
  const targets = Int32Array.from(fixture.targets)
  if (example.drawn)
    return {
      ...common,
      targets,
      logProbabilities: Float32Array.from(example.drawn),
      advantages: Float32Array.from(fixture.advantages),
    }
  const { tokens, offsets, weights } = fixture.ragged
  if (example.targets === 'ragged')
    return {
      ...common,
      targets: { tokens: Int32Array.from(tokens), offsets: Int32Array.from(offsets) },
      weights: Float32Array.from(weights),
    }
  if (example.targets === 'vocabulary')
    return { ...common, targets: 'vocabulary', weights: Float32Array.from(fixture.vocabularyWeights) }
  return { ...common, targets, weights: Float32Array.from(fixture.weights) }
}

const engine = createEmbeddedEngine()
const shared = engine.createTrainer({ model, values: new Map([['logits', table]]) })
afterAll(() => engine.dispose())

function expectClose(actual: ArrayLike<number>, expected: readonly number[], tolerance: number, what: string): void {
  expect(actual.length, what).toBe(expected.length)
  for (const [index, value] of expected.entries()) {
    const error = Math.abs(actual[index]! - value) / Math.max(1, Math.abs(value))
    // Tokens without probability are minus infinity on both sides.
    if (actual[index] !== value)
      expect(error, `${what}[${index}]: ${actual[index]} and ${value}`).toBeLessThan(tolerance)
  }
}

const withZeros = (gradient: readonly number[]) => [...gradient, ...new Array<number>(vocabulary).fill(0)]

describe.each(fixture.cases)('$name', example => {
  it('has the losses and gradients of PyTorch in double precision', async () => {
    const datum = datumOf(example)
    const shape: ComputationShape = {
      loss: example.loss,
      gradients: true,
      rows: 1,
      positions,
      encoderPositions: 0,
      targets: example.targets === 'ragged' ? 3 : example.targets,
      temperature: true,
      mask: true,
      dropout: false,
      adapter: true,
      capture: [],
    }
    const { outputs } = buildComputation(new Graph('float64'), model, plainParameters(model.parameters), shape)
    const piece = { rows: 1, positions, encoderPositions: 0, members: [0] }
    const inputs = Object.entries({ logits: table, ...pieceInputs([datum], piece, shape, model) }).map(
      ([name, array]) => [name, array instanceof Float32Array ? Float64Array.from(array) : array],
    )
    const { temperature } = fixture.distributions[example.distribution]!
    // Rounded to single precision, as inputs are, it would differ from PyTorch's in the eighth digit.
    const exact = { 'data.inverseTemperatures': new Float64Array(positions).fill(1 / temperature) }
    const program = await compile(outputs)
    const results = await program.run({ ...Object.fromEntries(inputs), ...exact })
    expectClose(results[gradientOf('logits')] as Float64Array, withZeros(example.gradient), 1e-7, 'gradient')
    if (results['losses']) expectClose(results['losses'] as Float64Array, example.losses, 1e-7, 'losses')
    await program.dispose()
  })

  it('and through a trainer in single precision', async () => {
    const trainer = await shared
    const result = await trainer.forwardBackward<Loss>(
      [datumOf(example) as CrossEntropyDatum & PolicyDatum],
      example.loss,
    )
    expect(result.lossSum).toBeCloseTo(example.lossSum, 4)
    expectClose(result.losses[0]!, example.losses, 1e-5, 'losses')
    expectClose(result.logProbabilities[0]!, example.logProbabilities, 1e-5, 'logProbabilities')
    expect(Object.keys(result.parts)).toEqual(Object.keys(example.parts))
    for (const [part, value] of Object.entries(example.parts)) expect(result.parts[part]).toBeCloseTo(value, 4)
    const gradients = await trainer.gradients()
    expectClose(gradients.get('logits')!, withZeros(example.gradient), 2e-5, 'gradient')
    await trainer.clearGradients()
  })
})
