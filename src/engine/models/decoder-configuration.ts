/**
 * The options of the decoder transformer, what makes them valid, and the size and cost that follow from them.
 */

export interface DecoderConfiguration {
  /** Number of token ids. */
  readonly vocabulary: number
  /** Longest sequence that the model is meant for. */
  readonly contextLength: number
  /** Number of blocks. */
  readonly depth: number
  /** Size of the hidden state; a multiple of `heads`. */
  readonly width: number
  readonly heads: number
  /** Heads of keys and values, each shared by `heads / keyValueHeads` query heads. */
  readonly keyValueHeads: number
  /** Default: 4 × width, or 8/3 × width rounded up to a multiple of 8 for SwiGLU, which has three matrices for two. */
  readonly feedForwardWidth?: number
  /** Rotary embedding with base 10,000 on halves of each head (needs an even head size), or nothing but the causal mask. */
  readonly positions: 'rotary' | 'none'
  /** RMS norm with gains before each branch, or on its output before it is added; a last norm before the head in both. */
  readonly norm: 'pre' | 'post'
  /** RMS norm with gains of queries and keys, per head, before positions are applied. */
  readonly queryKeyNorm: boolean
  /** GELU in its tanh form. */
  readonly activation: 'gelu' | 'swiglu' | 'relu-squared'
  /** The head is the transposed embedding. */
  readonly tiedEmbeddings: boolean
  /** Logits become `cap * tanh(logits / cap)`; null: as they are. */
  readonly logitSoftCap: number | null
  /** Factor on every initial standard deviation: 1/sqrt(inputs) of a matrix, 1/sqrt(width) of the embedding, a quarter of it for a head of its own. */
  readonly initialisationScale: number
  /** `depth`: each branch is multiplied by 1/sqrt(2 × depth) before it is added. */
  readonly residualScaling: 'none' | 'depth'
}

const isPositiveInteger = (value: unknown): boolean => Number.isInteger(value) && (value as number) > 0
const isPositive = (value: unknown): boolean => Number.isFinite(value) && (value as number) > 0

/** One sentence for each field that is not valid, naming the field, its value and what is expected; empty when all is well. */
export function decoderProblems(configuration: DecoderConfiguration): string[] {
  const problems: string[] = []
  const expect = (holds: boolean, field: keyof DecoderConfiguration, expected: string) => {
    const value = configuration[field]
    // JSON knows no NaN: it would be called null.
    const shown = typeof value === 'number' ? String(value) : JSON.stringify(value)
    if (!holds) problems.push(`${field} is ${shown}: expected ${expected}`)
  }
  const oneOf = (field: keyof DecoderConfiguration, words: readonly unknown[]) =>
    expect(words.includes(configuration[field]), field, words.map(word => JSON.stringify(word)).join(' or '))

  for (const field of ['vocabulary', 'contextLength', 'depth', 'width', 'heads', 'keyValueHeads'] as const)
    expect(isPositiveInteger(configuration[field]), field, 'a positive whole number')
  const { width, heads, keyValueHeads, feedForwardWidth } = configuration
  if (feedForwardWidth !== undefined)
    expect(isPositiveInteger(feedForwardWidth), 'feedForwardWidth', 'a positive whole number, or absent')
  oneOf('positions', ['rotary', 'none'])
  oneOf('norm', ['pre', 'post'])
  oneOf('queryKeyNorm', [true, false])
  oneOf('activation', ['gelu', 'swiglu', 'relu-squared'])
  oneOf('tiedEmbeddings', [true, false])
  oneOf('residualScaling', ['none', 'depth'])
  const cap = configuration.logitSoftCap
  expect(cap === null || isPositive(cap), 'logitSoftCap', 'a positive number or null')
  expect(isPositive(configuration.initialisationScale), 'initialisationScale', 'a positive number')
  if (problems.length > 0) return problems

  expect(width % heads === 0, 'width', `a multiple of heads, which is ${heads}`)
  expect(heads % keyValueHeads === 0, 'keyValueHeads', `a divisor of heads, which is ${heads}`)
  if (width % heads === 0 && configuration.positions === 'rotary')
    expect(
      (width / heads) % 2 === 0,
      'width',
      `an even number of channels per head for rotary positions, not ${width / heads}`,
    )
  return problems
}

/** Throws one error with all that is wrong. */
export function checkDecoder(configuration: DecoderConfiguration): void {
  const problems = decoderProblems(configuration)
  if (problems.length > 0) throw new Error(`The decoder's configuration is not valid: ${problems.join('; ')}`)
}

export function feedForwardWidthOf(configuration: DecoderConfiguration): number {
  const { width, activation, feedForwardWidth } = configuration
  return feedForwardWidth ?? (activation === 'swiglu' ? Math.ceil(width / 3) * 8 : 4 * width)
}
