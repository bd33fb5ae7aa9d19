/**
 * Models that compute a little more than another one: an offset on its logits, or which tokens are most probable.
 */
import { add } from '../algebra/arithmetic.ts'
import { reshape } from '../algebra/arrangement.ts'
import { logSoftmax } from '../algebra/softmax.ts'
import type { Tensor } from '../graph/graph.ts'
import type { Model, ModelOutputs } from '../models/model.ts'
import { cast, mostProbable } from './choose-token.ts'

/** A parameter of its own, which is added to the logits. */
export const logitOffset = 'sampler.logitOffset'

export function withLogitOffset(model: Model): Model {
  const { vocabulary, incremental } = model
  const changed = (logits: Tensor, parameters: ReadonlyMap<string, Tensor>) =>
    add(logits, reshape(parameters.get(logitOffset)!, [1, vocabulary]))
  return {
    ...model,
    parameters: [...model.parameters, { name: logitOffset, shape: [vocabulary], role: 'bias' }],
    build(inputs) {
      const outputs = model.build(inputs)
      return { ...outputs, logits: changed(outputs.logits, inputs.parameters) }
    },
    incremental: incremental && {
      ...incremental,
      step: inputs => ({ logits: changed(incremental.step(inputs).logits, inputs.parameters) }),
    },
  }
}

/** Read-outs of the most probable tokens at each position and their log-probabilities, most probable first. */
export const topReadouts = { tokens: 'top.tokens', logProbabilities: 'top.logProbabilities' }

export function withTopTokens(model: Model, count: number): Model {
  const { tokens, logProbabilities } = topReadouts
  return {
    ...model,
    readouts: { ...model.readouts, [tokens]: count, [logProbabilities]: count },
    build(inputs): ModelOutputs {
      const outputs = model.build(inputs)
      const { topTokens, topLogProbabilities } = mostProbable(logSoftmax(outputs.logits), count)
      const readouts = new Map(outputs.readouts)
      // Read-outs are numbers of the graph's precision, which holds tokens exactly.
      readouts.set(tokens, cast(topTokens, inputs.graph.precision)).set(logProbabilities, topLogProbabilities)
      return { ...outputs, readouts }
    },
  }
}
