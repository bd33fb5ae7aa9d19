/**
 * A set of allowed sequences as a state machine for beam search: a tree in which sequences with a common beginning
 * share a path.
 */

import { described } from '../required-types.ts'
import type { Transitions } from '../sampling.ts'

/** State 0 is the root; equal sequences count once. Where a sequence ends, its beam ends. */
export function trieOf(sequences: readonly ArrayLike<number>[]): Transitions {
  const next: Map<number, number>[] = [new Map()]
  /** By state, the first sequence that ends in it. */
  const ends = new Map<number, number>()
  for (const [index, sequence] of sequences.entries()) {
    if (sequence.length === 0) throw new Error(`trieOf: sequence ${index} is empty`)
    let state = 0
    for (let position = 0; position < sequence.length; position++) {
      const token = sequence[position]!
      if (!Number.isInteger(token) || token < 0)
        throw new Error(
          `trieOf: token ${position} of sequence ${index} is ${described(token)}: expected a whole number from 0 on`,
        )
      const end = ends.get(state)
      if (end !== undefined) refuseBeginning(end, index)
      let following = next[state]!.get(token)
      if (following === undefined) {
        following = next.length
        next.push(new Map())
        next[state]!.set(token, following)
      }
      state = following
    }
    if (next[state]!.size > 0) refuseBeginning(index, null)
    if (!ends.has(state)) ends.set(state, index)
  }
  return { next }
}

/** A beam could not end there: it would have to go on. */
function refuseBeginning(shorter: number, longer: number | null): never {
  const other = longer === null ? 'an earlier sequence' : `sequence ${longer}`
  throw new Error(`trieOf: ${other} begins with all of sequence ${shorter}; end every sequence with a stop token`)
}
