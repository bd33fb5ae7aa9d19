/** What a language model must answer about each candidate, and what must hold of it. */
import { z } from 'zod'
import type { Quantiles } from '../../experiment/record.ts'

const gain = z.strictObject({ p10: z.number(), p25: z.number(), p50: z.number(), p75: z.number(), p90: z.number() })

/** Not in the schema: strict ones of some providers know no lengths. */
const longestUncertainty = 1000

/** What it goes by comes first: a model that writes it down before its numbers lets them follow from it. */
const candidateAnswer = z.strictObject({
  candidate: z.string(),
  closest: z.array(z.int()),
  basis: z.enum(['analogy', 'mechanism']),
  uncertainty: z.string(),
  finishes: z.number().min(0).max(1),
  gain,
})

export const answerSchema = z.strictObject({ forecasts: z.array(candidateAnswer) })

export type CandidateAnswer = z.output<typeof candidateAnswer>
export type ModelAnswer = z.output<typeof answerSchema>

export function quantilesOf({ gain: { p10, p25, p50, p75, p90 } }: CandidateAnswer): Quantiles {
  return [p10, p25, p50, p75, p90]
}

/** What is wrong with an answer about these candidates from these records, in a sentence for the model; else null. */
export function problemWith(
  { forecasts }: ModelAnswer,
  labels: readonly string[],
  recordIds: ReadonlySet<number>,
): string | null {
  const given = forecasts.map(({ candidate }) => candidate)
  const missing = labels.find(label => !given.includes(label))
  if (missing !== undefined) return `there is no forecast of candidate ${missing}`
  if (given.length > labels.length) return `there are ${given.length} forecasts for ${labels.length} candidates`
  for (const answer of forecasts) {
    const quantiles = quantilesOf(answer)
    if (quantiles.some((value, index) => index > 0 && value < quantiles[index - 1]!)) {
      return `the gain of candidate ${answer.candidate} must not decrease from p10 to p90, and it is ${quantiles.join(', ')}`
    }
    if (answer.uncertainty.length > longestUncertainty) {
      return `the uncertainty of candidate ${answer.candidate} has ${answer.uncertainty.length} characters; say it in one sentence`
    }
    const unknown = answer.closest.find(id => !recordIds.has(id))
    if (unknown !== undefined) {
      return `there is no record ${unknown} in the history; "closest" of candidate ${answer.candidate} may only have ids that stand there`
    }
  }
  return null
}
