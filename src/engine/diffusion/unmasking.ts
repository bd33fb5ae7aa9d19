/**
 * How masked sequences become whole: pass after pass of the denoiser, a rule says which positions are next, and
 * something says what they become: a draw (any-order-sample.ts) or a text that is to be scored (duel.ts).
 */
import type { Denoiser } from './denoiser.ts'
import { chosenPositions, type UnmaskingRule } from './unmasking-rule.ts'

export interface Unmasking {
  /** With masked tokens; they are replaced in place. */
  readonly tokens: Int32Array
  readonly rule: UnmaskingRule
  /**
   * The token of a position, given the log-probabilities there of every token and the number of the pass; called once a
   * position.
   */
  reveal(position: number, logProbabilities: Float32Array, pass: number): number
}

/**
 * Until nothing is masked. Sequences that are done leave the passes. `numbersAtOnce`: most log-probabilities that a
 * pass asks for, unless a single sequence has more; 64 MB by default.
 */
export async function unmask(
  denoiser: Denoiser,
  unmaskings: readonly Unmasking[],
  signal?: AbortSignal,
  numbersAtOnce = 2 ** 24,
): Promise<void> {
  for (let first = 0; first < unmaskings.length; ) {
    const group: Unmasking[] = []
    for (let numbers = 0; first < unmaskings.length; first++) {
      numbers += unmaskings[first]!.tokens.length * denoiser.vocabulary
      if (group.length > 0 && numbers > numbersAtOnce) break
      group.push(unmaskings[first]!)
    }
    await unmaskTogether(denoiser, group, signal)
  }
}

async function unmaskTogether(denoiser: Denoiser, group: readonly Unmasking[], signal?: AbortSignal): Promise<void> {
  const { vocabulary, maskToken } = denoiser
  let open = group.filter(({ tokens }) => tokens.includes(maskToken))
  for (let pass = 0; open.length > 0; pass++) {
    signal?.throwIfAborted()
    const distributions = await denoiser.distributions(open.map(({ tokens }) => tokens))
    open.forEach(({ tokens, rule, reveal }, index) => {
      const logProbabilities = distributions[index]!
      const masked = Array.from(tokens.keys()).filter(position => tokens[position] === maskToken)
      for (const position of chosenPositions(rule, { tokens, masked, logProbabilities, vocabulary })) {
        const start = position * vocabulary
        const token = reveal(position, logProbabilities.subarray(start, start + vocabulary), pass)
        if (token === maskToken) throw new Error(`unmasking: position ${position} became the mask token again`)
        tokens[position] = token
      }
    })
    open = open.filter(({ tokens }) => tokens.includes(maskToken))
  }
}
