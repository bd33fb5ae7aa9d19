/**
 * The options of the decoder transformer, what they are where they are not given, and what makes them valid.
 */
import type { Llama3Scaling } from '../algebra/rotary.ts'
import { described, type FieldsOf, unknownField } from '../required-types.ts'
import { completeMemory, type MemoryConfiguration, memoryProblems } from './memory-configuration.ts'

/**
 * `bidirectional`: every real position of the row. `block-causal`: the position's own block and those before it.
 * `block-diffusion` (BD3LM; Arriola et al., 2025): a row holds each token twice, noisy and clean, in turns: entries 2 i
 * and 2 i + 1 stand at position i. A noisy entry sees the noisy ones of its block and the clean ones of earlier blocks;
 * a clean entry sees the clean ones of its block and of earlier blocks. So what the noisy entries see is what a
 * block-causal model with the same parameters and half the contextLength sees when it denoises one block after clean
 * ones.
 */
export type AttentionPattern = 'causal' | 'bidirectional' | 'block-causal' | 'block-diffusion'

/** All of it, as a model holds it; DecoderOptions are what has to be given. */
export interface DecoderConfiguration {
  /** Number of token ids. */
  readonly vocabulary: number
  /** Longest sequence that the model is meant for. */
  readonly contextLength: number
  /** Number of blocks. */
  readonly depth: number
  /** Size of the hidden state; a multiple of `heads` where `headWidth` is absent. */
  readonly width: number
  readonly heads: number
  /** Channels of a head. Default: width / heads. */
  readonly headWidth: number
  /** Heads of keys and values, each shared by `heads / keyValueHeads` query heads. Default: heads. */
  readonly keyValueHeads: number
  /** Default: 4 × width, or 8/3 × width rounded up to a multiple of 8 for SwiGLU, which has three matrices for two. */
  readonly feedForwardWidth: number
  /**
   * Rotary embedding on halves of each head (needs an even head size); ALiBi (a penalty on scores that grows with the
   * distance); a learned vector for each of the contextLength positions, added to the embedding; or nothing but the
   * mask. Default rotary.
   */
  readonly positions: 'rotary' | 'alibi' | 'learned' | 'none'
  /** Of rotary positions. Default 10,000. */
  readonly rotaryBase: number
  /** Of rotary positions. Default: none. */
  readonly rotaryScaling?: Llama3Scaling
  /** Which positions a position takes from. Default causal. */
  readonly attention: AttentionPattern
  /** Positions of a block, for `block-causal` and `block-diffusion`. */
  readonly attentionBlock?: number
  /** A norm before each branch, or on its output before it is added; a last norm before the head in both. Default pre. */
  readonly norm: 'pre' | 'post'
  /** RMS norm with gains, or layer norm with gains and biases. Default rms. */
  readonly normKind: 'rms' | 'layer'
  /** What norms add to a mean square or variance. Default 1e-6. */
  readonly normEpsilon: number
  /** Probability that an entry of the embedding or of a branch's output is left out in training. Default 0. */
  readonly dropout: number
  /** RMS norm with gains of queries and keys, per head, before positions are applied. Default false. */
  readonly queryKeyNorm: boolean
  /** GELU in its tanh form. Default swiglu. */
  readonly activation: 'gelu' | 'swiglu' | 'relu-squared'
  /** The head is the transposed embedding. Default false. */
  readonly tiedEmbeddings: boolean
  /** Logits become `cap * tanh(logits / cap)`; null: as they are. Default null. */
  readonly logitSoftCap: number | null
  /**
   * Factor on every initial standard deviation: 1/sqrt(inputs) of a matrix, 1/sqrt(width) of the embedding, a quarter
   * of it for a head of its own. Default 1.
   */
  readonly initialisationScale: number
  /** `depth`: each branch is multiplied by 1/sqrt(2 × depth) before it is added. Default none. */
  readonly residualScaling: 'none' | 'depth'
  /** A sparse key-value memory between two blocks. Default: none. */
  readonly memory?: MemoryConfiguration
}

type Needed = 'vocabulary' | 'contextLength' | 'depth' | 'width' | 'heads'
export type DecoderOptions = Pick<DecoderConfiguration, Needed> & Partial<Omit<DecoderConfiguration, Needed>>

const scalingFields: FieldsOf<Llama3Scaling> = {
  factor: true,
  lowFrequencyFactor: true,
  highFrequencyFactor: true,
  originalContextLength: true,
}
export const decoderFields: FieldsOf<DecoderConfiguration> = {
  vocabulary: true,
  contextLength: true,
  depth: true,
  width: true,
  heads: true,
  headWidth: true,
  keyValueHeads: true,
  feedForwardWidth: true,
  positions: true,
  rotaryBase: true,
  rotaryScaling: true,
  attention: true,
  attentionBlock: true,
  norm: true,
  normKind: true,
  normEpsilon: true,
  dropout: true,
  queryKeyNorm: true,
  activation: true,
  tiedEmbeddings: true,
  logitSoftCap: true,
  initialisationScale: true,
  residualScaling: true,
  memory: true,
}

const defaults = {
  positions: 'rotary',
  rotaryBase: 10_000,
  attention: 'causal',
  norm: 'pre',
  normKind: 'rms',
  normEpsilon: 1e-6,
  dropout: 0,
  queryKeyNorm: false,
  activation: 'swiglu',
  tiedEmbeddings: false,
  logitSoftCap: null,
  initialisationScale: 1,
  residualScaling: 'none',
} as const

