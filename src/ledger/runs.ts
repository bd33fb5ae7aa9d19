/**
 * Runs and their outcomes. A run is claimed by inserting its key before anything starts; how it ended is a second row,
 * written once. Queued and running are derived: a claimed run without outcome is open.
 */
import { type SqlBool, sql } from 'kysely'
import { isEvidence, type Outcome, type Run } from '../experiment/intervention.ts'
import { amongst } from './amongst.ts'
import { now } from './environments.ts'
import { insertNew } from './many-rows.ts'
import type { Database, Tables } from './tables.ts'
import { inTransaction } from './transaction.ts'
import { isLiveRun } from './withdrawn.ts'

/** A process, told apart from a later one with the same number by when it began (in whatever words the system has). */
export interface Claimant {
  readonly pid: number
  readonly started: string
}

export interface RunKey {
  readonly interventionId: number
  /** The program's seed, or a repeat number where it takes none. */
  readonly seed: number
  /** 0 for the first; higher after attempts that say nothing about the idea. */
  readonly attempt: number
}

export interface RunClaim extends RunKey {
  readonly folder: string
  readonly claimant: Claimant
  readonly campaignId?: number | null
}

/** A run with where it was claimed; folder and claimant are null for imported runs. */
export interface StoredRun extends Run {
  readonly folder: string | null
  readonly claimant: Claimant | null
  readonly campaignId: number | null
  /** ISO 8601, UTC. */
  readonly claimedAt: string
}

/**
 * Claims the key. Null when it is taken, or when an earlier attempt with this seed is still open or is evidence: so a
 * run that counts is never paid for twice, whoever asks.
 */
