/** Pays for the truth about one change: writes it down with its forecast, runs it with its seeds, and says how it went. */
import { z } from 'zod'
import { whyReferenceFailed } from '../campaign/campaign.ts'
import { conclude, referenceValues } from '../campaign/conclude.ts'
import { firstSeeds, seedList } from '../campaign/environment-file.ts'
import { gateFlags, gateRule, objectionsFromForecast } from '../campaign/gate.ts'
import { type HistoryKind, historyKinds, historyOf } from '../campaign/history.ts'
import { settleLeftovers } from '../campaign/leftovers.ts'
import { measure, type Task } from '../campaign/measure.ts'
import type { ResolvedIntervention } from '../campaign/resolve-intervention.ts'
import { dueAgain, freshSeeds } from '../campaign/round-runs.ts'
import { interventionTasks, referenceTasks } from '../campaign/tasks.ts'
import { type Environment, objectiveOf } from '../experiment/environment.ts'
import { isEvidence } from '../experiment/intervention.ts'
import { type ExperimentRecord, type FailedForecast, type Forecast, hasFailed } from '../experiment/record.ts'
import { forecasterChoices, namedForecaster } from '../forecast/named-forecaster.ts'
import { assumedText } from '../report/forecast-text.ts'
import { gainLegend } from '../report/gain-legend.ts'
import { countText, forecastText, gainText, percentText } from '../report/numbers.ts'
import { singleLine } from '../report/outside-text.ts'
import { verdictText } from '../report/result-table.ts'
import { type ChosenForecaster, chosenForecaster, forecasterSurroundings, languageFlags } from './language-flags.ts'
import { NothingToDo, operation } from './operation.ts'
import { passGate, triedBefore } from './pass-gate.ts'
import { changeFlags, proposedIntervention } from './proposal.ts'
import { summarise } from './record-summary.ts'
import { splitList } from './split-list.ts'
import { inPlace, type Place } from './surroundings.ts'

interface Measured {
  readonly record: ExperimentRecord
  readonly forecast: Forecast | undefined
  /** Finished runs of the reference that the gain is against. */
  readonly referenceRuns: number
  /** Of the last run that failed: its logs are there. */
  readonly failedIn: string | null
}

