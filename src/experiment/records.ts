/**
 * The view from rows to records: which runs count, what the gain is, and the verdict. Pure, and linear in the number of
 * runs.
 */
import { changedOptions } from './diff-options.ts'
import { type Environment, objectiveOf } from './environment.ts'
import { measureGain, type Noise, pooledNoise, verdictOf } from './gain.ts'
import { type ChangedOption, type Intervention, isEvidence, type OutcomeKind, type Run } from './intervention.ts'
import type { ExperimentRecord } from './record.ts'

export interface InterventionWithRuns {
  readonly id: number
  readonly versionId: string
  readonly kind: 'reference' | 'candidate'
  readonly intervention: Intervention
  /** All attempts, in order. */
  readonly runs: readonly Run[]
}

/** The runs that count: per seed the latest attempt that is evidence, by seed. */
export function evidenceOf(runs: readonly Run[]): Run[] {
  const bySeed = new Map<number, Run>()
  for (const run of runs) {
    if (run.outcome === null || !isEvidence(run.outcome.kind)) continue
    const other = bySeed.get(run.seed)
    if (!other || run.attempt > other.attempt) bySeed.set(run.seed, run)
  }
  return [...bySeed.values()].sort((a, b) => a.seed - b.seed)
}

/** Values of the metric over the finished runs among those that count. */
export function finishedValues(evidence: readonly Run[], metric: string): number[] {
  return evidence.flatMap(({ outcome }) => {
    const value = outcome?.kind === 'finished' ? outcome.metrics[metric] : undefined
    return value === undefined ? [] : [value]
  })
}

/**
 * Runs of our own, and runs that a log brought (their seeds are below zero, see `imported-seed.ts`). They may be of
 * other machines and other times, so each kind is compared with its own.
 */
export function byOrigin(evidence: readonly Run[]): { readonly own: Run[]; readonly imported: Run[] } {
  return { own: evidence.filter(({ seed }) => seed >= 0), imported: evidence.filter(({ seed }) => seed < 0) }
}

/** The objective over the record's finished runs of our own. */
export function ownValues({ runs, environment }: Pick<ExperimentRecord, 'runs' | 'environment'>): number[] {
  return finishedValues(byOrigin(evidenceOf(runs)).own, objectiveOf(environment.family).name)
}

/**
 * The records of all candidates, in the given order; references are measured against, not listed. `environments` is by
 * version id and must know every version that occurs. A record with runs of our own is measured by these against the
 * reference's own, once there is one; what a log says, against what the log says.
 */
export function buildRecords(
  environments: ReadonlyMap<string, Environment>,
  rows: readonly InterventionWithRuns[],
): ExperimentRecord[] {
  const measuredRows = rows.map(row => {
    const environment = environments.get(row.versionId)
    if (!environment)
      throw new Error(`buildRecords: intervention ${row.id} is of version ${row.versionId}, which is not given`)
    const metric = objectiveOf(environment.family).name
    const evidence = evidenceOf(row.runs)
    const { own, imported } = byOrigin(evidence)
    const values = { own: finishedValues(own, metric), imported: finishedValues(imported, metric) }
    return { row, environment, evidence, values }
  })
  const bases = new Map(
    [...Map.groupBy(measuredRows, ({ row }) => row.versionId)].map(([versionId, group]) => {
      const reference = group.find(({ row }) => row.kind === 'reference')?.values
      const others = group.filter(({ row }) => row.kind === 'candidate').map(({ values }) => values)
      const basis = (origin: Origin) =>
        baseOf(
          reference?.[origin] ?? [],
          others.map(values => values[origin]),
        )
      return [versionId, { own: basis('own'), imported: basis('imported') }] as const
    }),
  )
  return measuredRows
    .filter(({ row }) => row.kind === 'candidate')
    .map(({ row, environment, evidence, values }) => {
      const of = bases.get(row.versionId)!
      const origin = originOf(values, of)
      const { reference, noise } = of[origin]
      const measured = measureGain(values[origin], reference, objectiveOf(environment.family).direction, noise)
      const finished = values.own.length + values.imported.length
      return withLazyChanges({
        id: row.id,
        environment,
        intervention: row.intervention,
        runs: row.runs,
        outcome: outcomeOfRecord(evidence, finished),
        measured,
        verdict: verdictOf({
          evidence: evidence.length,
          finished,
          referenceFinished: reference.length,
          measured,
        }),
      })
    })
}

type Origin = 'own' | 'imported'

interface Base {
  readonly reference: readonly number[]
  readonly noise: Noise | null
}

function baseOf(reference: readonly number[], others: readonly (readonly number[])[]): Base {
  return { reference, noise: pooledNoise(reference, others) }
}

/** Runs of our own count before a log's, where both the record and its reference have them. */
function originOf(values: Readonly<Record<Origin, readonly number[]>>, bases: Readonly<Record<Origin, Base>>): Origin {
  const comparable = (origin: Origin) => values[origin].length > 0 && bases[origin].reference.length > 0
  if (comparable('own')) return 'own'
  return comparable('imported') || values.own.length === 0 ? 'imported' : 'own'
}

/** `finished` when at least one seed did; otherwise the commonest failure, the earliest seed's among equals. */
function outcomeOfRecord(evidence: readonly Run[], finished: number): OutcomeKind | null {
  if (finished > 0) return 'finished'
  const counts = new Map<OutcomeKind, number>()
  for (const { outcome } of evidence) counts.set(outcome!.kind, (counts.get(outcome!.kind) ?? 0) + 1)
  let commonest: OutcomeKind | null = null
  for (const [kind, count] of counts) if (commonest === null || count > counts.get(commonest)!) commonest = kind
  return commonest
}

/** Reading a hundred thousand diffs takes longer than listing their runs, so it waits until somebody asks. */
function withLazyChanges(record: Omit<ExperimentRecord, 'changes'>): ExperimentRecord {
  let changes: readonly ChangedOption[] | undefined
  return {
    ...record,
    get changes() {
      changes ??= changedOptions(record.environment.version.reference, record.intervention)
      return changes
    },
  }
}
