/**
 * The next token of every row by a whole forward pass: for models that keep nothing of what they have read.
 */
import { reshape } from '../algebra/arrangement.ts'
import { Graph, type Tensor } from '../graph/graph.ts'
import { builtModel } from '../models/built-model.ts'
import type { Model } from '../models/model.ts'
import type { ParameterTensors } from '../passes/computation.ts'
import { addIntegers } from './cache-tensors.ts'
import { type ChoiceVariant, choiceInputs, chooseToken } from './choose-token.ts'

export interface WholeRolloutShape {
  readonly rows: number
  readonly positions: number
  /** 0 where there is no encoder. */
  readonly encoderPositions: number
  readonly choice: ChoiceVariant
}

export function wholeRolloutGraph(
  model: Model,
  parameters: ParameterTensors,
  shape: WholeRolloutShape,
): Record<string, Tensor> {
  const { rows, positions, encoderPositions, choice } = shape
  const graph = new Graph()
  const lengths = graph.indices('data.lengths', [rows], positions + 1)
  const { logits } = builtModel(model, {
    graph,
    parameters: parameters(graph, true).effective,
    rows,
    positions,
    tokens: graph.indices('data.tokens', [rows * positions], model.vocabulary),
    lengths,
    ...(encoderPositions > 0 && {
      encoder: {
        positions: encoderPositions,
        tokens: graph.indices(
          'data.encoderTokens',
          [rows * encoderPositions],
          model.inputs.encoderVocabulary ?? model.vocabulary,
        ),
        lengths: graph.indices('data.encoderLengths', [rows], encoderPositions + 1),
      },
    }),
    dropout: (_, tensor) => tensor,
  })
  const before = Array.from({ length: rows }, (_, row) => row * positions - 1)
  const last = addIntegers(lengths, graph.constant(before, [rows], 'int32'))
  const ofLast = graph.operation({
    operation: 'Gather',
    attributes: { axis: 0 },
    inputs: [logits, last],
    shape: [rows, model.vocabulary],
  })
  const uniform = reshape(graph.input('data.uniforms', [rows], 'float64'), [rows, 1])
  return { ...chooseToken(ofLast, choiceInputs(graph, choice, rows, model.vocabulary), choice, uniform) }
}
