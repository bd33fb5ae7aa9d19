/**
 * Requests for scores: whether they make sense, and the data by which they are computed.
 */
import type { CrossEntropyDatum } from '../datum.ts'
import { checkDistribution, checkInput, checkTargets, type ModelFacts } from '../losses/check-data.ts'
import { distributionBehind, raggedBehind } from '../positions-behind.ts'
import { described, type FieldsOf, requireFields, requireList, requireRecord } from '../required-types.ts'
import type { ScoreRequest } from '../sampling.ts'
import type { Context } from './context.ts'
import { checkPrefix } from './sample-request.ts'

const fields: FieldsOf<ScoreRequest> = {
  prefix: true,
  input: true,
  targets: true,
  distribution: true,
  adapter: true,
  topLogProbabilities: true,
}

/** Throws one sentence for the first thing that is wrong. */
export function checkScoreRequests(requests: readonly ScoreRequest[], model: ModelFacts, owner: object): void {
  requireList('score: requests', requests)
  for (const [index, request] of requests.entries()) {
    const place = `score: requests[${index}]`
    requireFields(place, request, fields)
    const { prefix, input, targets, distribution, topLogProbabilities = 0 } = request
    if (prefix === undefined) checkInput(`${place}.input`, input, model)
    else {
      checkPrefix(`${place}.prefix`, prefix, owner)
      requireRecord(`${place}.input`, input)
      if (input.encoderTokens)
        throw new Error(`${place}.input has encoderTokens: those of its prefix count, leave them out`)
      checkInput(`${place}.input`, { ...input, ...prefix.input, tokens: input.tokens }, model)
      const { length } = input.tokens
      if (prefix.length + length > model.contextLength)
        throw new Error(
          `${place}: a prefix of ${prefix.length} tokens and ${length} more do not fit the ${model.contextLength} ` +
            'positions of the model',
        )
    }
    const positions = input.tokens.length
    if (distribution !== undefined) checkDistribution(place, distribution, positions, model.vocabulary)
    if ((targets as unknown) === 'vocabulary')
      throw new Error(`${place}.targets is 'vocabulary': ask distributions for every token`)
    checkTargets(place, targets, positions, model.vocabulary)
    if (!(Number.isInteger(topLogProbabilities) && topLogProbabilities >= 0 && topLogProbabilities <= model.vocabulary))
      throw new Error(
        `${place}.topLogProbabilities is ${described(topLogProbabilities)}: expected a whole number from 0 to the ` +
          `${model.vocabulary} tokens of the vocabulary`,
      )
  }
}

/** Scores are the log-probabilities of a datum that weighs nothing: of the input behind the last `before` tokens of the prefix. */
export function scoreDatum(request: ScoreRequest, prefix: Context | undefined, before: number): CrossEntropyDatum {
  const { input, targets, distribution, adapter = true } = request
  const tokens = new Int32Array(before + input.tokens.length)
  if (prefix) tokens.set(prefix.tokens.subarray(prefix.length - before))
  tokens.set(input.tokens, before)
  const shared = { adapter, ...(distribution && { distribution: distributionBehind(distribution, before) }) }
  const whole = { ...input, ...prefix?.input, tokens }
  if (!(targets instanceof Int32Array)) {
    const weights = new Float32Array(targets.tokens.length)
    return { ...shared, input: whole, targets: raggedBehind(targets, before), weights }
  }
  const all = new Int32Array(tokens.length)
  all.set(targets, before)
  return { ...shared, input: whole, targets: all, weights: new Float32Array(tokens.length) }
}
