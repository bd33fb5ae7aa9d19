/**
 * One sample while it is drawn: its tokens so far, when it ends, and what is reported of it.
 */

import { type KeyedUniform, keyedUniform } from '../../statistics/keyed-random.ts'
import type { Distribution } from '../datum.ts'
import type { Prefix, Sample, SampleRequest } from '../sampling.ts'
import { filters } from './choice-feeds.ts'
import { type Context, contentKey } from './context.ts'
import type { Results } from './sampler-programs.ts'

export class DrawnRow {
  readonly request: SampleRequest
  readonly context: Context
  readonly #uniform: KeyedUniform
  readonly #sample: number
  readonly #tokens: number[] = []
  readonly #logProbabilities: number[] = []
  readonly #drawnLogProbabilities: number[] = []
  readonly #topTokens: number[] = []
  readonly #topLogProbabilities: number[] = []
  readonly #support: number[] = []
  readonly #supportOffsets: number[] = [0]
  #stopReason: Sample['stopReason'] | null = null

  constructor(request: SampleRequest, context: Context, uniform: KeyedUniform, sample: number) {
    this.request = request
    this.context = context
    this.#uniform = uniform
    this.#sample = sample
  }

  get ended(): boolean {
    return this.#stopReason !== null
  }

  /** How many tokens may still be drawn. */
  get remaining(): number {
    return this.request.maximumTokens - this.#tokens.length
  }

  /** What is read next. */
  get lastToken(): number {
    return this.#tokens.at(-1) ?? this.context.tokens.at(-1)!
  }

  /** The prompt's tokens and those that were drawn. */
  get allTokens(): Int32Array {
    const all = new Int32Array(this.context.length + this.#tokens.length)
    all.set(this.context.tokens)
    all.set(this.#tokens, this.context.length)
    return all
  }

  /** The random number for a token that is so many behind the next. */
  uniform(ahead: number): number {
    return this.#uniform(this.#sample, this.context.length + this.#tokens.length + ahead)
  }

  /** Takes over what was drawn in one of `rows` rows; how many of the tokens were taken, up to the end of the sample. */
  accept(results: Results, row: number, rows: number): number {
    const tokens = results['token']!
    const top = (results['topTokens']?.length ?? 0) / tokens.length
    const vocabulary = (results['support']?.length ?? 0) / tokens.length
    const { topLogProbabilities: wanted = 0, returnSupport } = this.request
    let taken = 0
    for (let index = row; index < tokens.length && !this.ended; index += rows) {
      this.#tokens.push(tokens[index]!)
      const logProbability = results['logProbability']![index]!
      if (Number.isNaN(logProbability))
        throw new Error('sample: the log-probability of a drawn token is not a number; have the weights diverged?')
      this.#logProbabilities.push(logProbability)
      this.#drawnLogProbabilities.push(results['drawnLogProbability']![index]!)
      for (let rank = 0; rank < wanted; rank++) {
        this.#topTokens.push(results['topTokens']![index * top + rank]!)
        this.#topLogProbabilities.push(results['topLogProbabilities']![index * top + rank]!)
      }
      if (returnSupport && filters(this.request))
        this.#takeSupport(results['support']!.subarray(index * vocabulary, (index + 1) * vocabulary))
      this.#stopReason = this.#reasonToStop()
      taken++
    }
    return taken
  }

  sample(prefix: Prefix | null): Sample {
    const { topLogProbabilities: count = 0 } = this.request
    return {
      tokens: Int32Array.from(this.#tokens),
      logProbabilities: Float32Array.from(this.#logProbabilities),
      drawnLogProbabilities: Float32Array.from(this.#drawnLogProbabilities),
      stopReason: this.#stopReason!,
      distribution: this.#distribution(),
      ...(count > 0 && {
        topLogProbabilities: {
          count,
          tokens: Int32Array.from(this.#topTokens),
          logProbabilities: Float32Array.from(this.#topLogProbabilities),
        },
      }),
      ...(prefix && { prefix }),
    }
  }

  /** Where nothing but blocked tokens was taken away the position stays as it is: without tokens. */
  #takeSupport(support: ArrayLike<number>): void {
    const kept: number[] = []
    for (let token = 0; token < support.length; token++) if (support[token]) kept.push(token)
    const blocked = new Set(this.request.blocked).size
    if (kept.length + blocked < support.length) for (const token of kept) this.#support.push(token)
    this.#supportOffsets.push(this.#support.length)
  }

  #reasonToStop(): Sample['stopReason'] | null {
    const { stop = [], maximumTokens } = this.request
    const drawn = this.#tokens
    for (const sequence of stop) {
      const start = drawn.length - sequence.length
      if (start >= 0 && sequence.every((token, index) => drawn[start + index] === token)) return 'stop'
    }
    return drawn.length === maximumTokens ? 'length' : null
  }

  /** At temperature 0 a token is drawn from itself alone. */
  #distribution(): Distribution {
    const { temperature = 1, blocked = [] } = this.request
    if (temperature === 0) {
      const offsets = Int32Array.from({ length: this.#tokens.length + 1 }, (_, index) => index)
      return { support: { tokens: Int32Array.from(this.#tokens), offsets } }
    }
    return {
      ...(temperature !== 1 && { temperature }),
      ...(blocked.length > 0 && { blocked }),
      ...(this.#support.length > 0 && {
        support: { tokens: Int32Array.from(this.#support), offsets: Int32Array.from(this.#supportOffsets) },
      }),
    }
  }
}

/** The rows of a request, sample by sample. */
export function rowsOf(request: SampleRequest, context: Context): DrawnRow[] {
  const { samples = 1, firstSample = 0, seed = 0, key = contentKey(context.input) } = request
  const uniform = keyedUniform(seed, key)
  return Array.from({ length: samples }, (_, index) => new DrawnRow(request, context, uniform, firstSample + index))
}
