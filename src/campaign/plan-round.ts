/**
 * One round before its runs: candidates are gathered, what cannot or need not run is dropped with its reason, the rest
 * passes the gate or not, a few are chosen by their forecasts, and all of it is stored in one piece. A forecast may cost
 * money: it is asked for what passes, and of what the ledger speaks against only for what exploration has drawn.
 */
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Environment } from '../experiment/environment.ts'
import { type Intervention, isEvidence } from '../experiment/intervention.ts'
import { type ExperimentRecord, type Forecast, hasFailed } from '../experiment/record.ts'
import { writeAtomically } from '../files/atomic.ts'
import { type Forecaster, forecasters } from '../forecast/forecaster.ts'
import type { LanguageSettings } from '../forecast/language/settings.ts'
import { namedForecaster } from '../forecast/named-forecaster.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { StoredRound } from '../ledger/rounds.ts'
import { seededRandom } from '../statistics/random.ts'
import { spentOn } from './budget.ts'
import { gatherCandidates } from './candidates.ts'
import { choose } from './choose.ts'
import type { CampaignDefinition } from './definition.ts'
import { ranBeforeReason } from './dropped.ts'
import type { CandidateSource } from './environment-file.ts'
import type { CampaignEvent } from './events.ts'
import { type Objection, objectionsFromForecast, objectionsFromRecords } from './gate.ts'
import { historyOf } from './history.ts'
import { languageSpent } from './language-spent.ts'
import { type NewOption, newOptions } from './new-options.ts'
import type { OpenEnvironment } from './open-environment.ts'
import { type ResolvedIntervention, resolveIntervention } from './resolve-intervention.ts'

export interface Planning {
  readonly opened: OpenEnvironment
  readonly environment: Environment
  readonly ledger: Ledger
  readonly campaignId: number
  readonly definition: CampaignDefinition
  readonly source: CandidateSource
  readonly round: number
  readonly variables: NodeJS.ProcessEnv
  /** Ends the program that prints candidates, and the asking of a language model. */
  readonly stop: AbortSignal
  emit(event: CampaignEvent): void
}

interface Dropped {
  readonly intervention: Intervention
  readonly why: string
}

export async function planRound(planning: Planning): Promise<StoredRound> {
  const { environment, ledger, campaignId, definition, round } = planning
  const random = seededRandom(`${definition.seed}/round/${round}`)
  const history = await historyOf(definition.history, environment, ledger)

  const { interventions, unusable } = await gatherCandidates({
    source: planning.source,
    directory: planning.opened.directory,
    round,
    seed: definition.seed,
    records: writeRecords(planning, history),
    variables: planning.variables,
    pass: planning.opened.file.variables,
    folder: join(campaignFolder(planning), `round-${round}-candidates`),
    stop: planning.stop,
  })
  const dropped: Dropped[] = unusable.map(({ sentence, reason }) => ({ intervention: named(sentence), why: reason }))
  const usable = await dropIdle(interventions, planning, dropped)
  const { pool } = definition
  const drawn = pool === null || usable.length <= pool ? usable : random.sample(usable, pool)

  const forecaster = namedForecaster(definition.forecaster, await languageSettings(planning), {
    ledger: ledger.path,
    variables: planning.variables,
    signal: planning.stop,
    before: await languageSpent(campaignId, ledger),
    tell: text => planning.emit({ type: 'note', text }),
  })
  const ask = (candidates: readonly ResolvedIntervention[]) => forecastsOf(candidates, forecaster, history, planning)

  const tried = await triedBefore(drawn, planning)
  const early = await ask(drawn.filter(({ hash }) => !tried.has(hash)))
  const offered = drawn.flatMap((candidate): Offered[] => {
    const { hash } = candidate
    const forecast = early.made.get(hash)
    if (forecast)
      return [
        { ...candidate, forecast, gated: refusal(objectionsFromForecast(forecast, definition.gate))?.reason ?? null },
      ]
    return tried.has(hash) ? [{ ...candidate, forecast: null, gated: tried.get(hash)!.reason }] : []
  })
  const choices = choose(
    offered.map(({ forecast }) => forecast),
    {
      choose: definition.choose,
      exploration: definition.exploration,
      random,
      gated: new Set([...offered.keys()].filter(index => offered[index]!.gated !== null)),
      finishes: chancesToFinish(offered, tried, history, planning),
    },
  )
  const chosen = offered.map((candidate, index) => ({ ...candidate, ...choices[index]! }))
  // Of what was tried before, only what may now run is worth asking about; without an answer its place stays empty.
  const late = await ask(chosen.filter(({ forecast, choice }) => forecast === null && choice === 'explored'))
  const candidates = chosen
    .filter(({ hash }) => !late.failed.has(hash))
    .map(({ forecast, ...candidate }) => ({
      ...candidate,
      forecast: forecast ?? late.made.get(candidate.hash) ?? null,
    }))
  return ledger.storeRound({
    campaignId,
    round,
    versionId: environment.version.id,
    candidates,
    dropped: [...dropped, ...early.failed.values(), ...late.failed.values()],
  })
}

