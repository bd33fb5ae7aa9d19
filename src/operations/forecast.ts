/** Says what a change would bring, before anything is paid for: of the dirty tree, a patch, a branch, options, or sentences. */

import { z } from 'zod'
import { parseCandidates } from '../campaign/candidates.ts'
import { gateRule, type Objection, objectionsFromForecast } from '../campaign/gate.ts'
import { historyKinds, historyOf } from '../campaign/history.ts'
import { resolveIntervention } from '../campaign/resolve-intervention.ts'
import {
  type Candidate,
  type ExperimentRecord,
  type Explanation,
  type Forecast,
  hasFailed,
} from '../experiment/record.ts'
import { forecasterChoices, namedForecaster } from '../forecast/named-forecaster.ts'
import { countText, forecastText, gainText, percentText } from '../report/numbers.ts'
import { bounded, singleLine } from '../report/outside-text.ts'
import { verdictText } from '../report/result-table.ts'
import { renderTable } from '../report/table.ts'
import { pathOfGiven, textOfGiven } from './given-file.ts'
import { chosenForecaster, forecasterSurroundings, languageFlags } from './language-flags.ts'
import { type Context, operation } from './operation.ts'
import { triedBefore } from './pass-gate.ts'
import { type ChangeFlags, changeFlags, proposedIntervention } from './proposal.ts'
import { summariseForecast } from './record-summary.ts'
import { inPlace, type Place } from './surroundings.ts'

/** A candidate with what it is called here: its sentence, or where the change comes from. */
interface Named {
  readonly name: string
  readonly candidate: Candidate
  /** What is the same when run; null for words alone. */
  readonly hash: string | null
  /** The record of this very intervention, where it was run before. */
  readonly known?: ExperimentRecord
}

interface Foreseen extends Named {
  readonly forecast: Forecast
  /** What the gate would say before it is run; nothing of what was run before, whose record says more. */
  readonly objections: readonly Objection[]
}

interface Forecasts {
  readonly forecaster: string
  readonly records: number
  /** Best first. */
  readonly foreseen: readonly Foreseen[]
  readonly dropped: { readonly sentence: string; readonly reason: string }[]
}

export const forecast = operation({
  name: 'forecast',
  summary: 'what a change would bring, before it is run',
  example: 'almanac forecast "halve the batch" "add 5% warm-up"',
  positional: ['sentences'],
  input: z.strictObject({
    sentences: z.array(z.string()).optional().describe('sentences to forecast (default: the dirty tree)'),
    ...changeFlags,
    candidates: z.string().optional().describe('a file of candidates (JSON array or JSON lines)'),
    forecaster: z.enum(forecasterChoices).optional().describe('who forecasts (default: as the environment says)'),
    ...languageFlags,
    history: z.enum(historyKinds).default('pooled').describe('the records that the forecast may use'),
  }),
  run: ({ forecaster, model, effort, batch, repeats, tokens, history, ...what }, context) =>
    inPlace(context, async (place): Promise<Forecasts> => {
      const chosen = chosenForecaster({ forecaster, model, effort, batch, repeats, tokens }, place.opened.file)
      const { candidates: named, dropped } = await candidatesOf(what, place, context)
      const candidates = await withKnown(named, place)
      // A forecast never sees its candidate's own outcome: what was run before is told beside it.
      const known = new Set(candidates.flatMap(({ known }) => known?.id ?? []))
      const records = (await historyOf(history, place.environment, place.ledger)).filter(({ id }) => !known.has(id))
      const forecast = namedForecaster(chosen.name, chosen.language, forecasterSurroundings(place))
      const forecasts = await forecast(
        place.environment,
        records,
        candidates.map(({ candidate }) => candidate),
        { seed: 1 },
      )
      const foreseen: Foreseen[] = []
      const rule = gateRule({}, place.opened.file.gate)
      const tried = await triedBefore(
        candidates.map(({ candidate }) => candidate),
        rule,
        place,
      )
      for (const [index, named] of candidates.entries()) {
        const forecast = forecasts[index]!
        if (hasFailed(forecast)) {
          dropped.push({ sentence: named.name, reason: `it has no forecast, for ${forecast.failed}` })
          continue
        }
        const objections = [...tried[index]!, ...objectionsFromForecast(forecast, rule)]
        foreseen.push({ ...named, forecast, objections: named.known === undefined ? objections : [] })
      }
      return {
        forecaster: chosen.language === null || chosen.name !== 'language' ? chosen.name : chosen.language.model,
        records: records.length,
        foreseen: foreseen.toSorted((a, b) => b.forecast.quantiles[2] - a.forecast.quantiles[2]),
        dropped,
      }
    }),
  json: ({ foreseen, ...rest }) => ({
    ...rest,
    forecasts: foreseen.map(({ name, candidate, forecast, known, objections }) => ({
      sentence: name,
      changes: candidate.changes,
      ...summariseForecast(forecast),
      quantiles: forecast.quantiles,
      recordIds: forecast.recordIds,
      known: known ? { record: known.id, measured: known.measured, verdict: known.verdict } : null,
      gate: objections,
    })),
  }),
  // Nothing that was asked about has a forecast.
  exitCode: ({ foreseen, dropped }) => (foreseen.length === 0 && dropped.length > 0 ? 1 : 0),
  text: ({ foreseen, dropped, forecaster, records }, options) => {
    const table = renderTable(
      [
        { heading: 'candidate', shrinkTo: 16 },
        { heading: 'forecast of the gain (80 %)', align: 'right' },
        { heading: 'to finish', align: 'right' },
      ],
      foreseen.map(({ name, forecast }) => [name, forecastText(forecast.quantiles), percentText(forecast.finishes)]),
      options,
    )
    const lost = dropped.map(({ sentence, reason }) => singleLine(`dropped: ${sentence}: ${reason}`))
    const told = foreseen.flatMap(({ name, known }) =>
      known
        ? [singleLine(`run before: ${name}: ${gainText(known.measured)}, ${verdictText(known)} (record ${known.id})`)]
        : [],
    )
    const objected = foreseen.flatMap(({ name, objections }) =>
      objections.map(({ reason, refuses }) => singleLine(`${refuses ? 'refused' : 'but'}: ${name}: ${reason}`)),
    )
    const explained = foreseen.flatMap(({ name, forecast }) =>
      forecast.explanation ? [singleLine(`${name}: ${explanationText(forecast.explanation)}`)] : [],
    )
    const words = `By ${forecaster}, from ${countText(records, 'record')}.`
    return [
      table,
      ...(explained.length > 0 ? ['', ...explained] : []),
      ...told,
      ...objected,
      ...lost,
      '',
      records === 0 ? `${words} Without records this is only a guess; import or run some.` : words,
    ].join('\n')
  },
})

