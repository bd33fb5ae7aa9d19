/** Says what a change would bring, before anything is paid for: of the dirty tree, a patch, a branch, options, or sentences. */
import { z } from 'zod'
import { type CloseRecord, closestRecords } from '../campaign/closest-records.ts'
import { gateRule, type Objection, objectionsFromForecast, objectionsFromRecords } from '../campaign/gate.ts'
import { historyKinds, historyOf } from '../campaign/history.ts'
import { promotedRecords } from '../campaign/promoted-records.ts'
import { type Environment, objectiveOf } from '../experiment/environment.ts'
import { type ExperimentRecord, type Forecast, hasFailed } from '../experiment/record.ts'
import { forecasterChoices, namedForecaster } from '../forecast/named-forecaster.ts'
import { type ForecastsToTell, type ForeseenCandidate, forecastsText } from '../report/forecast-text.ts'
import { candidatesOf, type Named, whatNext } from './forecast-candidates.ts'
import { chosenForecaster, forecasterSurroundings, languageFlags } from './language-flags.ts'
import { operation } from './operation.ts'
import { changeFlags } from './proposal.ts'
import { summariseForecast } from './record-summary.ts'
import { inLedger, type KnownPlace } from './surroundings.ts'

interface Foreseen extends Named, ForeseenCandidate {
  readonly forecast: Forecast
  /** The record of this very intervention, where it was run before. */
  readonly known: ExperimentRecord | undefined
  readonly closest: readonly CloseRecord[]
  /** What the gate would say before it is run; nothing of what was run before, whose record says more. */
  readonly gate: readonly Objection[]
}

interface Forecasts extends ForecastsToTell {
  readonly foreseen: readonly Foreseen[]
}

export const forecast = operation({
  name: 'forecast',
  summary: 'what a change would bring, before it is run',
  example: 'almanac forecast "halve the batch" "add 5% warm-up"',
  positional: ['sentences'],
  asksModels: () => true,
  input: z.strictObject({
    sentences: z
      .array(z.string().trim().min(1))
      .optional()
      .describe('sentences to forecast, each a candidate of its own (default: the dirty tree)'),
    ...changeFlags,
    candidates: z.string().optional().describe('a file of candidates (JSON array or JSON lines)'),
    environment: z
      .string()
      .optional()
      .describe('in this environment of the ledger, such as an imported one (default: the one of this folder)'),
    forecaster: z.enum(forecasterChoices).optional().describe('who forecasts (default: as the environment says)'),
    ...languageFlags,
    history: z.enum(historyKinds).default('pooled').describe('the records that the forecast may use'),
  }),
  run: ({ forecaster, model, effort, batch, repeats, tokens, history, environment: name, ...what }, context) =>
    inLedger(context, name, async (place): Promise<Forecasts> => {
      const { environment, ledger, file } = place
      const chosen = chosenForecaster({ forecaster, model, effort, batch, repeats, tokens }, file ?? withoutFile)
      const { candidates, dropped } = await candidatesOf(what, place, context)
      const own = await ledger.recordsOf({ familyIds: [environment.familyId] })
      const known = await Promise.all(candidates.map(candidate => recordOf(candidate, own, place)))
      // A forecast never sees its candidate's own outcome: what was run before is told beside it.
      const hidden = new Set(known.flatMap(record => record?.id ?? []))
      const records = (await historyOf(history, environment, ledger)).filter(({ id }) => !hidden.has(id))
      const forecastAll = namedForecaster(chosen.name, chosen.language, forecasterSurroundings({ ...context, ledger }))
      const asked = candidates.map(({ candidate }) => candidate)
      const forecasts = await forecastAll(environment, records, asked, { seed: 1 })
      const rule = gateRule({}, file?.gate ?? {})
      const tried = objectionsFromRecords(asked, own, environment, rule)
      const closest = closestRecords(asked, own)
      const foreseen: Foreseen[] = []
      for (const [index, named] of candidates.entries()) {
        const forecast = forecasts[index]!
        if (hasFailed(forecast)) {
          dropped.push({ sentence: named.name, reason: `it has no forecast, for ${forecast.failed}` })
          continue
        }
        const before = known[index]
        const low = objectionsFromForecast(forecast, rule)
        const [refusal] = tried[index]!.filter(({ refuses }) => refuses)
        foreseen.push({
          ...named,
          forecast,
          known: before,
          closest: [
            ...(before === undefined ? [] : [{ record: before, closeness: 'same' as const }]),
            ...closest[index]!.filter(({ record }) => record.id !== before?.id),
          ],
          gate: before === undefined ? [...tried[index]!, ...low] : [],
          // What was tried and only speaks against it stands in the lines of the closest records.
          objections: before === undefined ? [...(refusal === undefined ? [] : [refusal]), ...low] : [],
        })
      }
      const best = foreseen.toSorted((a, b) => b.forecast.quantiles[2] - a.forecast.quantiles[2])
      return {
        environment,
        isHere: place.opened !== null,
        forecaster: chosen.language === null || chosen.name !== 'language' ? chosen.name : chosen.language.model,
        records: records.length,
        kept: await promotedRecords(own, environment.version, ledger),
        foreseen: best,
        dropped,
        next: best[0] === undefined ? null : whatNext(what, best[0].name, place, context.sameFlags),
      }
    }),
  json: ({ environment, forecaster, records, kept, foreseen, dropped }) => ({
    environment: environment.family.name,
    metric: metricOf(environment),
    forecaster,
    records,
    dropped,
    forecasts: foreseen.map(({ name, candidate, forecast, known, closest, gate }) => ({
      sentence: name,
      changes: candidate.changes,
      ...summariseForecast(forecast),
      quantiles: forecast.quantiles,
      recordIds: forecast.recordIds,
      known: known ? { record: known.id, measured: known.measured, verdict: known.verdict } : null,
      closest: closest.slice(0, mostClosest).map(({ record, closeness }) => ({
        record: record.id,
        closeness,
        sentence: record.intervention.sentence,
        measured: record.measured,
        verdict: record.verdict,
        kept: kept.has(record.id),
      })),
      gate,
    })),
  }),
  // Nothing that was asked about has a forecast.
  exitCode: ({ foreseen, dropped }) => (foreseen.length === 0 && dropped.length > 0 ? 1 : 0),
  text: forecastsText,
})

const mostClosest = 5

/** What an environment file would say at least. */
const withoutFile = { forecaster: 'stack', language: undefined } as const

function metricOf({ family }: Environment) {
  const { name, direction, unit } = objectiveOf(family)
  return { name, direction, unit: unit ?? null }
}

/** The record of the candidate, where it was run before against the current reference. */
async function recordOf(
  { hash }: Named,
  records: readonly ExperimentRecord[],
  { ledger, environment }: KnownPlace,
): Promise<ExperimentRecord | undefined> {
  const known = hash === null ? null : await ledger.interventionByHash(environment.version.id, hash)
  return records.find(record => record.id === known?.id && record.outcome !== null)
}
