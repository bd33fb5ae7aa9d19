/**
 * Whether data fit a loss and a model: asked before anything is computed, by every engine. A sentence names the datum, the field,
 * what it is and what it should be.
 */
import type { CrossEntropyDatum, Datum, Distribution, ModelInput, PolicyDatum, RaggedTokens } from '../datum.ts'
import type { ModelInputs } from '../models/model.ts'
import {
  described,
  type FieldsOf,
  requireFields,
  requireIntegers,
  requireList,
  requireNumbers,
} from '../required-types.ts'
import { checkLoss } from './check-loss.ts'
import type { Loss } from './loss.ts'
import { leastTemperature } from './target-log-probability.ts'

/** What data are checked against. */
export interface ModelFacts {
  readonly vocabulary: number
  readonly contextLength: number
  readonly inputs: ModelInputs
}

/** Of both losses: a datum may have the fields of both. */
const datumFields: FieldsOf<Datum> = {
  input: true,
  distribution: true,
  adapter: true,
  targets: true,
  weights: true,
  logProbabilities: true,
  advantages: true,
}
const inputFields: FieldsOf<ModelInput> = { tokens: true, encoderTokens: true, features: true }
const distributionFields: FieldsOf<Distribution> = { temperature: true, blocked: true, support: true }
const raggedFields: FieldsOf<RaggedTokens> = { tokens: true, offsets: true }

/** Throws for the first thing that does not fit. */
export function checkData(verb: string, data: readonly Datum[], loss: Loss, model: ModelFacts): void {
  checkLoss(verb, loss)
  requireList(`${verb}: data`, data)
  if (data.length === 0) throw new Error(`${verb}: there are no data`)
  for (const [index, datum] of data.entries()) {
    const place = `${verb}: data[${index}]`
    requireFields(place, datum, datumFields)
    checkInput(`${place}.input`, datum.input, model)
    if (datum.distribution !== undefined)
      checkDistribution(place, datum.distribution, datum.input.tokens.length, model.vocabulary)
    if (loss.kind === 'cross_entropy') {
      if (!('weights' in datum)) throw new Error(`${place} has no weights, which cross_entropy needs`)
      checkCrossEntropy(place, datum, loss, model.vocabulary)
    } else {
      if (!('advantages' in datum)) throw new Error(`${place} has no advantages, which ${loss.kind} needs`)
      checkPolicy(place, datum, model.vocabulary)
    }
  }
}

/** `place`: of the input. */
export function checkInput(place: string, input: ModelInput, { inputs, contextLength, vocabulary }: ModelFacts): void {
  requireFields(place, input, inputFields)
  const { tokens, encoderTokens, features } = input
  requireIntegers(`${place}.tokens`, tokens)
  if (encoderTokens !== undefined) requireIntegers(`${place}.encoderTokens`, encoderTokens)
  if (features !== undefined) requireNumbers(`${place}.features`, features)
  const positions = tokens.length
  if (positions === 0) throw new Error(`${place} has no tokens: expected one a position`)
  if (positions > contextLength)
    throw new Error(`${place} has ${positions} positions: the model takes at most ${contextLength}`)
  if (inputs.tokens) checkTokens(`${place}.tokens`, tokens, vocabulary)
  if (inputs.encoderTokens) {
    if (!encoderTokens || encoderTokens.length === 0)
      throw new Error(`${place} has no encoderTokens, which this model reads`)
    const { encoderContextLength = Number.POSITIVE_INFINITY, encoderVocabulary = vocabulary } = inputs
    if (encoderTokens.length > encoderContextLength)
      throw new Error(
        `${place} has ${encoderTokens.length} encoderTokens: the encoder takes at most ${encoderContextLength}`,
      )
    checkTokens(`${place}.encoderTokens`, encoderTokens, encoderVocabulary)
  } else if (encoderTokens) throw new Error(`${place} has encoderTokens: this model has no encoder`)
  if (inputs.features > 0) {
    const expected = positions * inputs.features
    if (features?.length !== expected)
      throw new Error(
        `${place}.features has ${features?.length ?? 0} numbers: expected ${expected}, ` +
          `${inputs.features} for each of ${positions} positions`,
      )
  } else if (features) throw new Error(`${place} has features: this model reads none`)
}

