/** What a language model must answer about each candidate, and what must hold of it. */
import { z } from 'zod'
import type { Quantiles } from '../../experiment/record.ts'

const gain = z.strictObject({ p10: z.number(), p25: z.number(), p50: z.number(), p75: z.number(), p90: z.number() })

/**
 * About candidates with these labels, from so many records. Everything is bounded: held to a schema without bounds, a weak
 * model goes on with a list for ever. What it goes by comes first, so that its numbers can follow from it.
 */
export function answerSchema(labels: readonly string[], records: number) {
  const candidateAnswer = z.strictObject({
    candidate: z.enum(labels as [string, ...string[]]),
    closest: z.array(z.int()).max(Math.min(10, records)),
    basis: z.enum(['analogy', 'mechanism']),
    uncertainty: z.string().max(1000),
    finishes: z.number().min(0).max(1),
    gain,
  })
  return z.strictObject({ forecasts: z.array(candidateAnswer).min(labels.length).max(labels.length) })
}

export type ModelAnswer = z.output<ReturnType<typeof answerSchema>>
export type CandidateAnswer = ModelAnswer['forecasts'][number]

export function quantilesOf({ gain: { p10, p25, p50, p75, p90 } }: CandidateAnswer): Quantiles {
  return [p10, p25, p50, p75, p90]
}

/** Beyond it sums of gains are infinite; not in the schema, whose digits make the grammars of servers grow. */
const largestGain = 1e300

/** What is wrong with an answer about these candidates from these records, in a sentence for the model; else null. */
export function problemWith(
  { forecasts }: ModelAnswer,
  labels: readonly string[],
  recordIds: ReadonlySet<number>,
): string | null {
  const given = forecasts.map(({ candidate }) => candidate)
  const missing = labels.find(label => !given.includes(label))
  if (missing !== undefined) return `there is no forecast of candidate ${missing}`
  for (const answer of forecasts) {
    const quantiles = quantilesOf(answer)
    if (quantiles.some((value, index) => index > 0 && value < quantiles[index - 1]!)) {
      return `the gain of candidate ${answer.candidate} must not decrease from p10 to p90, and it is ${quantiles.join(', ')}`
    }
    const endless = quantiles.find(value => Math.abs(value) > largestGain)
    if (endless !== undefined) {
      return `no gain is as large as ${endless}, as that of candidate ${answer.candidate} is said to be`
    }
    const unknown = answer.closest.find(id => !recordIds.has(id))
    if (unknown !== undefined) {
      return `there is no record ${unknown} in the history; "closest" of candidate ${answer.candidate} may only have ids that stand there`
    }
  }
  return null
}