/** `by analogy with records 12 and 7; uncertain: …`. */
function explanationText({ basis, closest, uncertainty }: Explanation): string {
  const shown = closest.slice(0, 5).join(', ')
  const records = shown === '' ? '' : `, closest ${closest.length === 1 ? 'record' : 'records'} ${shown}`
  return `by ${basis}${records}; uncertain: ${bounded(uncertainty, 300)}`
}

/** The same candidates, with the record of those that were run against the current reference. */
async function withKnown(candidates: readonly Named[], { ledger, environment }: Place): Promise<Named[]> {
  const { id } = environment.version
  const records = new Map((await ledger.recordsOf({ versionIds: [id] })).map(record => [record.id, record]))
  const found: Named[] = []
  for (const named of candidates) {
    const known = named.hash === null ? null : await ledger.interventionByHash(id, named.hash)
    const record = known && records.get(known.id)
    found.push(record && record.outcome !== null ? { ...named, known: record } : named)
  }
  return found
}

type What = ChangeFlags & { readonly sentences?: string[] | undefined; readonly candidates?: string | undefined }

async function candidatesOf(
  { sentences = [], candidates: file, ...flags }: What,
  place: Place,
  context: Context,
): Promise<{ candidates: Named[]; dropped: Forecasts['dropped'] }> {
  const candidates: Named[] = sentences.map(sentence => ({
    name: sentence,
    hash: null,
    candidate: { intervention: { sentence, overrides: null, diff: null, tags: [], origin: null }, changes: [] },
  }))
  const dropped: { sentence: string; reason: string }[] = []
  if (file !== undefined) {
    const read = parseCandidates(await textOfGiven(pathOfGiven(file, context)), file)
    dropped.push(...read.unusable)
    for (const intervention of read.interventions) {
      try {
        const candidate = await resolveIntervention(place.opened, place.environment.version, intervention)
        candidates.push({ name: intervention.sentence, candidate, hash: candidate.hash })
      } catch (error) {
        dropped.push({ sentence: intervention.sentence, reason: (error as Error).message })
      }
    }
  }
  const flagged = Object.values(flags).some(flag => flag !== undefined)
  if (flagged || (sentences.length === 0 && file === undefined)) {
    // No sentence: the name of a file or a branch says nothing of what the change may bring.
    const candidate = await proposedIntervention('', flags, [], place, context)
    candidates.push({ name: nameOf(flags), candidate, hash: candidate.hash })
  }
  return { candidates, dropped }
}

function nameOf({ patch, branch, set }: ChangeFlags): string {
  return patch ?? branch ?? set?.join(', ') ?? 'the working tree'
}
