/**
 * What is said of some positions, said of the text in which others stand before them: those have no tokens, so that nothing of them is
 * scored or taken away.
 */
import type { Distribution, RaggedTokens } from './datum.ts'

/** `before`: how many positions come before. */
export function raggedBehind({ tokens, offsets }: RaggedTokens, before: number): RaggedTokens {
  const all = new Int32Array(before + offsets.length)
  all.set(offsets, before)
  return { tokens, offsets: all }
}

export function distributionBehind(distribution: Distribution, before: number): Distribution {
  const { support } = distribution
  return support ? { ...distribution, support: raggedBehind(support, before) } : distribution
}
