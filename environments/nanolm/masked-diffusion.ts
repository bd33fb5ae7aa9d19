/**
 * The objective of masked diffusion: bytes that were masked from those that were not, on both sides (MDLM, Sahoo et al., 2024).
 * Held-out text is measured by the exact likelihood of unmasking it in an order that the model chooses (DUEL).
 */
import { denoiserOf } from '../../src/engine/diffusion/denoiser.ts'
import { duelLogLikelihoods, bitsPerByte as toBitsPerByte } from '../../src/engine/diffusion/duel.ts'
import { maskedData } from '../../src/engine/diffusion/masking.ts'
import { mostConfident } from '../../src/engine/diffusion/unmasking-rule.ts'
import type { Objective } from './objective.ts'
import type { Configuration } from './options.ts'

const maskToken = 256

/** Bytes that are unmasked in a pass of the model. One at a time would cost four times as many passes. */
const bytesPerPass = 4

export type Masking = Pick<Configuration, 'masking' | 'lowestMaskedShare' | 'highestMaskedShare'>

export function maskedDiffusion({ masking, lowestMaskedShare, highestMaskedShare }: Masking): Objective {
  return {
    vocabulary: maskToken + 1,
    attention: 'bidirectional',
    trainingData(windows, random) {
      const sequences = windows.map(bytesOf)
      const weight = 1 / sequences.reduce((sum, { length }) => sum + length, 0)
      return maskedData(sequences, {
        maskToken,
        random,
        masking,
        levels: [lowestMaskedShare, highestMaskedShare],
        weight,
      })
    },
    async bitsPerByte(trainer, windows) {
      const sequences = windows.map(bytesOf)
      const logLikelihoods = await duelLogLikelihoods(
        denoiserOf(trainer, maskToken),
        sequences,
        mostConfident(bytesPerPass),
      )
      const bytes = sequences.reduce((sum, { length }) => sum + length, 0)
      return toBitsPerByte(
        logLikelihoods.reduce((sum, value) => sum + value, 0),
        bytes,
      )
    },
  }
}

/** Without the first byte of a window, which only the next-byte objective is given: both are measured on the same. */
function bytesOf(window: Buffer): Int32Array {
  return Int32Array.from(window.subarray(1))
}
