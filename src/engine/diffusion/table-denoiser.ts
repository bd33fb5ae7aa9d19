/**
 * A denoiser without a model, and all texts that there are: for checks by enumeration, which must hold whatever the
 * model thinks.
 */
import { type Random, seededRandom } from '../../statistics/random.ts'
import type { Denoiser } from './denoiser.ts'

/**
 * Random distributions, other ones for every partly masked sequence and position. The mask is the last token.
 * `visible`: what of a sequence a position sees; default all of it.
 */
export function tableDenoiser(
  vocabulary: number,
  seed: number,
  visible: (tokens: Int32Array, position: number) => Int32Array = tokens => tokens,
): Denoiser {
  const random = seededRandom(seed)
  const known = new Map<string, number[]>()
  const row = (tokens: Int32Array, position: number): number[] => {
    const context = `${position}: ${visible(tokens, position).join(' ')}`
    const values = known.get(context) ?? drawn(random.fork(context))
    known.set(context, values)
    return values
  }
  const drawn = (stream: Random): number[] => {
    const exponentiated = Array.from({ length: vocabulary - 1 }, () => Math.exp(2 * stream.normal()))
    const sum = exponentiated.reduce((total, value) => total + value, 0)
    return [...exponentiated.map(value => Math.log(value / sum)), Number.NEGATIVE_INFINITY]
  }
  return {
    vocabulary,
    maskToken: vocabulary - 1,
    distributions: async sequences =>
      sequences.map(tokens => Float32Array.from([...tokens.keys()].flatMap(position => row(tokens, position)))),
  }
}

/** Every text of a length over tokens from 0. */
export function allTexts(tokens: number, length: number): Int32Array[] {
  return Array.from({ length: tokens ** length }, (_, number) =>
    Int32Array.from({ length }, (_, place) => Math.floor(number / tokens ** place) % tokens),
  )
}
