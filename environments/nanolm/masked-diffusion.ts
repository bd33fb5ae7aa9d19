/**
 * The objective of masked diffusion: bytes that were masked from all that were not, on both sides (MDLM, Sahoo et al., 2024).
 * Held-out text is measured by the exact likelihood of unmasking it in a fixed order (DUEL, Turok et al., 2026).
 */
import { denoiserOf } from '../../src/engine/diffusion/denoiser.ts'
import { duelLogLikelihoods, bitsPerByte as toBitsPerByte } from '../../src/engine/diffusion/duel.ts'
import { maskedData } from '../../src/engine/diffusion/masking.ts'
import type { UnmaskingRule } from '../../src/engine/diffusion/unmasking-rule.ts'
import type { Objective } from './objective.ts'
import type { Configuration } from './options.ts'

const maskToken = 256

/** Passes of the model that unmask a row, and the distance between bytes of one pass. */
export const unmaskingPasses = 8

export type Masking = Pick<Configuration, 'masking' | 'lowestMaskedShare' | 'highestMaskedShare'>

export function maskedDiffusion({ masking, lowestMaskedShare, highestMaskedShare }: Masking): Objective {
  const levels = [lowestMaskedShare, highestMaskedShare] as const
  return {
    vocabulary: maskToken + 1,
    attention: 'bidirectional',
    // A quarter of those of the next-byte objective, which needs one pass.
    excerpts: 16,
    trainingData(windows, random) {
      const sequences = windows.map(bytesOf)
      const weight = 1 / sequences.reduce((sum, { length }) => sum + length, 0)
      // The mask token is not blocked: that it never stands for a byte is learned in a few steps, and label smoothing needs all tokens.
      return maskedData(sequences, { maskToken, random, masking, levels, weight }).map(
        ({ input, targets, weights }) => ({ input, targets, weights }),
      )
    },
    async bitsPerByte(trainer, windows) {
      const sequences = windows.map(bytesOf)
      const logLikelihoods = await duelLogLikelihoods(denoiserOf(trainer, maskToken), sequences, everyEighth)
      const bytes = sequences.reduce((sum, { length }) => sum + length, 0)
      return toBitsPerByte(
        logLikelihoods.reduce((sum, value) => sum + value, 0),
        bytes,
      )
    },
  }
}

/**
 * The first, ninth, seventeenth, … byte, then their right neighbours, and so on. Bytes of one pass are far apart, so it costs little
 * that they do not know of each other: as good as from left to right one at a time, in an eighth of the passes.
 */
export const everyEighth: UnmaskingRule = ({ masked }) => {
  const place = Math.min(...masked.map(position => position % unmaskingPasses))
  return masked.filter(position => position % unmaskingPasses === place)
}

/** Without the first byte of a window, which only the next-byte objective is given: both predict the same bytes. */
function bytesOf(window: Buffer): Int32Array {
  return Int32Array.from(window.subarray(1))
}
