/**
 * Log-probabilities of given tokens that stand behind what rows have seen.
 */

import { Graph, type Tensor } from '../graph/graph.ts'
import type { Model, ModelInputs } from '../models/model.ts'
import { buildComputation, type ComputationShape, type ParameterTensors } from '../passes/computation.ts'
import type { CacheShape } from './cache-tensors.ts'
import { withTopTokens } from './changed-models.ts'
import { readBehind } from './extension-graph.ts'

export interface ScoringShape {
  /** Of the positions that are read. */
  readonly computation: ComputationShape
  /** Of what was seen. */
  readonly cache: CacheShape
  /** How many of the most probable tokens are reported. */
  readonly top: number
}

export function scoringGraph(
  model: Model,
  parameters: ParameterTensors,
  { computation, cache, top }: ScoringShape,
): Readonly<Record<string, Tensor>> {
  const reading = readingModel(model, cache)
  const reported = top > 0 ? withTopTokens(reading, top) : reading
  return buildComputation(new Graph(), reported, parameters, computation).outputs
}

/** Of a model that goes on from what rows have seen: what an encoder made of its text is seen already. */
export const readingInputs: ModelInputs = { tokens: true, encoderTokens: false, features: 0 }

function readingModel(model: Model, cache: CacheShape): Model {
  return {
    ...model,
    inputs: readingInputs,
    build({ graph, parameters, positions, tokens }) {
      const { logits } = readBehind(graph, model, parameters, cache, positions, tokens)
      return { logits, readouts: new Map() }
    },
  }
}
