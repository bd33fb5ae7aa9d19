/**
 * Requests for samples: whether they make sense, and what follows from them for each row.
 */

import type { ModelInput } from '../datum.ts'
import { checkInput, type ModelFacts } from '../losses/check-data.ts'
import { leastTemperature } from '../losses/target-log-probability.ts'
import { requireList, requireRecord } from '../required-types.ts'
import type { Prefix, SampleRequest } from '../sampling.ts'
import { Context } from './context.ts'

/** Throws one sentence for the first thing that is wrong. */
export function checkSampleRequests(requests: readonly SampleRequest[], model: ModelFacts, owner: object): void {
  requireList('sample: requests', requests)
  for (const [index, request] of requests.entries()) {
    const place = `sample: requests[${index}]`
    requireRecord(place, request)
    checkPrompt(`${place}.prompt`, request.prompt, model, owner)
    const { key = '' } = request
    const { samples = 1, firstSample = 0, maximumTokens, seed = 0, temperature = 1 } = request
    const { topP = 1, topK, topLogProbabilities = 0 } = request
    const expect = (holds: boolean, field: string, value: unknown, expected: string) => {
      if (!holds) throw new Error(`${place}.${field} is ${value}: expected ${expected}`)
    }
    const isWhole = (value: number, from: number) => Number.isInteger(value) && value >= from
    expect(isWhole(samples, 1), 'samples', samples, 'a positive whole number')
    const isNumbered = isWhole(firstSample, 0) && firstSample + samples <= 2 ** 32
    expect(isNumbered, 'firstSample', firstSample, 'a whole number from 0 on, so that all samples come before 2^32')
    expect(isWhole(maximumTokens, 1), 'maximumTokens', maximumTokens, 'a positive whole number')
    expect(Number.isFinite(seed), 'seed', seed, 'a finite number')
    expect(typeof key === 'string' || Number.isFinite(key), 'key', key, 'a text or a finite number')
    const isTemperature = temperature === 0 || (Number.isFinite(temperature) && temperature >= leastTemperature)
    expect(isTemperature, 'temperature', temperature, `0, or a number from ${leastTemperature} on`)
    expect(Number.isFinite(topP) && topP > 0 && topP <= 1, 'topP', topP, 'a number above 0, up to 1')
    if (topK !== undefined) expect(isWhole(topK, 1), 'topK', topK, 'a positive whole number')
    expect(
      isWhole(topLogProbabilities, 0) && topLogProbabilities <= model.vocabulary,
      'topLogProbabilities',
      topLogProbabilities,
      `a whole number from 0 to the ${model.vocabulary} tokens of the vocabulary`,
    )
    checkTokens(place, request, model.vocabulary)
    // The last token that is drawn is not read.
    const { length } = 'length' in request.prompt ? request.prompt : request.prompt.tokens
    if (length + maximumTokens - 1 > model.contextLength)
      throw new Error(
        `${place}: a prompt of ${length} tokens and ${maximumTokens} more do not fit the ${model.contextLength} positions ` +
          'of the model: the last token is not read, all others are',
      )
  }
}

/** A prompt, or a prefix of this very sampler. */
export function checkPrompt(place: string, prompt: ModelInput | Prefix, model: ModelFacts, owner: object): void {
  requireRecord(place, prompt)
  if ('length' in prompt) {
    checkPrefix(place, prompt, owner)
    return
  }
  if (model.inputs.features > 0) throw new Error(`${place}: a model that reads features cannot be continued`)
  checkInput(place, prompt, model)
}

export function checkPrefix(place: string, prefix: Prefix, owner: object): asserts prefix is Context {
  if (!(prefix instanceof Context) || prefix.owner !== owner)
    throw new Error(`${place} is a prefix that this sampler did not make: prefixes live with their sampler`)
}

function checkTokens(place: string, { blocked = [], stop = [] }: SampleRequest, vocabulary: number): void {
  requireList(`${place}.blocked`, blocked)
  requireList(`${place}.stop`, stop)
  for (const [index, sequence] of stop.entries()) requireList(`${place}.stop[${index}]`, sequence)
  const isToken = (token: number) => Number.isInteger(token) && token >= 0 && token < vocabulary
  const wrong = [...blocked, ...stop.flat()].find(token => !isToken(token))
  if (wrong !== undefined)
    throw new Error(`${place} blocks or stops at ${wrong}, which is not one of the ${vocabulary} tokens`)
  if (stop.some(({ length }) => length === 0)) throw new Error(`${place}.stop has a sequence without tokens`)
  if (new Set(blocked).size === vocabulary) throw new Error(`${place}.blocked names every token of the vocabulary`)
}
