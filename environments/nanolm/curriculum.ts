/**
 * How long the rows of a step are: short ones first make many cheap, local examples (Li et al., 2022, "The stability-efficiency
 * dilemma"). Lengths are powers of two, for each costs a compiled graph.
 */
import type { Configuration } from './options.ts'

export type Curriculum = Pick<
  Configuration,
  'curriculum' | 'curriculumStartLength' | 'curriculumFraction' | 'contextLength' | 'batchTokens' | 'tokenBudget'
>

/** Bytes of a row, for each step of the budget. */
export function rowLengths(curriculum: Curriculum): number[] {
  const { curriculumStartLength: start, contextLength, batchTokens, tokenBudget } = curriculum
  const steps = Math.floor(tokenBudget / batchTokens)
  return Array.from({ length: steps }, (_, step) => {
    const progress = step / (curriculum.curriculumFraction * steps)
    if (curriculum.curriculum === 'none' || progress >= 1) return contextLength
    if (curriculum.curriculum === 'two-stage') return start
    return 2 ** Math.floor(Math.log2(start + (contextLength - start) * progress))
  })
}
