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
 * The records of all candidates, in the given order; references are measured against, not listed. `environments` is by
 * version id and must know every version that occurs.
 */
export function buildRecords(
  environments: ReadonlyMap<string, Environment>,
  rows: readonly InterventionWithRuns[],
): ExperimentRecord[] {
  const noiseOf = new Map<string, { readonly reference: readonly number[]; readonly noise: Noise | null }>()
  const measuredRows = rows.map(row => {
    const environment = environments.get(row.versionId)
    if (!environment)
      throw new Error(`buildRecords: intervention ${row.id} is of version ${row.versionId}, which is not given`)
    const evidence = evidenceOf(row.runs)
    return { row, environment, evidence, values: finishedValues(evidence, objectiveOf(environment.family).name) }
  })
  for (const [versionId, group] of Map.groupBy(measuredRows, ({ row }) => row.versionId)) {
    const reference = group.find(({ row }) => row.kind === 'reference')?.values ?? []
    const others = group.filter(({ row }) => row.kind === 'candidate').map(({ values }) => values)
    noiseOf.set(versionId, { reference, noise: pooledNoise(reference, others) })
  }
  return measuredRows
    .filter(({ row }) => row.kind === 'candidate')
    .map(({ row, environment, evidence, values }) => {
      const { reference, noise } = noiseOf.get(row.versionId)!
      const measured = measureGain(values, reference, objectiveOf(environment.family).direction, noise)
      return withLazyChanges({
        id: row.id,
        environment,
        intervention: row.intervention,
        runs: row.runs,
        outcome: outcomeOfRecord(evidence, values.length),
        measured,
        verdict: verdictOf({
          evidence: evidence.length,
          finished: values.length,
          referenceFinished: reference.length,
          measured,
        }),
      })
    })
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
