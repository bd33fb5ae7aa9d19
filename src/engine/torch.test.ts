/**
 * Losses, gradients and optimiser steps equal PyTorch's on the same numbers (fixtures/torch_decoder.py made them, in double
 * precision; the engine trains in single).
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { gradientsOf } from './graph/gradients.ts'
import { Graph } from './graph/graph.ts'
import { compile, type ResultArray } from './graph/program.ts'
import { sizeOf } from './graph/shape.ts'
import { tokenLoss } from './losses/token-loss.ts'
import { decoderInputs, decoderLogits } from './models/decoder.ts'
import type { DecoderConfiguration } from './models/decoder-configuration.ts'
import { decoderParameters } from './models/decoder-parameters.ts'
import type { ParameterGroup } from './optimisers/optimiser.ts'
import { createDecoderTrainer, type TokenBatch, type Trainer } from './trainer.ts'

type ByName = Readonly<Record<string, readonly number[]>>
interface Trained {
  readonly losses: readonly number[]
  readonly gradientNorms: readonly number[]
  readonly values: ByName
}
interface Variant {
  readonly name: string
  readonly configuration: Omit<DecoderConfiguration, 'vocabulary' | 'contextLength' | 'initialisationScale'>
  readonly zLoss: number
  readonly lossSum: number
  readonly zLossSum: number
  readonly tokenLogProbabilities: readonly number[]
  readonly gradients: ByName
  readonly adamw: Trained
  readonly muon: Trained
}
const fixture = JSON.parse(readFileSync(new URL('fixtures/torch-decoder.json', import.meta.url), 'utf8')) as {
  readonly rows: number
  readonly sequence: number
  readonly vocabulary: number
  readonly variants: readonly Variant[]
}
const { rows, sequence, vocabulary } = fixture

const configurationOf = (variant: Variant): DecoderConfiguration => ({
  ...variant.configuration,
  vocabulary,
  contextLength: sequence,
  initialisationScale: 1,
})

/** In single precision, in which both begin. */
function startingValues(position: number, shape: readonly number[]): Float32Array {
  const gain = shape.length === 1 ? 1 : 0
  const spread = (index: number) => ((index * index * 7919 + index * 104729 + position * 1299709) % 1009) / 1009 - 0.5
  return Float32Array.from({ length: sizeOf(shape) }, (_, index) => 0.9 * spread(index) + gain)
}

async function trainerOf(variant: Variant): Promise<Trainer> {
  const configuration = configurationOf(variant)
  const trainer = await createDecoderTrainer({
    configuration,
    batch: rows,
    sequence,
    threads: 1,
    seed: 1,
    zLoss: variant.zLoss,
  })
  for (const [position, { name, shape }] of trainer.parameters.entries())
    trainer.values().get(name)!.set(startingValues(position, shape))
  return trainer
}

function batch(step: number): TokenBatch {
  const count = rows * sequence
  return {
    tokens: Int32Array.from({ length: count }, (_, index) => (index * 5 + step) % vocabulary),
    targets: Int32Array.from({ length: count }, (_, index) => (index * 3 + 2 * step) % vocabulary),
    weights: Float32Array.from({ length: count }, (_, index) => 0.02 * (1 + ((index + step) % 4))),
  }
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
    const graph = new Graph('float64')
    const configuration = configurationOf(variant)
    const parameters = decoderInputs(graph, configuration)
    const tokens = graph.indices('tokens', [rows * sequence], vocabulary)
    const targets = graph.indices('targets', [rows * sequence], vocabulary)
    const weights = graph.input('weights', [rows * sequence, 1])
    const logits = decoderLogits(configuration, parameters, tokens, rows)
    const { objective } = tokenLoss(logits, targets, weights, variant.zLoss)
    const gradients = gradientsOf(objective, [...parameters.values()])
    const program = await compile(
      Object.fromEntries([...parameters.keys()].map((name, index) => [name, gradients[index]!])),
    )
    const values = decoderParameters(configuration).map(
      ({ name, shape }, position) => [name, Float64Array.from(startingValues(position, shape))] as const,
    )
    const data = batch(0)
    const feeds = { ...Object.fromEntries(values), ...data, weights: Float64Array.from(data.weights) }
    expectClose(new Map(Object.entries(await program.run(feeds))), variant.gradients, 3e-8)
    await program.dispose()
  })

  it('has the loss, log-probabilities and gradients of PyTorch in single precision', async () => {
    const trainer = await trainerOf(variant)
    const result = await trainer.forwardBackward(batch(0))
    expect(result.lossSum).toBeCloseTo(variant.lossSum, 5)
    expect(result.zLossSum).toBeCloseTo(variant.zLossSum, 6)
    for (const [index, value] of variant.tokenLogProbabilities.entries())
      expect(result.tokenLogProbabilities[index]).toBeCloseTo(value, 4)
    expectClose(trainer.gradients(), variant.gradients, 5e-5)
    await trainer.dispose()
  })

  it.each([
    ['adamw', [adamw]],
    ['muon', [muon, adamw]],
  ] as const)('takes the steps of %s', async (kind, groups) => {
    const trainer = await trainerOf(variant)
    const { losses, gradientNorms, values } = variant[kind]
    for (const [step, loss] of losses.entries()) {
      expect((await trainer.forwardBackward(batch(step))).lossSum).toBeCloseTo(loss, 4)
      const { gradientNorm } = await trainer.optimStep({ groups, clipNorm: 0.5 })
      expect(gradientNorm / gradientNorms[step]!).toBeCloseTo(1, 3)
    }
    expectClose(trainer.values(), values, 5e-4)
    await trainer.dispose()
  })
})