export async function claimRun(db: Database, claim: RunClaim): Promise<StoredRun | null> {
  return inTransaction(db, async db => {
    const withdrawn = await withdrawnAttempts(db, [claim.interventionId])
    const attempt = Math.max(claim.attempt, withdrawn.get(`${claim.interventionId} ${claim.seed}`) ?? 0)
    const others = await joined(db)
      .where('runs.intervention_id', '=', claim.interventionId)
      .where('runs.seed', '=', claim.seed)
      .execute()
    const taken = others.map(withVersion).some(run => {
      if (run.attempt === attempt) return true
      return run.attempt < attempt && (run.outcome === null || isEvidence(run.outcome.kind))
    })
    if (taken) return null
    const { id } = await db
      .insertInto('runs')
      .values({
        intervention_id: claim.interventionId,
        seed: claim.seed,
        attempt,
        campaign_id: claim.campaignId ?? null,
        folder: claim.folder,
        claimant_pid: claim.claimant.pid,
        claimant_started: claim.claimant.started,
        claimed_at: now(),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    return run(db, id)
  })
}

/** Writes how the run ended. False, and nothing changes, when that was written before. */
export async function writeOutcome(db: Database, runId: number, outcome: Outcome): Promise<boolean> {
  return inTransaction(db, async db => {
    const written = await db
      .insertInto('outcomes')
      .values(outcomeRow(runId, outcome, now()))
      .onConflict(conflict => conflict.doNothing())
      .returning('run_id')
      .executeTakeFirst()
    return written !== undefined
  })
}

/**
 * Stores runs that happened elsewhere, each with its outcome, in one transaction. The ids, null where the key was taken
 * already (that run stays as it is). Withdrawn runs of a seed are attempts that say nothing: the attempts of new ones count on from them.
 */
export async function importRuns(
  db: Database,
  imported: readonly (RunKey & { readonly outcome: Outcome })[],
): Promise<(number | null)[]> {
  return inTransaction(db, async db => {
    const claimedAt = now()
    const withdrawn = await withdrawnAttempts(
      db,
      imported.map(({ interventionId }) => interventionId),
    )
    const attemptOf = ({ interventionId, seed, attempt }: RunKey) =>
      attempt + (withdrawn.get(`${interventionId} ${seed}`) ?? 0)
    const columns = imported.map(({ outcome, ...key }) => ({
      intervention_id: key.interventionId,
      seed: key.seed,
      attempt: attemptOf(key),
      claimed_at: outcome.startedAt ?? claimedAt,
    }))
    const created = await insertNew(db, 'runs', columns, ['id', 'intervention_id', 'seed', 'attempt'])
    const idOf = new Map(created.map(row => [`${row.intervention_id} ${row.seed} ${row.attempt}`, row.id]))
    const outcomes: Tables['outcomes'][] = []
    const ids = imported.map(({ outcome, ...run }) => {
      const key = `${run.interventionId} ${run.seed} ${attemptOf(run)}`
      const id = idOf.get(key) ?? null
      // A key twice in one call: the first has it, as it would in two calls.
      idOf.delete(key)
      if (id !== null) outcomes.push(outcomeRow(id, outcome, claimedAt))
      return id
    })
    await insertNew(db, 'outcomes', outcomes, [])
    return ids
  })
}

/** By intervention and seed: how many attempts the withdrawn runs take up. */
async function withdrawnAttempts(db: Database, interventionIds: readonly number[]): Promise<Map<string, number>> {
  const any = await db.selectFrom('withdrawn_runs').select('run_id').limit(1).executeTakeFirst()
  if (any === undefined) return new Map()
  const rows = await db
    .selectFrom('runs')
    .select(({ fn }) => ['intervention_id', 'seed', fn.max('attempt').as('last')])
    .where('intervention_id', 'in', amongst([...new Set(interventionIds)]))
    .where(sql<SqlBool>`not ${isLiveRun}`)
    .groupBy(['intervention_id', 'seed'])
    .execute()
  return new Map(rows.map(({ intervention_id, seed, last }) => [`${intervention_id} ${seed}`, last + 1]))
}

/** The run with this id, or null. */
export async function run(db: Database, id: number): Promise<StoredRun | null> {
  const row = await joined(db).where('runs.id', '=', id).executeTakeFirst()
  return row ? withVersion(row) : null
}

/** Every run of the intervention, all attempts, in order of claim. */
export async function runsOf(db: Database, interventionId: number): Promise<StoredRun[]> {
  const rows = await joined(db).where('runs.intervention_id', '=', interventionId).orderBy('runs.id').execute()
  return rows.map(withVersion)
}

/** The runs a campaign claimed: what its budget has paid for. */
export async function runsOfCampaign(db: Database, campaignId: number): Promise<StoredRun[]> {
  const rows = await joined(db).where('runs.campaign_id', '=', campaignId).orderBy('runs.id').execute()
  return rows.map(withVersion)
}

/** Claimed runs without outcome, oldest first: running, or left behind by a process that is gone. */
export async function openRuns(db: Database): Promise<StoredRun[]> {
  const rows = await joined(db).where('outcomes.run_id', 'is', null).orderBy('runs.id').execute()
  return rows.map(withVersion)
}

/** Runs with their outcomes, but for those that were withdrawn; the version, which `storedRun` needs too, stands with the intervention. */
export function runRows(db: Database) {
  return db
    .selectFrom('runs')
    .leftJoin('outcomes', 'outcomes.run_id', 'runs.id')
    .where(isLiveRun)
    .select([
      'runs.id',
      'runs.intervention_id',
      'runs.seed',
      'runs.attempt',
      'runs.campaign_id',
      'runs.folder',
      'runs.claimant_pid',
      'runs.claimant_started',
      'runs.claimed_at',
      'outcomes.kind',
      'outcomes.reason',
      'outcomes.metrics',
      'outcomes.exit_code',
      'outcomes.started_at',
      'outcomes.finished_at',
      'outcomes.seconds',
      'outcomes.cost',
    ])
}

function joined(db: Database) {
  return runRows(db)
    .innerJoin('interventions', 'interventions.id', 'runs.intervention_id')
    .select('interventions.version_id')
}

function withVersion(row: RunRow & { readonly version_id: string }): StoredRun {
  return storedRun(row, row.version_id)
}

type RunRow = Awaited<ReturnType<ReturnType<typeof runRows>['execute']>>[number]

export function storedRun(row: RunRow, versionId: string): StoredRun {
  const { kind, metrics, claimant_pid: pid, claimant_started: started } = row
  const outcome: Outcome | null =
    kind === null || metrics === null
      ? null
      : {
          kind,
          reason: row.reason,
          metrics: JSON.parse(metrics) as Record<string, number>,
          exitCode: row.exit_code,
          startedAt: row.started_at,
          finishedAt: row.finished_at,
          seconds: row.seconds,
          cost: row.cost,
        }
  return {
    id: row.id,
    versionId,
    interventionId: row.intervention_id,
    seed: row.seed,
    attempt: row.attempt,
    outcome,
    folder: row.folder,
    claimant: pid === null || started === null ? null : { pid, started },
    campaignId: row.campaign_id,
    claimedAt: row.claimed_at,
  }
}

function outcomeRow(runId: number, outcome: Outcome, writtenAt: string): Tables['outcomes'] {
  return {
    run_id: runId,
    kind: outcome.kind,
    reason: outcome.reason,
    metrics: JSON.stringify(outcome.metrics),
    exit_code: outcome.exitCode,
    started_at: outcome.startedAt,
    finished_at: outcome.finishedAt,
    seconds: outcome.seconds,
    cost: outcome.cost,
    written_at: writtenAt,
  }
}
