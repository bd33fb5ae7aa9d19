/**
 * Requests for samples: whether they make sense, and what follows from them for each row.
 */

import type { ModelInput } from '../datum.ts'
import { checkInput, checkTokens, type ModelFacts } from '../losses/check-data.ts'
import { leastTemperature } from '../losses/target-log-probability.ts'
import type { Model } from '../models/model.ts'
import { described, type FieldsOf, requireFields, requireList, requireRecord } from '../required-types.ts'
import type { Prefix, SampleRequest } from '../sampling.ts'
import { Context } from './context.ts'

const fields: FieldsOf<SampleRequest> = {
  prompt: true,
  samples: true,
  firstSample: true,
  maximumTokens: true,
  seed: true,
  key: true,
  temperature: true,
  topK: true,
  topP: true,
  stop: true,
  blocked: true,
  topLogProbabilities: true,
  returnSupport: true,
  keepPrefix: true,
}

/** What follows the last position of a model that was trained to see what follows means nothing. */
export function requireContinuable(verb: string, { seesAhead = false }: Model): void {
  if (seesAhead)
    throw new Error(
      `${verb}: a bidirectional model cannot be continued, for its positions see later ones; use anyOrderSample (diffusion/)`,
    )
}

/** Throws one sentence for the first thing that is wrong. */
export function checkSampleRequests(requests: readonly SampleRequest[], model: ModelFacts, owner: object): void {
  requireList('sample: requests', requests)
  for (const [index, request] of requests.entries()) {
    const place = `sample: requests[${index}]`
    requireFields(place, request, fields)
    checkPrompt(`${place}.prompt`, request.prompt, model, owner)
    const { key = '' } = request
    const { samples = 1, firstSample = 0, maximumTokens, seed = 0, temperature = 1 } = request
    const { topP = 1, topK, topLogProbabilities = 0 } = request
    const expect = (holds: boolean, field: string, value: unknown, expected: string) => {
      if (!holds) throw new Error(`${place}.${field} is ${described(value)}: expected ${expected}`)
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
    checkBlockedAndStop(place, request, model.vocabulary)
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

function checkBlockedAndStop(place: string, { blocked = [], stop = [] }: SampleRequest, vocabulary: number): void {
  requireList(`${place}.blocked`, blocked)
  requireList(`${place}.stop`, stop)
  checkTokens(`${place}.blocked`, blocked, vocabulary)
  for (const [index, sequence] of stop.entries()) {
    requireList(`${place}.stop[${index}]`, sequence)
    checkTokens(`${place}.stop[${index}]`, sequence, vocabulary)
    if (sequence.length === 0) throw new Error(`${place}.stop[${index}] is empty: expected a sequence of tokens`)
  }
  if (new Set(blocked).size === vocabulary) throw new Error(`${place}.blocked names every token of the vocabulary`)
}