interface Offered extends ResolvedIntervention {
  /** Null where what was tried before speaks against it: nobody was asked. */
  readonly forecast: Forecast | null
  /** Why the gate holds it back; null where it passes. */
  readonly gated: string | null
}

/** By hash: what speaks against each candidate that tries again what the ledger refuses. */
async function triedBefore(
  candidates: readonly ResolvedIntervention[],
  { environment, ledger, definition }: Planning,
): Promise<ReadonlyMap<string, Objection>> {
  const records = await ledger.recordsOf({ familyIds: [environment.familyId] })
  const found = objectionsFromRecords(candidates, records, environment, definition.gate).map(refusal)
  return new Map(candidates.flatMap(({ hash }, index) => (found[index] === null ? [] : [[hash, found[index]!]])))
}

/** By hash: the forecasts, and what got none, which is written down at once, with what it took. */
async function forecastsOf(
  candidates: readonly ResolvedIntervention[],
  forecaster: Forecaster,
  history: readonly ExperimentRecord[],
  { environment, ledger, campaignId, definition, round }: Planning,
): Promise<{ readonly made: ReadonlyMap<string, Forecast>; readonly failed: ReadonlyMap<string, Dropped> }> {
  const made = new Map<string, Forecast>()
  const failed = new Map<string, Dropped>()
  if (candidates.length === 0) return { made, failed }
  const answers = await forecaster(environment, history, candidates, { seed: definition.seed })
  for (const [index, { hash, intervention }] of candidates.entries()) {
    const forecast = answers[index]!
    if (!hasFailed(forecast)) {
      made.set(hash, forecast)
      continue
    }
    failed.set(hash, { intervention, why: `It has no forecast, for ${forecast.failed}.` })
    const { id } = await ledger.ensureIntervention(environment.version.id, hash, intervention)
    await ledger.storeFailedForecast(id, forecast, { campaignId, round })
  }
  return { made, failed }
}

/** What the gate would only show is for the forecast to weigh. */
function refusal(objections: readonly Objection[]): Objection | null {
  return objections.find(({ refuses }) => refuses) ?? null
}

/** Of one that failed and nothing else (Laplace's rule of succession). */
const afterFailure = 1 / 3

/**
 * What exploration weighs candidates by: by their forecasts; where nobody was asked, by a look that costs nothing, and of what tries
 * again what failed no more than a third.
 */
