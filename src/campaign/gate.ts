/**
 * The gate: what speaks against paying for a candidate, asked of the ledger before anything runs. Pure; who calls it
 * decides what a refusal means. That the very same intervention was run before is found earlier, by its hash.
 */
import { z } from 'zod'
import type { Environment } from '../experiment/environment.ts'
import type { Candidate, ExperimentRecord, Forecast } from '../experiment/record.ts'
import { chanceOfGain } from '../forecast/chance-of-gain.ts'
import { referenceDifference } from './reference-difference.ts'
import { type Precedent, precedents } from './tried-before.ts'

/** By flag; the environment file has the same under `gate`. */
export const gateFlags = {
  belowGain: z
    .number()
    .optional()
    .describe('refuse what is unlikely to gain more than this (with --chance; default: 0)'),
  chance: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('how likely a gain above --below-gain has to be by forecast (default: 0.5 where that is given)'),
}

export const gateSchema = z.strictObject({
  ...gateFlags,
  /** What to do with a candidate that tries again what failed or was worse. */
  triedBefore: z.enum(['refuse', 'show']).optional(),
})
export type GateFields = z.output<typeof gateSchema>
export type GateFlags = Pick<GateFields, keyof typeof gateFlags>

/** The same with its defaults, as it is stored with a campaign. */
export const ruleSchema = z.strictObject({
  triedBefore: z.enum(['refuse', 'show']),
  /** Null: a low forecast is only shown. */
  forecast: z.strictObject({ belowGain: z.number(), chance: z.number() }).nullable(),
})
export type GateRule = z.output<typeof ruleSchema>

/** Flags first, then what the environment file says. */
export function gateRule(flags: GateFlags, file: GateFields): GateRule {
  const belowGain = flags.belowGain ?? file.belowGain
  const chance = flags.chance ?? file.chance
  const forecast =
    belowGain === undefined && chance === undefined ? null : { belowGain: belowGain ?? 0, chance: chance ?? 0.5 }
  return { triedBefore: file.triedBefore ?? 'refuse', forecast }
}

/** A sentence against a candidate, and whether it is enough to refuse it. */
export interface Objection {
  readonly reason: string
  readonly refuses: boolean
  /** That what it is like did not finish. */
  readonly failed?: boolean
}

/** Without a rule of the user's, a forecast is worth a word when it gives the candidate less than this chance to gain. */
const worthAWord = 0.1

/** At most so many precedents are told of one candidate. */
const mostTold = 3

/** What was tried before and speaks against each candidate, the objections that refuse it first. Needs no forecast. */
export function objectionsFromRecords(
  candidates: readonly Candidate[],
  records: readonly ExperimentRecord[],
  environment: Environment,
  { triedBefore }: GateRule,
): Objection[][] {
  return precedents(candidates, records, environment).map(found =>
    found.slice(0, mostTold).map(precedent => ({
      reason: reasonOf(precedent, environment),
      refuses: precedent.settles && triedBefore === 'refuse',
      ...(precedent.record.verdict === 'failed' ? { failed: true } : {}),
    })),
  )
}

/** What speaks against a candidate in its forecast: one objection, or none. */
export function objectionsFromForecast(forecast: Forecast, { forecast: rule }: GateRule): Objection[] {
  const { belowGain, chance: asked } = rule ?? { belowGain: 0, chance: worthAWord }
  const chance = chanceOfGain(forecast, belowGain)
  if (chance >= asked) return []
  const gain = belowGain === 0 ? 'any gain' : `a gain above ${belowGain}`
  const reason = `Its forecast is low (a chance of ${rounded(chance)} of ${gain}, and ${asked} is asked for)`
  return [{ reason, refuses: rule !== null }]
}

/** A general phrase first, the case in brackets: so that reasons of many candidates can be counted. */
function reasonOf({ record, likeness, settles }: Precedent, environment: Environment): string {
  const { id, verdict, outcome, measured, intervention } = record
  const fate = verdict === 'failed' ? 'failed' : 'was worse'
  const how = verdict === 'failed' ? outcome! : `by ${rounded(-measured!.gain)}`
  const doubt = verdict === 'inconclusive' ? ', measured too seldom to be sure' : ''
  const like = { 'as far': 'It is like what', 'less far': 'It goes the way that', 'in words': 'It reads like what' }[
    likeness
  ]
  const said = `${like} ${fate} (record ${id}, ${how}${doubt}: ${shortened(intervention.sentence)})`
  if (settles) return said
  const difference = referenceDifference(record.environment.version.reference, environment.version.reference)
  if (difference !== null) return `${said}, but against another reference: ${difference}. It may deserve another try`
  return likeness === 'less far' ? `${said}, only less far` : said
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(2)))
}

function shortened(sentence: string): string {
  return sentence.length > 80 ? `${sentence.slice(0, 79)}…` : sentence
}
