/** Pays for the truth about one change: writes it down with its forecast, runs it with its seeds, and says how it went. */
import { z } from 'zod'
import { whyReferenceFailed } from '../campaign/campaign.ts'
import { conclude, referenceValues } from '../campaign/conclude.ts'
import { firstSeeds, seedList } from '../campaign/environment-file.ts'
import { historyKinds, historyOf } from '../campaign/history.ts'
import { settleLeftovers } from '../campaign/leftovers.ts'
import { measure, type Task } from '../campaign/measure.ts'
import { interventionTasks, referenceTasks } from '../campaign/tasks.ts'
import { isEvidence } from '../experiment/intervention.ts'
import type { ExperimentRecord, Forecast } from '../experiment/record.ts'
import { forecasterNames, forecasters } from '../forecast/forecaster.ts'
import { countText, forecastText, gainText, percentText } from '../report/numbers.ts'
import { singleLine } from '../report/outside-text.ts'
import { verdictText } from '../report/result-table.ts'
import { NothingToDo, operation } from './operation.ts'
import { changeFlags, proposedIntervention } from './proposal.ts'
import { summarise } from './record-summary.ts'
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
    tag: z.array(z.string()).optional().describe('mechanism tags'),
    forecaster: z.enum(forecasterNames).optional().describe('who forecasts (default: as the environment says)'),
    history: z.enum(historyKinds).default('pooled').describe('the records that the forecast may use'),
    concurrency: z.number().int().positive().optional().describe('runs at once (default: as the environment says)'),
  }),
  paysForRuns: true,
  run: ({ message, seeds, tag, forecaster, history, concurrency, ...flags }, context) =>
    inPlace(context, async (place): Promise<Measured> => {
      const { opened, ledger, environment, emit } = place
      const { version } = environment
      const resolved = await proposedIntervention(message, flags, tag ?? [], place, context)
      const seedsToRun = seeds === undefined ? seedList(opened.file.seeds) : firstSeeds(seeds, opened.file.seeds)
      await settleLeftovers(ledger, opened.repository)

      const { id } = await ledger.ensureIntervention(version.id, resolved.hash, resolved.intervention)
      const before = await ledger.runsOf(id)
      const done = seedsToRun.filter(seed =>
        before.some(each => each.seed === seed && each.outcome && isEvidence(each.outcome.kind)),
      )
      if (done.length === seedsToRun.length) {
        const { record, forecast } = await measured(id, place)
        throw new NothingToDo(
          `This was run before (record ${id}): ${gainText(record.measured)}, ${verdictText(record)}. --seeds ${done.length + 1} repeats it.${forecast ? ` Its forecast was ${forecastText(forecast.quantiles)}.` : ''}`,
        )
      }
      if (before.length === 0) {
        const name = forecaster ?? opened.file.forecaster
        const known = await historyOf(history, environment, ledger)
        const [forecast] = await forecasters[name](environment, known, [resolved], { seed: 1 })
        await ledger.storeForecast(id, forecast!)
        emit({
          type: 'note',
          text: `Forecast: ${forecastText(forecast!.quantiles)}, ${percentText(forecast!.finishes)} to finish (${name}, from ${countText(forecast!.recordIds.length, 'record')}).`,
        })
      }

      const pay = (tasks: readonly Task[]) =>
        measure(tasks, { ...place, environment: opened, concurrency: concurrency ?? opened.file.concurrency })
      await pay(await referenceTasks(version, seedList(opened.file.referenceSeeds), ledger))
      if ((await referenceValues(version.id, ledger)).length === 0 && !place.stop.aborted) {
        throw new Error(await whyReferenceFailed(version.id, ledger))
      }
      await pay(interventionTasks(version, { id, ...resolved }, seedsToRun, null))
      await conclude(version.id, ledger)
      return measured(id, place)
    }),
  json: ({ record, forecast }) => summarise(record, forecast),
  text: ({ record, forecast, referenceRuns, failedIn }, { styling, sameFlags = '' }) => {
    const { id, measured: gain, verdict, runs, intervention } = record
    const chance = gain?.probabilityBetter
    const lines = [
      styling('heading', `Record ${id}: ${singleLine(intervention.sentence)}`),
      `forecast   ${forecast ? `${forecastText(forecast.quantiles)}, ${percentText(forecast.finishes)} to finish` : 'none'}`,
      `measured   ${gainText(gain)}${chance === null || chance === undefined ? '' : `, P(better) ${percentText(chance)}`}`,
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
    if (verdict === 'better') lines.push(`Make it the reference with: almanac promote ${id}${sameFlags}`)
    return lines.join('\n')
  },
})

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
