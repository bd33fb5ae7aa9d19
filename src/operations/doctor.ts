/** Looks through a history for what costs runs and fools people: repeated ideas, gains below the noise, references measured once. */
import { z } from 'zod'
import { scores } from '../campaign/choose.ts'
import { gateSavings } from '../campaign/doctor/gate-savings.ts'
import { keptGains } from '../campaign/doctor/kept-gains.ts'
import { repeatedIdeas } from '../campaign/doctor/repeated-ideas.ts'
import { promotedRecords } from '../campaign/promoted-records.ts'
import { objectiveOf } from '../experiment/environment.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { evidenceOf } from '../experiment/records.ts'
import { evaluateRolling, planRolling } from '../forecast/evaluate-rolling.ts'
import { type ForecasterName, forecasterNames, forecasters } from '../forecast/forecaster.ts'
import { rollingDefaults, type Series } from '../forecast/rolling-origin.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { doctorText, type Findings } from '../report/doctor-text.ts'
import { gainLegend } from '../report/gain-legend.ts'
import { singleLine } from '../report/outside-text.ts'
import { environmentFlags, withSeries } from './evaluated-series.ts'
import { forecastProgress } from './forecast-progress.ts'
import { operation } from './operation.ts'
import { shellWord } from './shell-word.ts'

export const doctor = operation({
  name: 'doctor',
  summary: 'what costs runs in a history, and what a gate would have saved',
  example: 'almanac doctor --noise 0.0007',
  positional: [],
  input: z.strictObject({
    ...environmentFlags,
    noise: z
      .number()
      .min(0)
      .optional()
      .describe('standard deviation of the metric between seeds, where nothing was repeated'),
    forecaster: z.enum(forecasterNames).default('stack').describe('who guards the gate'),
    pools: z
      .number()
      .int()
      .positive()
      .default(rollingDefaults.mostPools)
      .describe('at most this many pools of four rows are forecast for the gate'),
  }),
  run: ({ environment, all, noise, forecaster, pools }, context) =>
    withSeries(context, { environment, all }, async ({ evaluated, ledger, familyHere, environmentFlags }) => {
      const diagnoses: Findings[] = []
      const progress = forecastProgress(context)
      for (const series of evaluated) {
        const { family } = series.environment
        diagnoses.push({
          ...(await diagnose(series, ledger, noise ?? null, forecaster, pools, progress)),
          canRun: series.environment.familyId === familyHere,
          environmentFlags:
            evaluated.length === 1 ? environmentFlags : ` --environment ${shellWord(singleLine(family.name))}`,
        })
      }
      return diagnoses
    }),
  json: diagnoses => diagnoses.map(plain),
  text: doctorText,
})

async function diagnose(
  series: Series,
  ledger: Ledger,
  noise: number | null,
  forecaster: ForecasterName,
  mostPools: number,
  said: ReturnType<typeof forecastProgress>,
): Promise<Omit<Findings, 'canRun' | 'environmentFlags'>> {
  const { records, environment } = series
  const current = await ledger.currentVersion(environment.familyId)
  const promoted = await promotedRecords(records, current?.version ?? environment.version, ledger)
  const plan = planRolling([series], [], { ...rollingDefaults, mostPools })
  const entrant = { name: forecaster, forecaster: forecasters[forecaster], history: 'in-environment' as const }
  const { results } = await evaluateRolling([entrant], plan, {
    resamples: 1,
    seed: 1,
    worth: scores,
    progress: ({ name }, done, of) => said(`the gate, by ${name}`, done, of),
  })
  return {
    environment: environment.family.name,
    gains: gainLegend([environment]),
    metric: objectiveOf(environment.family).name,
    records: records.length,
    runs: records.reduce((sum, { runs }) => sum + evidenceOf(runs).length, 0),
    repeated: repeatedIdeas(records),
    kept: keptGains(records, promoted, noise),
    references: await referencesOf(records, ledger),
    gate: gateSavings(results[0]!.judged[0]!.flat(), promoted),
    forecaster,
  }
}

async function referencesOf(records: readonly ExperimentRecord[], ledger: Ledger): Promise<Findings['references']> {
  const versionIds = new Set(records.map(({ environment }) => environment.version.id))
  let unrepeated = 0
  for (const id of versionIds) {
    const finished = evidenceOf(await ledger.runsOf(await ledger.ensureReference(id))).filter(
      ({ outcome }) => outcome?.kind === 'finished',
    )
    if (finished.length < 2) unrepeated++
  }
  return { tried: versionIds.size, unrepeated }
}

/** Records by their numbers and sentences. */
function plain({ repeated, kept, gains, canRun, environmentFlags, ...rest }: Findings) {
  const named = ({ id, intervention }: ExperimentRecord) => ({ record: id, sentence: intervention.sentence })
  return {
    ...rest,
    groups: repeated.groups.map(group => group.map(named)),
    again: repeated.again.map(({ record, after }) => ({
      ...named(record),
      gain: record.measured?.gain ?? null,
      after: {
        ...named(after.record),
        likeness: after.likeness,
        sameReference: after.record.environment.version.id === record.environment.version.id,
      },
    })),
    kept: kept.map(({ record, gain, probabilityBetter }) => ({ ...named(record), gain, probabilityBetter })),
  }
}
