/**
 * Samples of a masked-diffusion model, in the order that an unmasking rule says. Their log-probabilities add up to
 * those that duel.ts gives to them under the same rule.
 */
import { keyedUniform } from '../../statistics/keyed-random.ts'
import { checkTokens } from '../losses/check-data.ts'
import { described, type FieldsOf, requireFields, requireIntegers, requireList } from '../required-types.ts'
import { checkedCallOptions } from '../sampling/call-options.ts'
import type { CallOptions } from '../sampling.ts'
import type { Denoiser } from './denoiser.ts'
import { drawToken } from './draw.ts'
import { type Unmasking, unmask } from './unmasking.ts'
import { requireRule, type UnmaskingRule } from './unmasking-rule.ts'

export interface AnyOrderRequest {
  /** What is given, with the mask token wherever one is to be drawn: a prompt and masks, or a text with gaps. */
  readonly template: Int32Array
  readonly rule: UnmaskingRule
  /** How many samples; default 1. */
  readonly samples?: number
  /** Default 1; 0 takes the most probable token. */
  readonly temperature?: number
  /**
   * Draws depend on the seed, the key, the number of the sample and the position, and on nothing else that is in the
   * call. Default 0.
   */
  readonly seed?: number
  /** Tells apart requests of one seed. Default: the template's tokens, so that equal templates give equal samples. */
  readonly key?: string | number
}

/** All arrays have an entry a position of the template. */
export interface AnyOrderSample {
  readonly tokens: Int32Array
  /**
   * The pass of the model, from 0, that a token was drawn in, independently of others of the same pass; -1 where it was
   * given.
   */
  readonly passes: Int32Array
  /** Of the drawn tokens under the model itself, in nats; 0 where a token was given. */
  readonly logProbabilities: Float32Array
  /** Under the distribution they were drawn from. At temperature 0 they are 0. */
  readonly drawnLogProbabilities: Float32Array
}

const fields: FieldsOf<AnyOrderRequest> = {
  template: true,
  rule: true,
  samples: true,
  temperature: true,
  seed: true,
  key: true,
}

/** By request, then by sample. `signal` ends the call with its reason, between two passes of the model. */
export async function anyOrderSample(
  denoiser: Denoiser,
  requests: readonly AnyOrderRequest[],
  options: CallOptions = {},
): Promise<AnyOrderSample[][]> {
  checkedCallOptions('anyOrderSample', options)
  requireList('anyOrderSample: requests', requests)
  for (const [index, request] of requests.entries())
    check(`anyOrderSample: requests[${index}]`, request, denoiser.vocabulary)
  const unmaskings: Unmasking[] = []
  const results = requests.map(request =>
    Array.from({ length: request.samples ?? 1 }, (_, number) => {
      const sample = begun(request.template)
      unmaskings.push({ tokens: sample.tokens, rule: request.rule, reveal: drawing(request, number, sample) })
      return sample
    }),
  )
  await unmask(denoiser, unmaskings, options.signal)
  return results
}

function begun(template: Int32Array): AnyOrderSample {
  const { length } = template
  return {
    tokens: template.slice(),
    passes: new Int32Array(length).fill(-1),
    logProbabilities: new Float32Array(length),
    drawnLogProbabilities: new Float32Array(length),
  }
}

/** Draws a token and writes down how; the sample's tokens are set by the one who asks. */
function drawing(request: AnyOrderRequest, number: number, sample: AnyOrderSample): Unmasking['reveal'] {
  const { template, temperature = 1, seed = 0, key = template.join(' ') } = request
  const uniform = keyedUniform(seed, key)
  return (position, logProbabilities, pass) => {
    const { token, logProbability } = drawToken(logProbabilities, temperature, uniform(number, position))
    sample.passes[position] = pass
    sample.logProbabilities[position] = logProbabilities[token]!
    sample.drawnLogProbabilities[position] = logProbability
    return token
  }
}

function check(place: string, request: AnyOrderRequest, vocabulary: number): void {
  requireFields(place, request, fields)
  const { template, rule, samples = 1, temperature = 1 } = request
  requireIntegers(`${place}.template`, template)
  checkTokens(`${place}.template`, template, vocabulary)
  requireRule(`${place}.rule`, rule)
  if (!Number.isInteger(samples) || samples < 0)
    throw new Error(`${place}.samples is ${described(samples)}: expected a whole number from 0 on`)
  if (!(Number.isFinite(temperature) && temperature >= 0))
    throw new Error(`${place}.temperature is ${described(temperature)}: expected a number from 0 on`)
}
