/**
 * Which masked positions get their tokens next. A rule is deterministic: it knows the sequence as far as it is unmasked
 * and what the model thinks of it, and never the tokens to come. So it makes of a denoiser a model with an exact
 * likelihood (DUEL, Turok et al., 2026).
 */
import { seededRandom } from '../../statistics/random.ts'
import { described } from '../required-types.ts'

export interface MaskedState {
  /** The whole sequence, masked tokens included. */
  readonly tokens: Int32Array
  /** The masked positions in rising order; at least one. */
  readonly masked: readonly number[]
  /** Log-probabilities as the denoiser gave them: positions × vocabulary. */
  readonly logProbabilities: Float32Array
  readonly vocabulary: number
}

/** Some of the masked positions, at least one. Their tokens are drawn independently of each other. */
export type UnmaskingRule = (state: MaskedState) => readonly number[]

/** The first masked positions, `count` at a time. */
export function leftToRight(count = 1): UnmaskingRule {
  checkCount(count)
  return ({ masked }) => masked.slice(0, count)
}

/** The positions whose most probable token is most probable, `count` at a time; of equals those on the left. */
export function mostConfident(count = 1): UnmaskingRule {
  checkCount(count)
  return ({ masked, logProbabilities, vocabulary }) => {
    const confidence = new Map(
      masked.map(position => [position, greatest(logProbabilities, position * vocabulary, vocabulary)]),
    )
    return masked.toSorted((a, b) => confidence.get(b)! - confidence.get(a)! || a - b).slice(0, count)
  }
}

/** An order drawn from the seed, the same for all sequences of a length, `count` at a time. */
export function inRandomOrder(seed: number | string, count = 1): UnmaskingRule {
  checkCount(count)
  const ranks = new Map<number, Int32Array>()
  const ranksOf = (length: number) => {
    let known = ranks.get(length)
    if (!known) {
      known = new Int32Array(length)
      const order = seededRandom(seed)
        .fork(length)
        .shuffle(Array.from(known, (_, position) => position))
      for (const [rank, position] of order.entries()) known[position] = rank
      ranks.set(length, known)
    }
    return known
  }
  return ({ tokens, masked }) => {
    const rank = ranksOf(tokens.length)
    return masked.toSorted((a, b) => rank[a]! - rank[b]!).slice(0, count)
  }
}

/**
 * Blocks of `size` positions from left to right, a rule within each: what a model with block-causal attention needs.
 */
export function blockByBlock(size: number, within: UnmaskingRule): UnmaskingRule {
  checkCount(size, 'size')
  return state => {
    const block = Math.floor(state.masked[0]! / size)
    return within({ ...state, masked: state.masked.filter(position => Math.floor(position / size) === block) })
  }
}

/**
 * A rule's choice, checked: a rule that chooses nothing would never end, and one that chooses a known position would
 * lie.
 */
export function chosenPositions(rule: UnmaskingRule, state: MaskedState): readonly number[] {
  const chosen = rule(state)
  if (chosen.length === 0) throw new Error('unmasking: the rule chose no position; it must choose at least one')
  const masked = new Set(state.masked)
  for (const position of chosen)
    if (!masked.delete(position))
      throw new Error(`unmasking: the rule chose position ${position}, which is not masked or was chosen twice`)
  return chosen
}

function greatest(values: Float32Array, start: number, count: number): number {
  let largest = Number.NEGATIVE_INFINITY
  for (let index = start; index < start + count; index++) if (values[index]! > largest) largest = values[index]!
  return largest
}

/** For callers that no type checker has seen. */
export function requireRule(place: string, rule: unknown): asserts rule is UnmaskingRule {
  if (typeof rule !== 'function')
    throw new Error(`${place} is ${described(rule)}: expected an unmasking rule, leftToRight() for one`)
}

function checkCount(count: number, name = 'count'): void {
  if (!Number.isInteger(count) || count < 1)
    throw new Error(`unmasking: ${name} is ${described(count)}: expected a positive whole number`)
}