function chancesToFinish(
  offered: readonly Offered[],
  tried: ReadonlyMap<string, Objection>,
  history: readonly ExperimentRecord[],
  { environment, definition }: Planning,
): number[] {
  const unasked = offered.filter(({ forecast }) => forecast === null)
  // Without exploration nobody asks.
  if (unasked.length === 0 || definition.exploration === 0)
    return offered.map(({ forecast }) => forecast?.finishes ?? 1)
  const looks = forecasters.kernel(environment, history, unasked, { seed: definition.seed })
  const guessed = new Map(unasked.map(({ hash }, index) => [hash, looks[index]!.finishes]))
  return offered.map(({ hash, forecast }) => {
    if (forecast !== null) return forecast.finishes
    const guess = guessed.get(hash)!
    return tried.get(hash)?.failed ? Math.min(guess, afterFailure) : guess
  })
}

/** Keeps what could run and was not run before; adds the rest to `dropped` with the reason. */
async function dropIdle(
  interventions: readonly Intervention[],
  { opened, environment, ledger, emit }: Planning,
  dropped: Dropped[],
): Promise<ResolvedIntervention[]> {
  const addedBy = new Map<string, number>()
  const kept = new Map<string, ResolvedIntervention>()
  for (const intervention of interventions) {
    try {
      const resolved = await resolveIntervention(opened, environment.version, intervention)
      const before = kept.get(resolved.hash)
      if (before) throw new Error(`It is the same as another candidate of this round: ${before.intervention.sentence}`)
      const known = await ledger.interventionByHash(environment.version.id, resolved.hash)
      const runs = known ? await ledger.runsOf(known.id) : []
      if (runs.some(({ outcome }) => outcome === null)) throw new Error(`It is running now (record ${known!.id}).`)
      if (runs.some(({ outcome }) => outcome !== null && isEvidence(outcome.kind))) {
        throw new Error(`${ranBeforeReason} (record ${known!.id}).`)
      }
      const added = newOptions(environment.version.reference.configuration, intervention)
      const wrong = added.find(({ misspelt }) => misspelt)
      if (wrong) throw new Error(misspeltText(wrong))
      for (const { option } of added) addedBy.set(option, (addedBy.get(option) ?? 0) + 1)
      kept.set(resolved.hash, resolved)
    } catch (error) {
      dropped.push({ intervention, why: (error as Error).message })
    }
  }
  for (const [option, count] of addedBy) {
    const text = `The reference configuration has no option "${option}": ${count === 1 ? 'a candidate adds' : `${count} candidates add`} it.`
    emit({ type: 'note', text })
  }
  return [...kept.values()]
}

function misspeltText({ option, meant }: NewOption): string {
  return `It sets what may be misspelt (${option}, and the reference has ${meant}): correct it, or give the reference the option too.`
}

/** The language model may take what is left of the campaign's budget of money, and no more than its own. */
async function languageSettings({
  opened,
  ledger,
  campaignId,
  definition,
}: Planning): Promise<LanguageSettings | null> {
  const { language, cost } = definition
  if (language === null || cost === null || language.price === undefined) return language
  const runs = spentOn(await ledger.runsOfCampaign(campaignId), opened.file.costPerHour)
  const left = Math.max(0, cost - runs.cost)
  return { ...language, budget: { ...language.budget, cost: Math.min(left, language.budget.cost ?? left) } }
}

/** What candidate programs may learn from: a line of JSON a record. Gives the file's path. */
function writeRecords(planning: Planning, history: readonly ExperimentRecord[]): string {
  const path = join(campaignFolder(planning), `records-before-round-${planning.round}.jsonl`)
  mkdirSync(dirname(path), { recursive: true })
  const lines = history.map(({ id, environment, intervention, outcome, measured, verdict }) =>
    JSON.stringify({
      id,
      environment: environment.family.name,
      ...intervention,
      outcome,
      gain: measured?.gain ?? null,
      verdict,
    }),
  )
  writeAtomically(path, lines.map(line => `${line}\n`).join(''))
  return path
}

function campaignFolder({ ledger, campaignId }: Planning): string {
  return join(dirname(ledger.path), 'campaigns', String(campaignId))
}

function named(sentence: string): Intervention {
  return { sentence, overrides: null, diff: null, tags: [], origin: null }
}
