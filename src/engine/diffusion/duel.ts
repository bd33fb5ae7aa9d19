/**
 * The likelihood that a masked-diffusion model gives to a text when it unmasks by a deterministic rule: DUEL (Turok et
 * al., 2026), log p(x) = Σ over steps, Σ over the positions l that the rule unmasks: log p(x_l | what was unmasked
 * before). It is exact: over all texts of a length the probabilities sum to one.
 */

import { described, type FieldsOf, requireFields } from '../required-types.ts'
import type { Denoiser } from './denoiser.ts'
import { unmask } from './unmasking.ts'
import { requireRule, type UnmaskingRule } from './unmasking-rule.ts'

export interface LikelihoodOptions {
  /** Leading tokens of each sequence that are given and do not count. Default 0. */
  readonly given?: number
  /** Ends with the signal's reason, between two passes of the model. */
  readonly signal?: AbortSignal
}

const fields: FieldsOf<LikelihoodOptions> = { given: true, signal: true }

/** By sequence, log p in nats. Costs a pass of the model over each sequence for every step of the rule. */
export async function duelLogLikelihoods(
  denoiser: Denoiser,
  sequences: readonly Int32Array[],
  rule: UnmaskingRule,
  options: LikelihoodOptions = {},
): Promise<Float64Array> {
  requireRule('duelLogLikelihoods: rule', rule)
  requireFields('duelLogLikelihoods: options', options, fields)
  const { given = 0, signal } = options
  if (!Number.isInteger(given) || given < 0)
    throw new Error(`duelLogLikelihoods: given is ${described(given)}: expected a whole number from 0 on`)
  sequences.forEach((sequence, row) => {
    const position = sequence.indexOf(denoiser.maskToken)
    if (position >= 0)
      throw new Error(
        `duelLogLikelihoods: sequence ${row} has the mask token at position ${position}; give whole texts`,
      )
  })
  const results = new Float64Array(sequences.length)
  const unmaskings = sequences.map((sequence, row) => ({
    tokens: sequence.slice().fill(denoiser.maskToken, given),
    rule,
    reveal(position: number, logProbabilities: Float32Array) {
      const token = sequence[position]!
      results[row]! += logProbabilities[token]!
      return token
    },
  }))
  await unmask(denoiser, unmaskings, signal)
  return results
}

/** Bits that a model needs for each byte of a text, from its log-likelihood in nats. */
export function bitsPerByte(logLikelihood: number, bytes: number): number {
  return -logLikelihood / (Math.LN2 * bytes)
}