function checkCrossEntropy(
  place: string,
  { input, targets, weights, distribution }: CrossEntropyDatum,
  loss: Extract<Loss, { kind: 'cross_entropy' }>,
  vocabulary: number,
): void {
  const positions = input.tokens.length
  requireNumbers(`${place}.weights`, weights)
  const single = targets instanceof Int32Array
  const count =
    targets === 'vocabulary'
      ? positions * vocabulary
      : checkTargets(place, targets, positions, vocabulary, leftOutByWeight)
  checkLength(`${place}.weights`, weights, count, 'one for each target')
  checkFinite(`${place}.weights`, weights)
  checkPossible(place, targets, weights, vocabulary, distribution)
  if (!single && (loss.labelSmoothing || loss.zLoss))
    throw new Error(
      `${place} has several targets a position: ${loss.labelSmoothing ? 'labelSmoothing' : 'zLoss'} takes single ones only`,
    )
  if (loss.labelSmoothing && (distribution?.blocked?.length || distribution?.support))
    throw new Error(`${place}: labelSmoothing over tokens without probability would be infinite; leave out one of them`)
}

/** For data from where a target that is no token leaves its position out. */
const leftOutByWeight = '; a weight of 0 leaves a position out'
const leftOutByAdvantage = '; an advantage of 0 leaves a position out'

/** Returns how many there are. */
export function checkTargets(
  place: string,
  targets: Int32Array | RaggedTokens,
  positions: number,
  vocabulary: number,
  hint = '',
): number {
  if (targets instanceof Int32Array) {
    checkLength(`${place}.targets`, targets, positions, `one for each of ${positions} positions`)
    checkTokens(`${place}.targets`, targets, vocabulary, hint)
    return positions
  }
  if (typeof targets !== 'object' || targets === null || Array.isArray(targets))
    throw new Error(
      `${place}.targets is ${described(targets)}: expected an Int32Array, { tokens, offsets }, or 'vocabulary'`,
    )
  checkRagged(`${place}.targets`, targets, positions, vocabulary)
  return targets.tokens.length
}

function checkPolicy(place: string, datum: PolicyDatum, vocabulary: number): void {
  const { input, targets, logProbabilities, advantages, distribution } = datum
  const positions = input.tokens.length
  const each = `one for each of ${positions} positions`
  requireIntegers(`${place}.targets`, targets)
  requireNumbers(`${place}.logProbabilities`, logProbabilities)
  requireNumbers(`${place}.advantages`, advantages)
  checkLength(`${place}.targets`, targets, positions, each)
  checkTokens(`${place}.targets`, targets, vocabulary, leftOutByAdvantage)
  checkLength(`${place}.logProbabilities`, logProbabilities, positions, each)
  checkLength(`${place}.advantages`, advantages, positions, each)
  checkFinite(`${place}.advantages`, advantages)
  for (const [position, value] of logProbabilities.entries())
    if (advantages[position] !== 0 && !Number.isFinite(value))
      throw new Error(
        `${place}.logProbabilities[${position}] is ${value}: expected a number, or an advantage of 0 to leave it out`,
      )
  checkPossible(place, targets, advantages, vocabulary, distribution)
}

