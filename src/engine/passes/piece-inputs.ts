/**
 * Fills the inputs of a computation from the data of a piece. Padding has token 0 and weight 0; rows that are too many have length 1.
 */
import type { CrossEntropyDatum, Datum, Distribution, RaggedTokens } from '../datum.ts'
import type { ModelFacts } from '../losses/check-data.ts'
import type { Loss } from '../losses/loss.ts'
import { removed } from '../losses/target-log-probability.ts'
import type { ComputationShape, DropoutMask } from './computation.ts'
import { fillDropoutMask, maskKey } from './dropout-masks.ts'
import type { Piece } from './pieces.ts'

type Inputs = Record<string, Float32Array | Int32Array>

export function pieceInputs(data: readonly Datum[], piece: Piece, shape: ComputationShape, model: ModelFacts): Inputs {
  const { rows, positions, encoderPositions } = shape
  const count = rows * positions
  const inputs: Inputs = {
    'data.tokens': new Int32Array(count),
    'data.lengths': new Int32Array(rows).fill(1),
  }
  if (model.inputs.encoderTokens) {
    inputs['data.encoderTokens'] = new Int32Array(rows * encoderPositions)
    inputs['data.encoderLengths'] = new Int32Array(rows).fill(1)
  }
  if (model.inputs.features > 0) inputs['data.features'] = new Float32Array(count * model.inputs.features)
  for (const [row, member] of piece.members.entries()) {
    const { tokens, encoderTokens, features } = data[member]!.input
    inputs['data.tokens']!.set(tokens, row * positions)
    inputs['data.lengths']![row] = tokens.length
    if (encoderTokens && inputs['data.encoderTokens']) {
      inputs['data.encoderTokens'].set(encoderTokens, row * encoderPositions)
      inputs['data.encoderLengths']![row] = encoderTokens.length
    }
    if (features) inputs['data.features']!.set(features, row * positions * model.inputs.features)
  }
  fillLoss(inputs, data, piece, shape, model.vocabulary)
  fillDistribution(inputs, data, piece, shape, model.vocabulary)
  return inputs
}

function fillLoss(
  inputs: Inputs,
  data: readonly Datum[],
  piece: Piece,
  { rows, positions, targets, loss }: ComputationShape,
  vocabulary: number,
): void {
  const count = rows * positions
  const width = targets === 'single' ? 1 : targets === 'vocabulary' ? vocabulary : targets
  if (targets !== 'vocabulary') inputs['data.targets'] = new Int32Array(count * width)
  const names = loss.kind === 'cross_entropy' ? ['weights'] : ['drawn', 'advantages', 'counted']
  for (const name of names) inputs[`data.${name}`] = new Float32Array(count * width)
  for (const [row, member] of piece.members.entries()) {
    const datum = data[member]!
    const start = row * positions
    // Asked of the loss: a datum may have the fields of both.
    if (isCrossEntropy(loss, datum)) {
      if (datum.targets instanceof Int32Array) inputs['data.targets']!.set(datum.targets, start)
      if (datum.targets === 'vocabulary' || datum.targets instanceof Int32Array)
        inputs['data.weights']!.set(datum.weights, start * width)
      else {
        spread(datum.targets, datum.targets.tokens, inputs['data.targets']!, start, width)
        spread(datum.targets, datum.weights, inputs['data.weights']!, start, width)
      }
      continue
    }
    inputs['data.targets']!.set(datum.targets, start)
    inputs['data.advantages']!.set(datum.advantages, start)
    for (const [position, advantage] of datum.advantages.entries()) {
      if (advantage === 0) continue
      inputs['data.drawn']![start + position] = datum.logProbabilities[position]!
      inputs['data.counted']![start + position] = 1
    }
  }
}

function isCrossEntropy(loss: Loss, _: Datum): _ is CrossEntropyDatum {
  return loss.kind === 'cross_entropy'
}

/** Ragged entries into rows of equal width. */
function spread(
  { offsets }: RaggedTokens,
  from: Int32Array | Float32Array,
  into: Int32Array | Float32Array,
  start: number,
  width: number,
): void {
  for (let position = 0; position + 1 < offsets.length; position++)
    into.set(from.subarray(offsets[position], offsets[position + 1]), (start + position) * width)
}

function fillDistribution(
  inputs: Inputs,
  data: readonly Datum[],
  piece: Piece,
  { rows, positions, temperature, mask }: ComputationShape,
  vocabulary: number,
): void {
  const count = rows * positions
  if (temperature) {
    const inverse = new Float32Array(count).fill(1)
    for (const [row, member] of piece.members.entries())
      inverse.fill(1 / (data[member]!.distribution?.temperature ?? 1), row * positions, (row + 1) * positions)
    inputs['data.inverseTemperatures'] = inverse
  }
  if (mask) {
    const values = new Float32Array(count * vocabulary)
    for (const [row, member] of piece.members.entries()) {
      const { distribution, input } = data[member]!
      if (distribution)
        for (let position = 0; position < input.tokens.length; position++) {
          const start = (row * positions + position) * vocabulary
          fillMask(values.subarray(start, start + vocabulary), distribution, position)
        }
    }
    inputs['data.mask'] = values
  }
}

function fillMask(values: Float32Array, { blocked = [], support }: Distribution, position: number): void {
  const allowed = support?.tokens.subarray(support.offsets[position], support.offsets[position + 1])
  if (allowed && allowed.length > 0) {
    values.fill(removed)
    for (const token of allowed) values[token] = 0
  }
  for (const token of blocked) values[token] = removed
}

/** By input name. Rows that are too many get no mask of their own: nothing of them counts. */
export function dropoutInputs(piece: Piece, masks: readonly DropoutMask[], seed: number): Inputs {
  const inputs: Inputs = {}
  for (const { name, rate, size } of masks) {
    const values = new Float32Array(size)
    const rowSize = size / piece.rows
    for (const [row, member] of piece.members.entries())
      fillDropoutMask(values.subarray(row * rowSize, (row + 1) * rowSize), maskKey(seed, member, name), rate)
    inputs[`dropout.${name}`] = values
  }
  return inputs
}
