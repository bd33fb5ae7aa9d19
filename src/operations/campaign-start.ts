/** Starts a research campaign: rounds of candidates, forecasts, the chosen few, runs, records. */
import { z } from 'zod'
import { startCampaign } from '../campaign/campaign.ts'
import { campaignState } from '../campaign/campaign-state.ts'
import { defineCampaign } from '../campaign/definition.ts'
import type { CandidateSource } from '../campaign/environment-file.ts'
import { firstSeeds } from '../campaign/environment-file.ts'
import { gateFlags } from '../campaign/gate.ts'
import { historyKinds } from '../campaign/history.ts'
import { tooSmallBudget } from '../forecast/language/questions.ts'
import { forecasterChoices } from '../forecast/named-forecaster.ts'
import { campaignJson, campaignOutcome, campaignText } from './campaign-outcome.ts'
import { pathOfGiven, textOfGiven } from './given-file.ts'
import { chosenForecaster, languageFlags } from './language-flags.ts'
import { InputError, NothingToDo, operation } from './operation.ts'
import { inPlace } from './surroundings.ts'

const count = z.number().int().positive()

export const campaignStart = operation({
  name: 'campaign start',
  summary: 'forecast candidates, run the best few, learn, and repeat under a budget',
  example: 'almanac campaign start --rounds 3 --choose 3 --runs 24',
  positional: [],
  input: z.strictObject({
    rounds: count.optional().describe('how many rounds (default: 3)'),
    pool: count.optional().describe('candidates a round, drawn at random from all there are (default: all)'),
    choose: count.optional().describe('how many of them run (default: 3)'),
    exploration: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe('share of these drawn at random, not by forecast (default: 0.1)'),
    seeds: count.optional().describe('seeds a candidate (default: as the environment says)'),
    confirm: z
      .number()
      .int()
      .nonnegative()
      .optional()
      .describe('more seeds before what may be luck is called better (default: as many again; 0: none)'),
    referenceSeeds: count.optional().describe('seeds of the reference (default: as the environment says)'),
    runs: count.optional().describe('stop after this many runs, those of the reference and of --confirm included'),
    hours: z.number().positive().optional().describe('stop after this many hours of runs'),
    cost: z
      .number()
      .positive()
      .optional()
      .describe('stop after this cost, of runs (the environment says what an hour costs) and of the language model'),
    forecaster: z.enum(forecasterChoices).optional().describe('who forecasts (default: as the environment says)'),
    ...languageFlags,
    history: z.enum(historyKinds).optional().describe('the records that forecasts may use (default: pooled)'),
    concurrency: count.optional().describe('runs at once (default: as the environment says)'),
    ...gateFlags,
    seed: z.number().int().optional().describe('of draws and choices (default: 1)'),
    candidates: z.string().optional().describe('a file of candidates, instead of what the environment says'),
  }),
  paysForRuns: true,
  run: (input, context) =>
    inPlace(context, async place => {
      const { opened, environment, ledger } = place
      const {
        candidates,
        seeds,
        referenceSeeds,
        forecaster,
        model: named,
        effort,
        batch,
        repeats,
        tokens,
        ...flags
      } = input
      const chosen = chosenForecaster({ forecaster, model: named, effort, batch, repeats, tokens }, opened.file)
      const source: CandidateSource | undefined =
        candidates === undefined ? opened.file.candidates : { file: pathOfGiven(candidates, context) }
      if (source === undefined) {
        throw new InputError(
          'There are no candidates: name a file with --candidates, or set "candidates" in the environment file.',
        )
      }
      // Before the campaign is stored: to resume it would not help.
      if (candidates !== undefined && 'file' in source) await textOfGiven(source.file)
      const cost = flags.cost ?? opened.file.campaign.cost
      const model = chosen.name === 'language' ? chosen.language : null
      if (cost !== undefined && opened.file.costPerHour === undefined && model?.price === undefined) {
        throw new InputError(
          `--cost is ${cost}, but the environment file has no "costPerHour" to reckon with, and no price of a language model; set one of them.`,
        )
      }
      if (cost !== undefined && model && model.price === undefined) {
        const text = `What ${model.model} costs is not known ("price" of "language" says it), so it does not count in the budget of ${cost}.`
        place.emit({ type: 'note', text })
      }
      const tooSmall = model && tooSmallBudget(model, environment, cost)
      if (tooSmall) throw new InputError(tooSmall)
      const definition = defineCampaign(
        {
          ...flags,
          forecaster: chosen.name,
          language: chosen.language,
          seeds: seeds === undefined ? undefined : [...firstSeeds(seeds, opened.file.seeds)],
          referenceSeeds:
            referenceSeeds === undefined ? undefined : [...firstSeeds(referenceSeeds, opened.file.referenceSeeds)],
        },
        opened.file,
      )
      const latest = await ledger.latestCampaign(environment.familyId)
      const state = latest && campaignState(latest)
      if (state === 'stopped' || state === 'interrupted') {
        place.emit({
          type: 'note',
          text: `Campaign ${latest!.id} was ${state} before its end; "almanac campaign resume ${latest!.id}${context.sameFlags ?? ''}" goes on with it. This is a new one.`,
        })
      }
      const id = await startCampaign(environment, { definition, source }, place)
      const outcome = await campaignOutcome(id, ledger)
      if (outcome.state === 'finished' && outcome.runs === 0) throw new NothingToDo(outcome.why!)
      return outcome
    }),
  json: campaignJson,
  text: campaignText,
})
