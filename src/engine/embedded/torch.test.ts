/**
 * Losses, gradients and optimiser steps equal PyTorch's on the same numbers (fixtures/torch_decoder.py made them, in double
 * precision; the engine trains in single).
 */
import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import type { CrossEntropyDatum } from '../datum.ts'
import { Graph } from '../graph/graph.ts'
import { compile, type ResultArray } from '../graph/program.ts'
import { sizeOf } from '../graph/shape.ts'
import { decoder } from '../models/decoder.ts'
import type { DecoderOptions } from '../models/decoder-configuration.ts'
import type { ParameterGroup } from '../optimisers/optimiser.ts'
import { buildComputation, type ComputationShape, gradientOf, plainParameters } from '../passes/computation.ts'
import { pieceInputs } from '../passes/piece-inputs.ts'
import type { Trainer } from '../training.ts'
import { createEmbeddedEngine } from './engine.ts'

type ByName = Readonly<Record<string, readonly number[]>>
interface Trained {
  readonly losses: readonly number[]
  readonly gradientNorms: readonly number[]
  readonly values: ByName
}
interface Variant {
  readonly name: string
  readonly configuration: Omit<DecoderOptions, 'vocabulary' | 'contextLength' | 'initialisationScale'>
  readonly zLoss: number
  readonly lossSum: number
  readonly zLossSum: number
  readonly tokenLogProbabilities: readonly number[]
  readonly gradients: ByName
  readonly adamw: Trained
  readonly muon: Trained
}
const fixture = JSON.parse(readFileSync(new URL('../fixtures/torch-decoder.json', import.meta.url), 'utf8')) as {
  readonly rows: number
  readonly sequence: number
  readonly vocabulary: number
  readonly variants: readonly Variant[]
}
const { rows, sequence, vocabulary } = fixture

const modelOf = (variant: Variant) =>
  decoder({ ...variant.configuration, vocabulary, contextLength: sequence, initialisationScale: 1 })
const lossOf = ({ zLoss }: Variant) => ({ kind: 'cross_entropy', zLoss }) as const

/** In single precision, in which both begin. */
function startingValues(position: number, shape: readonly number[]): Float32Array {
  const gain = shape.length === 1 ? 1 : 0
  const spread = (index: number) => ((index * index * 7919 + index * 104729 + position * 1299709) % 1009) / 1009 - 0.5
  return Float32Array.from({ length: sizeOf(shape) }, (_, index) => 0.9 * spread(index) + gain)
}

const engine = createEmbeddedEngine()
afterAll(() => engine.dispose())

function trainerOf(variant: Variant): Promise<Trainer> {
  const model = modelOf(variant)
  const values = new Map(
    model.parameters.map(({ name, shape }, position) => [name, startingValues(position, shape)] as const),
  )
  return engine.createTrainer({ model, values })
}

/** Row after row of what the script has in one array. */
function batch(step: number): CrossEntropyDatum[] {
  return Array.from({ length: rows }, (_, row) => {
    const from = <T>(make: (index: number) => T) => Array.from({ length: sequence }, (_, i) => make(row * sequence + i))
    return {
      input: { tokens: Int32Array.from(from(index => (index * 5 + step) % vocabulary)) },
      targets: Int32Array.from(from(index => (index * 3 + 2 * step) % vocabulary)),
      weights: Float32Array.from(from(index => 0.02 * (1 + ((index + step) % 4)))),
    }
  })
}

/** Every element, relative to the largest of its array. */
function expectClose(actual: ReadonlyMap<string, ResultArray>, expected: ByName, tolerance: number): void {
  expect([...actual.keys()]).toEqual(Object.keys(expected))
  for (const [name, values] of Object.entries(expected)) {
    const largest = Math.max(...values.map(Math.abs))
    expect(actual.get(name)).toHaveLength(values.length)
    for (const [index, value] of values.entries())
      expect(Math.abs(actual.get(name)![index]! - value) / largest, `${name}[${index}]`).toBeLessThan(tolerance)
  }
}

const adamw: ParameterGroup = {
  match: () => true,
  optimiser: { kind: 'adamw', betas: [0.8, 0.9], epsilon: 1e-6 },
  learningRate: 0.01,
  weightDecay: 0.1,
}
const muon: ParameterGroup = {
  match: 'matrix',
  optimiser: { kind: 'muon', momentum: 0.9 },
  learningRate: 0.02,
  weightDecay: 0.05,
}

describe.each(fixture.variants)('$name', variant => {
  it('has the gradients of PyTorch to eight digits in double precision', async () => {
    const model = modelOf(variant)
    const shape: ComputationShape = {
      loss: lossOf(variant),
      gradients: true,
      rows,
      positions: sequence,
      encoderPositions: 0,
      targets: 'single',
      temperature: false,
      mask: false,
      dropout: false,
      adapter: true,
      capture: [],
    }
    const { outputs } = buildComputation(new Graph('float64'), model, plainParameters(model.parameters), shape)
    const names = model.parameters.map(({ name }) => name)
    const program = await compile(Object.fromEntries(names.map(name => [name, outputs[gradientOf(name)]!])))
    const piece = { rows, positions: sequence, encoderPositions: 0, members: Array.from({ length: rows }, (_, i) => i) }
    const feeds = [
      ...model.parameters.map(({ name, shape }, position) => [name, startingValues(position, shape)] as const),
      ...Object.entries(pieceInputs(batch(0), piece, shape, model)),
    ].map(([name, array]) => [name, array instanceof Float32Array ? Float64Array.from(array) : array])
    const results = await program.run(Object.fromEntries(feeds))
    expectClose(new Map(Object.entries(results as Record<string, ResultArray>)), variant.gradients, 3e-8)
    await program.dispose()
  })

  it('has the loss, log-probabilities and gradients of PyTorch in single precision', async () => {
    const trainer = await trainerOf(variant)
    const result = await trainer.forwardBackward(batch(0), lossOf(variant))
    expect(result.lossSum).toBeCloseTo(variant.lossSum + variant.zLossSum, 5)
    expect(result.parts['zLoss'] ?? 0).toBeCloseTo(variant.zLossSum, 6)
    const found = result.logProbabilities.flatMap(values => [...values])
    for (const [index, value] of variant.tokenLogProbabilities.entries()) expect(found[index]).toBeCloseTo(value, 4)
    expectClose(await trainer.gradients(), variant.gradients, 5e-5)
    await trainer.dispose()
  })

  it.each([
    ['adamw', [adamw]],
    ['muon', [muon, adamw]],
  ] as const)('takes the steps of %s', async (kind, groups) => {
    const trainer = await trainerOf(variant)
    const { losses, gradientNorms, values } = variant[kind]
    for (const [step, loss] of losses.entries()) {
      const { lossSum, parts } = await trainer.forwardBackward(batch(step), lossOf(variant))
      expect(lossSum - (parts['zLoss'] ?? 0)).toBeCloseTo(loss, 4)
      const { gradientNorm } = await trainer.optimStep({ groups, clipNorm: 0.5 })
      expect(gradientNorm / gradientNorms[step]!).toBeCloseTo(1, 3)
    }
    expectClose(await trainer.values(), values, 5e-4)
    await trainer.dispose()
  })
})