export const run = operation({
  name: 'run',
  summary: 'forecast a change, run it with its seeds, and measure its gain',
  example: 'almanac run -m "halve the batch: twice the steps in the same time"',
  positional: [],
  input: z.strictObject({
    message: z.string().trim().min(1).describe('the sentence that proposes it: what is changed, and why it might help'),
    ...changeFlags,
    seeds: z
      .number()
      .int()
      .positive()
      .optional()
      .describe('how many seeds (default: as the environment says); more than before adds repeats'),
    confirm: z
      .number()
      .int()
      .nonnegative()
      .optional()
      .describe('more seeds before what may be luck is called better (default: as many again, or with --seeds none)'),
    tag: z
      .array(z.string())
      .optional()
      .describe(
        'by what it is meant to work (such as optimiser): one of what forecasts compare; --tag of records finds them',
      ),
    forecaster: z.enum(forecasterChoices).optional().describe('who forecasts (default: as the environment says)'),
    ...languageFlags,
    history: z.enum(historyKinds).default('pooled').describe('the records that the forecast may use'),
    concurrency: z.number().int().positive().optional().describe('runs at once (default: as the environment says)'),
    ...gateFlags,
    anyway: z.boolean().optional().describe('also what the gate refuses'),
  }),
  paysForRuns: true,
  run: (
    { message, seeds, confirm, tag, forecaster, history, concurrency, belowGain, chance, anyway, ...other },
    context,
  ) =>
    inPlace(context, async (place): Promise<Measured> => {
      const { model, effort, batch, repeats, tokens, ...flags } = other
      const { opened, ledger, environment, emit } = place
      const { version } = environment
      const chosen = chosenForecaster({ forecaster, model, effort, batch, repeats, tokens }, opened.file)
      const misspelt = anyway ? 'tell' : 'refuse'
      const resolved = await proposedIntervention(
        message,
        flags,
        (tag ?? []).flatMap(splitList),
        place,
        context,
        misspelt,
      )
      const seedsToRun = seeds === undefined ? seedList(opened.file.seeds) : firstSeeds(seeds, opened.file.seeds)
      await settleLeftovers(ledger, opened.repository)

      const known = await ledger.interventionByHash(version.id, resolved.hash)
      const before = known === null ? [] : await ledger.runsOf(known.id)
      const done = seedsToRun.filter(seed =>
        before.some(each => each.seed === seed && each.outcome && isEvidence(each.outcome.kind)),
      )
      if (done.length === seedsToRun.length) {
        const { record, forecast } = await measured(known!.id, place)
        throw new NothingToDo(
          `This was run before (record ${record.id}): ${gainText(record.measured)}, ${verdictText(record)}. --seeds ${done.length + 1} repeats it.${forecast ? ` Its forecast was ${forecastText(forecast.quantiles)}.` : ''}`,
        )
      }
      // More seeds of what was run are a deliberate repeat: nothing is asked.
      const rule = gateRule({ belowGain, chance }, opened.file.gate)
      if (before.length === 0) passGate((await triedBefore([resolved], rule, place))[0]!, anyway, emit)
      const forecast = before.length > 0 ? null : await foreseen(resolved, chosen, history, place)
      if (forecast !== null && hasFailed(forecast)) {
        const { id } = await ledger.ensureIntervention(version.id, resolved.hash, resolved.intervention)
        await ledger.storeFailedForecast(id, forecast)
        passGate([{ reason: `There is no forecast, for ${forecast.failed}`, refuses: true }], anyway, emit)
      } else if (forecast !== null) {
        emit({
          type: 'note',
          text: forecastNote(forecast, environment),
        })
        passGate(objectionsFromForecast(forecast, rule), anyway, emit)
      }
      const { id } = await ledger.ensureIntervention(version.id, resolved.hash, resolved.intervention)
      if (forecast !== null && !hasFailed(forecast)) await ledger.storeForecast(id, forecast)

      const pay = (tasks: readonly Task[]) =>
        measure(tasks, { ...place, environment: opened, concurrency: concurrency ?? opened.file.concurrency })
      await pay(await referenceTasks(version, seedList(opened.file.referenceSeeds), ledger))
      if ((await referenceValues(version.id, ledger)).length === 0 && !place.stop.aborted) {
        throw new Error(await whyReferenceFailed(version.id, ledger))
      }
      await pay(interventionTasks(version, { id, ...resolved }, seedsToRun, null))
      // Who says how many seeds has said it.
      const more = confirm ?? (seeds === undefined ? (opened.file.campaign.confirm ?? seedsToRun.length) : 0)
      if ((await dueAgain(version.id, { seeds: seedsToRun.length, more }, ledger)).has(id)) {
        emit({ type: 'note', text: `It looks better, and may be luck: ${countText(more, 'more seed')} (--confirm).` })
        await pay(interventionTasks(version, { id, ...resolved }, freshSeeds(seedsToRun, more), null))
      }
      await conclude(version.id, ledger)
      return measured(id, place)
    }),
  json: ({ record, forecast }) => summarise(record, forecast),
  exitCode: ({ record }) => (record.verdict === 'failed' ? 4 : 0),
  text: ({ record, forecast, referenceRuns, failedIn }, { styling, sameFlags = '' }) => {
    const { id, measured: gain, verdict, runs, intervention } = record
    const chance = gain?.probabilityBetter
    const lines = [
      styling('heading', `Record ${id}: ${singleLine(intervention.sentence)}`),
      `forecast   ${forecast ? `${forecastText(forecast.quantiles)}, ${percentText(forecast.finishes)} to finish` : 'none'}`,
      `measured   ${gainText(gain)}${chance === null || chance === undefined ? '' : `, P(better) ${percentText(chance)}`}`,
      ...(gain === null ? [] : [`           ${gainLegend([record.environment])}`]),
      `verdict    ${verdict === null ? 'none yet' : styling(verdict, verdictText(record))}`,
    ]
    for (const { seed, outcome, attempt } of runs) {
      if (outcome !== null && outcome.kind !== 'finished') {
        lines.push(
          `seed ${seed}${attempt > 0 ? `, attempt ${attempt + 1}` : ''}: ${outcome.kind}: ${singleLine(outcome.reason ?? '')}`,
        )
      }
    }
    if (failedIn) lines.push(`its output is in ${singleLine(failedIn)}`)
    if (gain !== null && referenceRuns === 1) {
      lines.push(
        'The reference was measured once, and without repeats of it there is no verdict: raise "referenceSeeds".',
      )
    }
    if (verdict === 'inconclusive' && referenceRuns > 1)
      lines.push(`More seeds may tell: the same command with --seeds ${2 * runs.length}`)
    if (verdict === 'better') lines.push(`Make it the reference with: almanac promote ${id}${sameFlags}`)
    return lines.join('\n')
  },
})

function forecastNote(
  { quantiles, finishes, forecaster, model, recordIds }: Forecast,
  environment: Environment,
): string {
  const { name } = objectiveOf(environment.family)
  const from = `${model?.name ?? forecaster}, from ${countText(recordIds.length, 'record')}`
  const assumed = recordIds.length === 0 ? ` ${assumedText}` : ''
  return `Forecast: a gain of ${forecastText(quantiles)} in ${name}, ${percentText(finishes)} to finish (${from}).${assumed}`
}

async function foreseen(
  candidate: ResolvedIntervention,
  { name, language }: ChosenForecaster,
  history: HistoryKind,
  place: Place,
): Promise<Forecast | FailedForecast> {
  const { environment, ledger } = place
  const forecaster = namedForecaster(name, language, forecasterSurroundings(place))
  const known = await historyOf(history, environment, ledger)
  const [forecast] = await forecaster(environment, known, [candidate], { seed: 1 })
  return forecast!
}

async function measured(id: number, { ledger, environment }: Place): Promise<Measured> {
  const records = await ledger.recordsOf({ versionIds: [environment.version.id], withoutRuns: true })
  const [forecast] = await ledger.forecastsOf(id)
  const { length } = await referenceValues(environment.version.id, ledger)
  const failed = (await ledger.runsOf(id)).findLast(({ outcome }) => outcome !== null && outcome.kind !== 'finished')
  return {
    record: records.find(record => record.id === id)!,
    forecast,
    referenceRuns: length,
    failedIn: failed?.folder ?? null,
  }
}