export function checkDistribution(
  place: string,
  distribution: Distribution,
  positions: number,
  vocabulary: number,
): void {
  requireFields(`${place}.distribution`, distribution, distributionFields)
  const { temperature = 1, blocked = [], support } = distribution
  if (!(Number.isFinite(temperature) && temperature >= leastTemperature))
    throw new Error(
      `${place}.distribution.temperature is ${described(temperature)}: expected a positive number, ${leastTemperature} or more`,
    )
  requireList(`${place}.distribution.blocked`, blocked)
  checkTokens(`${place}.distribution.blocked`, blocked, vocabulary)
  const gone = new Set(blocked)
  if (gone.size === vocabulary) throw new Error(`${place}.distribution.blocked names every token of the vocabulary`)
  if (support === undefined) return
  checkRagged(`${place}.distribution.support`, support, positions, vocabulary)
  for (let position = 0; position < positions; position++) {
    const tokens = tokensAt(support, position)
    if (tokens.length > 0 && tokens.every(token => gone.has(token)))
      throw new Error(`${place}.distribution: every token that the support has at position ${position} is blocked`)
  }
}

/** A target that counts must have a probability: what is lost at one without any is infinite. */
function checkPossible(
  place: string,
  targets: CrossEntropyDatum['targets'],
  counts: Float32Array,
  vocabulary: number,
  distribution: Distribution | undefined,
): void {
  const { blocked = [], support } = distribution ?? {}
  if (blocked.length === 0 && !support) return
  const gone = new Set(blocked)
  const single = targets instanceof Int32Array
  const startOf = (position: number) =>
    single ? position : targets === 'vocabulary' ? position * vocabulary : targets.offsets[position]!
  for (let position = 0; startOf(position) < counts.length; position++) {
    const kept = support ? tokensAt(support, position) : []
    const allowed = kept.length > 0 ? new Set(kept) : null
    const start = startOf(position)
    for (let index = start; index < startOf(position + 1); index++) {
      if (counts[index] === 0) continue
      const token = single ? targets[index]! : targets === 'vocabulary' ? index - start : targets.tokens[index]!
      if (!gone.has(token) && (allowed === null || allowed.has(token))) continue
      const what = single ? `targets[${index}] is` : `weights[${index}] is ${counts[index]}, of`
      throw new Error(`${place}.${what} ${token}, which the distribution leaves without probability`)
    }
  }
}

function tokensAt({ tokens, offsets }: RaggedTokens, position: number): Int32Array {
  return tokens.subarray(offsets[position], offsets[position + 1])
}

function checkRagged(place: string, ragged: RaggedTokens, positions: number, vocabulary: number): void {
  requireFields(place, ragged, raggedFields)
  const { tokens, offsets } = ragged
  requireIntegers(`${place}.tokens`, tokens)
  requireIntegers(`${place}.offsets`, offsets)
  checkLength(`${place}.offsets`, offsets, positions + 1, `one more than ${positions} positions`)
  for (let position = 0; position <= positions; position++)
    if (position === 0 ? offsets[0] !== 0 : offsets[position]! < offsets[position - 1]!)
      throw new Error(`${place}.offsets[${position}] is ${offsets[position]}: expected to begin at 0 and never to fall`)
  if (offsets[positions] !== tokens.length)
    throw new Error(`${place}.offsets end at ${offsets[positions]}, but there are ${tokens.length} tokens`)
  checkTokens(`${place}.tokens`, tokens, vocabulary)
}

function checkLength(place: string, values: ArrayLike<number>, expected: number, meaning: string): void {
  if (values.length !== expected)
    throw new Error(`${place} has ${values.length} entries: expected ${expected}, ${meaning}`)
}

/** `hint`: more to say to whoever gave one that is none. */
export function checkTokens(place: string, tokens: ArrayLike<number>, vocabulary: number, hint = ''): void {
  for (let position = 0; position < tokens.length; position++) {
    const token = tokens[position]!
    if (!(Number.isInteger(token) && token >= 0 && token < vocabulary))
      throw new Error(
        `${place}[${position}] is ${described(token)}: expected a token from 0 to ${vocabulary - 1}${hint}`,
      )
  }
}

function checkFinite(place: string, values: Float32Array): void {
  const position = values.findIndex(value => !Number.isFinite(value))
  if (position >= 0) throw new Error(`${place}[${position}] is ${values[position]}: expected a finite number`)
}
