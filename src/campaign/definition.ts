/** What a campaign is: how many rounds of how many candidates, what it may spend, how it chooses. Stored with it, and never changed. */
import { z } from 'zod'
import type { Json } from '../experiment/json.ts'
import { languageSettings } from '../forecast/language/settings.ts'
import { forecasterChoices } from '../forecast/named-forecaster.ts'
import type { EnvironmentFile } from './environment-file.ts'
import { seedList } from './environment-file.ts'
import { type GateFlags, gateRule, ruleSchema } from './gate.ts'

const count = z.number().int().positive()

export const definitionSchema = z.strictObject({
  rounds: count,
  /** At most this many candidates a round, drawn at random from what the source gives; null takes all. */
  pool: count.nullable(),
  /** How many of them run. */
  choose: count,
  /** Share of these that is drawn at random instead of by forecast. */
  exploration: z.number().min(0).max(1),
  seeds: z.array(z.number().int()).min(1),
  /** So many more for what would be called better; campaigns of before went without. */
  confirm: z.number().int().nonnegative().default(0),
  referenceSeeds: z.array(z.number().int()).min(1),
  runs: count.nullable(),
  hours: z.number().positive().nullable(),
  cost: z.number().positive().nullable(),
  forecaster: z.enum(forecasterChoices),
  /** The language model, for the forecaster `language`. Its budget is for all rounds together. */
  language: languageSettings.nullable().default(null),
  /** Which records forecasts may use. */
  history: z.enum(['none', 'in-environment', 'cross-environment', 'pooled']),
  concurrency: count,
  /** Campaigns of before there was a gate go on without one. */
  gate: ruleSchema.default({ triedBefore: 'show', forecast: null }),
  /** Of the choices and draws, not of the runs. */
  seed: z.number().int(),
})

export type CampaignDefinition = z.output<typeof definitionSchema>
export type CampaignFlags = GateFlags & {
  readonly [Key in Exclude<keyof CampaignDefinition, 'gate'>]?: CampaignDefinition[Key] | undefined
}

/** Of a campaign as it is stored, with the source of its candidates; what campaigns of before lacked gets its default. */
export function storedDefinition(stored: Json): CampaignDefinition {
  return definitionSchema.parse((stored as { definition: Json }).definition)
}

/** What the caller asks for, else what the environment file says, else the defaults. */
export function defineCampaign(flags: CampaignFlags, file: EnvironmentFile): CampaignDefinition {
  const { campaign } = file
  const seeds = flags.seeds ?? seedList(file.seeds)
  return definitionSchema.parse({
    rounds: flags.rounds ?? campaign.rounds ?? 3,
    pool: flags.pool ?? campaign.pool ?? null,
    choose: flags.choose ?? campaign.choose ?? 3,
    exploration: flags.exploration ?? campaign.exploration ?? 0.1,
    seeds,
    confirm: flags.confirm ?? campaign.confirm ?? seeds.length,
    referenceSeeds: flags.referenceSeeds ?? seedList(file.referenceSeeds),
    runs: flags.runs ?? campaign.runs ?? null,
    hours: flags.hours ?? campaign.hours ?? null,
    cost: flags.cost ?? campaign.cost ?? null,
    forecaster: flags.forecaster ?? file.forecaster,
    language: flags.language ?? file.language ?? null,
    history: flags.history ?? 'pooled',
    concurrency: flags.concurrency ?? file.concurrency,
    gate: gateRule(flags, file.gate),
    seed: flags.seed ?? 1,
  })
}
