/**
 * Training data of masked diffusion language models: tokens are replaced by the mask token, to be predicted where they
 * stood. Their loss is in expectation an upper bound on -log p of the tokens, in nats.
 */
import type { Random } from '../../statistics/random.ts'
import type { CrossEntropyDatum } from '../datum.ts'
import { described, type FieldsOf, requireFields, requireIntegers, requireList } from '../required-types.ts'

export interface MaskingOptions {
  readonly maskToken: number
  readonly random: Random
  /**
   * `independent`: at a level t each token is masked with probability t, and a masked one weighs 1/t (MDLM, Sahoo et
   * al., 2024, whose bound is this one on a linear schedule; LLaDA, Nie et al., 2025). `counted`: k of L tokens are
   * masked, each k equally likely, and each weighs L/k; what is masked has the same weight in expectation, with less
   * noise. Default independent.
   */
  readonly masking?: 'independent' | 'counted'
  /**
   * Range of the level. Default from 0.001 to 1: from 0 on, the weights would have no finite variance. A narrower one
   * (BD3LM's clipped schedules, Arriola et al., 2025) trains with less noise still, but its loss is no longer the
   * bound.
   */
  readonly levels?: readonly [number, number]
  /** Factor on all weights. Default 1, a sum over tokens; 1 / tokens for a mean. */
  readonly weight?: number
}

const fields: FieldsOf<MaskingOptions> = { maskToken: true, random: true, masking: true, levels: true, weight: true }

/** One datum a sequence, with a level of its own, for a model with bidirectional attention. */
export function maskedData(sequences: readonly Int32Array[], options: MaskingOptions): CrossEntropyDatum[] {
  checkMasking(sequences, options)
  const level = evenLevels(sequences.length, options)
  return sequences.map(sequence => {
    const { tokens, weights } = unmasked(sequence)
    maskRange(tokens, weights, 0, sequence.length, level(), options)
    return { input: { tokens }, targets: sequence, weights, distribution: { blocked: [options.maskToken] } }
  })
}

/**
 * Block diffusion (BD3LM): each block of a sequence has a level of its own and is predicted from itself, noisy, and the
 * clean blocks before it. One datum a sequence, for a decoder with `block-diffusion` attention of that block size:
 * noisy and clean token in turns.
 */
export function maskedBlockData(
  sequences: readonly Int32Array[],
  blockSize: number,
  options: MaskingOptions,
): CrossEntropyDatum[] {
  checkMasking(sequences, options)
  if (!Number.isInteger(blockSize) || blockSize < 1)
    throw new Error(`maskedBlockData: blockSize is ${described(blockSize)}: expected a positive whole number`)
  const blocks = sequences.reduce((count, { length }) => count + Math.ceil(length / blockSize), 0)
  const level = evenLevels(blocks, options)
  return sequences.map(sequence => {
    const { tokens, weights } = unmasked(sequence)
    for (let start = 0; start < sequence.length; start += blockSize)
      maskRange(tokens, weights, start, Math.min(start + blockSize, sequence.length), level(), options)
    return {
      input: { tokens: inTurns(tokens, sequence) },
      targets: inTurns(sequence, sequence),
      weights: inTurns(weights, new Float32Array(weights.length)),
      distribution: { blocked: [options.maskToken] },
    }
  })
}

/**
 * Levels that are spread evenly over their range, all shifted by one random number (the low-discrepancy sampler of
 * Kingma et al., 2021) and in random order: each is uniform for itself, and a batch has about the same noise as the
 * next.
 */
function evenLevels(count: number, { random, masking, levels = [0.001, 1] }: MaskingOptions): () => number {
  const shift = 1 - random.uniform()
  const [low, high] = masking === 'counted' ? [0, 1] : levels
  const shuffled = random.shuffle(
    Array.from({ length: count }, (_, index) => low + (high - low) * ((index + shift) / count)),
  )
  let next = 0
  return () => shuffled[next++]!
}

function maskRange(
  tokens: Int32Array,
  weights: Float32Array,
  start: number,
  end: number,
  level: number,
  { maskToken, random, masking, weight = 1 }: MaskingOptions,
): void {
  const positions = Array.from({ length: end - start }, (_, index) => start + index)
  const count = Math.ceil(level * positions.length)
  const masked =
    masking === 'counted' ? random.sample(positions, count) : positions.filter(() => random.uniform() < level)
  for (const position of masked) {
    tokens[position] = maskToken
    weights[position] = masking === 'counted' ? (weight * positions.length) / count : weight / level
  }
}

function unmasked(sequence: Int32Array): { readonly tokens: Int32Array; readonly weights: Float32Array } {
  return { tokens: sequence.slice(), weights: new Float32Array(sequence.length) }
}

/** first[0], second[0], first[1], … */
function inTurns<A extends Int32Array | Float32Array>(first: A, second: A): A {
  const both = first instanceof Int32Array ? new Int32Array(2 * first.length) : new Float32Array(2 * first.length)
  first.forEach((value, index) => {
    both[2 * index] = value
    both[2 * index + 1] = second[index]!
  })
  return both as A
}

function checkMasking(sequences: readonly Int32Array[], options: MaskingOptions) {
  requireFields('masking: options', options, fields)
  const { maskToken, random, masking = 'independent', levels = [0.001, 1] } = options
  if (!(Number.isInteger(maskToken) && maskToken >= 0))
    throw new Error(`masking: maskToken is ${described(maskToken)}: expected a token`)
  if (typeof random?.uniform !== 'function')
    throw new Error(`masking: random is ${described(random)}: expected random numbers, seededRandom(1) for one`)
  if (masking !== 'independent' && masking !== 'counted')
    throw new Error(`masking: masking is ${described(masking)}: expected independent or counted`)
  requireList('masking: sequences', sequences)
  const [low, high] = levels
  if (masking !== 'counted' && !(low > 0 && low <= high && high <= 1))
    throw new Error(`masking: levels are ${low} to ${high}: expected a range within 0 (not included) and 1`)
  sequences.forEach((sequence, row) => {
    requireIntegers(`masking: sequences[${row}]`, sequence)
    if (sequence.length === 0) throw new Error(`masking: sequence ${row} is empty`)
    const position = sequence.indexOf(maskToken)
    if (position >= 0)
      throw new Error(
        `masking: sequence ${row} has the mask token, ${maskToken}, at position ${position}; give clean text`,
      )
  })
}
