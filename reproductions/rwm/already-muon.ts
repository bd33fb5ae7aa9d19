/**
 * The paper's case: a recipe that already has Muon, and records of one that has not. In those records Muon helped, so words
 * alone say that it will help again; who sees what the reference has should know better.
 */
import { isJsonObject } from '../../src/experiment/json.ts'
import type { ExperimentRecord, Forecast } from '../../src/experiment/record.ts'
import type { Forecaster } from '../../src/forecast/forecaster.ts'
import { judge } from '../../src/forecast/judge.ts'
import type { EnvironmentRecords } from './environment-records.ts'

export interface MuonCase {
  readonly target: string
  readonly sources: readonly string[]
  /** The records in the source that turned Muon on and nothing else: what was there to be seen. */
  readonly seen: readonly ExperimentRecord[]
  readonly rows: readonly { readonly record: ExperimentRecord; readonly forecasts: readonly Forecast[] }[]
}

/**
 * Forecasts, in the order of the forecasters, for every measured intervention of the recipe with Muon that speaks of Muon, changes
 * something of it or takes it away, pairs left out; near-duplicates guarded. Null unless one recipe has Muon and another has not.
 */
export async function alreadyMuon(
  forecasters: readonly Forecaster[],
  environments: readonly EnvironmentRecords[],
  seed: number,
): Promise<MuonCase | null> {
  const target = environments.find(hasMuon)
  const sources = environments.filter(environment => !hasMuon(environment))
  if (target === undefined || sources.length === 0) return null
  const tested = target.records.filter(record => record.measured !== null && isAboutMuon(record))
  if (tested.length === 0) return null
  const history = sources.flatMap(({ records }) => records)
  const part = { environment: target.environment, history, tested, guarded: true }
  const judged = await Promise.all(forecasters.map(forecaster => judge(forecaster, part, seed)))
  return {
    target: target.name,
    sources: sources.map(({ name }) => name),
    seen: history.filter(
      ({ changes, measured, intervention }) =>
        measured !== null &&
        !isPair(intervention.origin) &&
        changes.some(({ option, to }) => option === 'optimiser' && to === 'muon'),
    ),
    rows: tested.map((record, index) => ({ record, forecasts: judged.map(forecasts => forecasts[index]!.forecast) })),
  }
}

function hasMuon({ environment }: EnvironmentRecords): boolean {
  const { configuration } = environment.version.reference
  return isJsonObject(configuration) && configuration['optimiser'] === 'muon'
}

function isAboutMuon({ intervention, changes }: ExperimentRecord): boolean {
  const words = [intervention.sentence, ...changes.map(({ option }) => option)].join(' ')
  return !isPair(intervention.origin) && /muon/i.test(words)
}

function isPair(origin: string | null): boolean {
  return origin?.includes(' + ') ?? false
}