/** What is not given, or undefined, is the default. It checks nothing: what is not valid stays so. */
export function completeDecoder<Options extends DecoderOptions>(options: Options): Options & DecoderConfiguration {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options
  const { vocabulary, contextLength, depth, width, heads, memory, activation = defaults.activation } = given
  // They come first: models that differ in one of them differ in more, and are said to differ in the first.
  const sizes = { vocabulary, contextLength, depth, width, heads }
  return {
    ...sizes,
    ...defaults,
    keyValueHeads: heads,
    headWidth: width / heads,
    feedForwardWidth: activation === 'swiglu' ? Math.ceil(width / 3) * 8 : 4 * width,
    ...given,
    ...(memory && { memory: completeMemory(memory, depth) }),
  }
}

const isPositiveInteger = (value: unknown): boolean => Number.isInteger(value) && (value as number) > 0
const isPositive = (value: unknown): boolean => Number.isFinite(value) && (value as number) > 0

/**
 * One sentence for each field that is not valid, naming the field, its value and what is expected; empty when all is
 * well. `known`: the options that there are.
 */
export function decoderProblems(
  options: DecoderOptions,
  known: Readonly<Record<string, true>> = decoderFields,
): string[] {
  const { headWidth, feedForwardWidth, memory } = options
  // What follows from other fields is not what is wrong.
  const configuration = { ...completeDecoder(options), headWidth, feedForwardWidth }
  const unknown = unknownField(options, known)
  const problems: string[] = unknown ? [unknown] : []
  const expect = (holds: boolean, field: keyof DecoderConfiguration, expected: string) => {
    if (!holds) problems.push(`${field} is ${described(configuration[field])}: expected ${expected}`)
  }
  const oneOf = (field: keyof DecoderConfiguration, words: readonly unknown[]) =>
    expect(words.includes(configuration[field]), field, words.map(word => JSON.stringify(word)).join(' or '))

  const optional = (field: keyof DecoderConfiguration, holds: (value: unknown) => boolean, expected: string) =>
    expect(configuration[field] === undefined || holds(configuration[field]), field, `${expected}, or absent`)

  const sizes = ['vocabulary', 'contextLength', 'depth', 'width', 'heads'] as const
  for (const field of options.keyValueHeads === undefined ? sizes : ([...sizes, 'keyValueHeads'] as const))
    expect(isPositiveInteger(configuration[field]), field, 'a positive whole number')
  for (const field of ['headWidth', 'feedForwardWidth', 'attentionBlock'] as const)
    optional(field, isPositiveInteger, 'a positive whole number')
  for (const field of ['rotaryBase', 'normEpsilon'] as const) optional(field, isPositive, 'a positive number')
  optional('rotaryScaling', isLlama3Scaling, 'four positive numbers with lowFrequencyFactor below highFrequencyFactor')
  optional(
    'dropout',
    value => value === 0 || (isPositive(value) && (value as number) < 1),
    'a number from 0 to below 1',
  )
  optional('normKind', value => value === 'rms' || value === 'layer', '"rms" or "layer"')
  const { attention, attentionBlock } = configuration
  const patterns = ['causal', 'bidirectional', 'block-causal', 'block-diffusion']
  optional('attention', value => patterns.includes(value as string), patterns.map(word => `"${word}"`).join(' or '))
  oneOf('positions', ['rotary', 'alibi', 'learned', 'none'])
  oneOf('norm', ['pre', 'post'])
  oneOf('queryKeyNorm', [true, false])
  oneOf('activation', ['gelu', 'swiglu', 'relu-squared'])
  oneOf('tiedEmbeddings', [true, false])
  oneOf('residualScaling', ['none', 'depth'])
  const cap = configuration.logitSoftCap
  expect(cap === null || isPositive(cap), 'logitSoftCap', 'a positive number or null')
  expect(isPositive(configuration.initialisationScale), 'initialisationScale', 'a positive number')
  if (problems.length > 0) return problems

  const { contextLength, width, heads, keyValueHeads, positions } = configuration
  if (headWidth === undefined) expect(width % heads === 0, 'width', `a multiple of heads, which is ${heads}`)
  expect(heads % keyValueHeads === 0, 'keyValueHeads', `a divisor of heads, which is ${heads}`)
  if (positions === 'rotary' && headWidth !== undefined)
    expect(headWidth % 2 === 0, 'headWidth', 'an even number for rotary positions')
  else if (positions === 'rotary' && width % heads === 0)
    expect(
      (width / heads) % 2 === 0,
      'width',
      `an even number of channels per head for rotary positions, not ${width / heads}`,
    )
  if (attention === 'block-causal' || attention === 'block-diffusion')
    expect(attentionBlock !== undefined, 'attentionBlock', `a positive whole number for ${attention} attention`)
  if (attention === 'block-diffusion')
    expect(contextLength % 2 === 0, 'contextLength', 'an even number: a row holds each token noisy and clean')
  if (memory !== undefined) problems.push(...memoryProblems(memory, width, configuration.depth))
  return problems
}

function isLlama3Scaling(value: unknown): boolean {
  const { factor, lowFrequencyFactor, highFrequencyFactor, originalContextLength } = Object(value) as Llama3Scaling
  return (
    unknownField(Object(value), scalingFields) === null &&
    [factor, lowFrequencyFactor, highFrequencyFactor, originalContextLength].every(isPositive) &&
    lowFrequencyFactor < highFrequencyFactor
  )
}

/** Throws one error with all that is wrong. */
export function checkDecoder(options: DecoderOptions): void {
  const problems = decoderProblems(options)
  if (problems.length > 0) throw new Error(`The decoder's configuration is not valid: ${problems.join('; ')}`)
}

/** Places in a row that learned positions tell apart. */
export function positionCountOf({ attention, contextLength }: DecoderConfiguration): number {
  return attention === 'block-diffusion' ? contextLength / 2 : contextLength
}
