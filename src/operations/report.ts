/** Writes the report: one HTML file that stands alone. */
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { objectiveOf, type Version } from '../experiment/environment.ts'
import type { Run } from '../experiment/intervention.ts'
import { byOrigin, evidenceOf, finishedValues } from '../experiment/records.ts'
import { writeAtomically } from '../files/atomic.ts'
import { type Ledger, openLedgerToRead } from '../ledger/ledger.ts'
import type { CampaignHistory, LineageStep, ReportData, RunTime } from '../report/report-data.ts'
import { median } from '../statistics/summary.ts'
import { roundHistory } from './campaign-outcome.ts'
import { pathOfGiven } from './given-file.ts'
import { operation } from './operation.ts'
import { forecastsFor } from './records.ts'
import { inLedger, type Place } from './surroundings.ts'

export const report = operation({
  name: 'report',
  summary: 'write one HTML file: gains, forecasts against measurements, lineage, where the time went',
  example: 'almanac report --out report.html',
  positional: [],
  input: z.strictObject({
    out: z.string().optional().describe('the file to write (default: report.html beside the ledger)'),
    environment: z.string().optional().describe('of this environment of the ledger (default: the one of this folder)'),
    title: z.string().optional().describe('its title (default: the name of the environment)'),
  }),
  run: ({ out, environment: name, title }, context) =>
    inLedger(
      context,
      name,
      async place => {
        const path = out === undefined ? join(dirname(place.ledger.path), 'report.html') : pathOfGiven(out, context)
        const data = await gatherReport(place, title ?? place.environment.family.name)
        // Plots take half a second to load; no other operation needs them.
        const { renderReport } = await import('../report/html.ts')
        mkdirSync(dirname(path), { recursive: true })
        writeAtomically(path, renderReport(data))
        return { path, records: data.records.length }
      },
      openLedgerToRead,
    ),
  text: ({ path }) => `Report: ${path}`,
})

async function gatherReport(
  { ledger, environment }: Pick<Place, 'ledger' | 'environment'>,
  title: string,
): Promise<ReportData> {
  const records = await ledger.recordsOf({ familyIds: [environment.familyId] })
  const versions = (await ledger.lineage(environment.version.id)).reverse()
  const lineage: LineageStep[] = []
  const references: RunTime[] = []
  // One after the other: thousands of questions at once would wait for each other in turn.
  for (const version of versions) {
    lineage.push(await lineageStep(version, ledger))
    references.push(...(await referenceTimes(version, ledger)))
  }
  return {
    title,
    generatedAt: new Date().toISOString(),
    environment,
    lineage,
    records,
    forecasts: await forecastsFor(records, ledger),
    campaigns: await campaignHistories(environment.familyId, ledger),
    runs: [...references, ...records.flatMap(record => record.runs.map(run => runTime(run, record.id)))],
  }

  async function lineageStep(version: Version, ledger: Ledger): Promise<LineageStep> {
    const promoted = version.parent && records.find(({ id }) => id === version.parent!.interventionId)
    const name = objectiveOf(environment.family).name
    const runs = await ledger.runsOf(await ledger.ensureReference(version.id))
    const { own, imported } = byOrigin(evidenceOf(runs))
    const values = finishedValues(own.length > 0 ? own : imported, name)
    return {
      version,
      promoted: promoted ? { sentence: promoted.intervention.sentence, gain: promoted.measured } : null,
      objective: values.length === 0 ? null : median(values),
      referenceRuns: values.length,
    }
  }
}

async function referenceTimes(version: Version, ledger: Ledger): Promise<RunTime[]> {
  return (await ledger.runsOf(await ledger.ensureReference(version.id))).map(run => runTime(run, null))
}

function runTime(run: Run, recordId: number | null): RunTime {
  return {
    runId: run.id,
    recordId,
    outcome: run.outcome?.kind ?? null,
    startedAt: run.outcome?.startedAt ?? null,
    finishedAt: run.outcome?.finishedAt ?? null,
    seconds: run.outcome?.seconds ?? null,
    slot: null,
  }
}

async function campaignHistories(familyId: string, ledger: Ledger): Promise<CampaignHistory[]> {
  const histories: CampaignHistory[] = []
  for (const { id } of await ledger.campaigns(familyId)) {
    histories.push({ id, rounds: (await ledger.roundsOf(id)).map(roundHistory) })
  }
  return histories
}
