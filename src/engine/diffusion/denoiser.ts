/**
 * A masked-diffusion model as its samplers and likelihoods see it: sequences with masked tokens in, what may stand at
 * each position out.
 */
import type { CrossEntropyDatum } from '../datum.ts'
import { described } from '../required-types.ts'
import type { Sampler } from '../sampling.ts'
import type { Trainer } from '../training.ts'

/**
 * By sequence, the log-probability of every token at every position: positions × vocabulary, position after position.
 * The mask token has none (-Infinity, or too little to matter) and the others' sum to one. Only masked positions are
 * looked at.
 */
export interface Denoiser {
  readonly vocabulary: number
  readonly maskToken: number
  distributions(sequences: readonly Int32Array[]): Promise<readonly Float32Array[]>
}

/**
 * A model whose position i says what stands at position i: a decoder with bidirectional or block-causal attention, for
 * one.
 */
export function denoiserOf(
  source: Pick<Sampler, 'vocabulary' | 'distributions'> | Pick<Trainer, 'vocabulary' | 'forward'>,
  maskToken: number,
): Denoiser {
  const { vocabulary } = source
  if (!Number.isInteger(maskToken) || maskToken < 0 || maskToken >= vocabulary)
    throw new Error(
      `denoiserOf: the mask token is ${described(maskToken)}: expected one of the ${vocabulary} tokens, from 0`,
    )
  const distribution = { blocked: [maskToken] }
  return {
    vocabulary,
    maskToken,
    async distributions(sequences) {
      if ('distributions' in source)
        return source.distributions(sequences.map(tokens => ({ input: { tokens }, distribution })))
      const zeros = new Float32Array(Math.max(...sequences.map(({ length }) => length)) * vocabulary)
      const data = sequences.map(
        (tokens): CrossEntropyDatum => ({
          input: { tokens },
          targets: 'vocabulary',
          weights: zeros.subarray(0, tokens.length * vocabulary),
          distribution,
        }),
      )
      return (await source.forward(data, { kind: 'cross_entropy' })).logProbabilities
    },
  }
}
