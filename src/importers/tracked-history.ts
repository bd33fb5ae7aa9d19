/**
 * A tracker's runs with whole configurations as a history: one run is the reference, the others are what they change of it. In a tree of
 * programs each run is a change of its parent instead. Runs that differ by their seed alone are repeats. Pure.
 */
import { canonicalJson, contentHash } from '../experiment/json.ts'
import { withoutNulls, withoutSeed } from './configurations.ts'
import { directionOfName } from './direction.ts'
import type { ImportedHistory, ImportedMetric, ImportedRow, UnusableRow } from './history.ts'
import type { ImportOptions } from './importer.ts'
import { guessedObjective, objectiveGuess } from './objective.ts'
import { withoutPersonalOptions } from './personal.ts'
import { StatusCounts } from './status-counts.ts'
import type { TrackedExperiment, TrackedRun } from './tracked-experiment.ts'
import { chosenReference } from './tracked-reference.ts'
import { type TrackedPlace, trackedRow, type UsableRun } from './tracked-row.ts'
import { runTree } from './tracked-tree.ts'

/** Throws a sentence where there is no such metric, or the reference that was asked for is not there. */
export function trackedHistory(
  experiment: TrackedExperiment,
  source: string,
  options: ImportOptions = {},
): ImportedHistory {
  const { metrics, guess } = metricsOf(experiment, source, options)
  const [objective] = metrics
  const unusable: UnusableRow[] = [...experiment.unusable]
  const usable: UsableRun[] = []
  for (const given of experiment.runs) {
    const run = asItEnded(given, objective.name)
    const value = run.metrics[objective.name]
    if (run.kind === 'finished' && (value === undefined || !Number.isFinite(value))) {
      unusable.push(leftOut(run, `it finished, but has no value of ${objective.name}`))
    } else usable.push(usableRun(run, options))
  }

  const measured = usable.filter(({ run }) => run.kind === 'finished')
  const ids = new Set(usable.map(({ run }) => run.id))
  const roots = measured.filter(({ run }) => run.parent === null || !ids.has(run.parent))
  const named = options.reference !== undefined
  const chosen = chosenReference(named || roots.length === 0 ? measured : roots, experiment.runs, options.reference)
  const reference = measured.find(({ run }) => run.id === chosen?.id) ?? null
  const tree = runTree(usable, reference)
  const isCode = isAboutCode(usable)

  const rows: ImportedRow[] = []
  const statuses = new StatusCounts()
  for (const each of tree.ordered) {
    const parent = each === reference ? null : tree.parentOf(each)
    const place: TrackedPlace = {
      base: each === reference ? null : (parent ?? reference),
      isParent: parent !== null,
      isBuiltUpon: tree.hasChildren(each),
      reference,
      isCode,
    }
    const row = trackedRow(each, place, objective.name, source)
    if ('reason' in row) unusable.push(leftOut(each.run, row.reason))
    else {
      rows.push(row)
      if (each.run.status !== null) statuses.add(each.run.status, row.role, row.outcome.kind)
    }
  }
  return {
    source,
    name: experiment.name,
    description: experiment.description,
    metrics,
    constraints: experiment.constraints,
    rows,
    unusable,
    statuses: statuses.all(),
    guesses: [
      ...guess,
      ...(chosen?.guessed ? [`the reference is ${reference!.run.place}: ${chosen.why}`] : []),
      ...(isCode ? ['equal configurations of different commits are different things that were tried'] : []),
      ...experiment.guesses,
    ],
  }
}

/** Trackers call a run finished whatever it measured. */
function asItEnded(run: TrackedRun, objective: string): TrackedRun {
  const diverged = run.kind === 'finished' && run.notFinite?.includes(objective)
  return diverged ? { ...run, kind: 'diverged', reason: `its ${objective} is not a finite number` } : run
}

function usableRun(run: TrackedRun, { keepPersonal = false }: ImportOptions): UsableRun {
  // Before runs are compared: whoever started a run is no change of it.
  const kept = keepPersonal ? run.configuration : withoutPersonalOptions(run.configuration)
  const { configuration, seed } = withoutSeed(withoutNulls(kept))
  return { run, configuration, seed: run.seed ?? seed, key: keyOf(run) }
}

/**
 * When it began tells a run from one of the same number in another study of the same name. Otherwise its configuration does, which a
 * source may complete later.
 */
function keyOf({ id, startedAt, configuration }: TrackedRun): string {
  return contentHash(startedAt === null ? [id, null, configuration] : [id, startedAt])
}

function leftOut(run: TrackedRun, reason: string): UnusableRow {
  const text = run.text ?? run.name ?? run.id
  return {
    key: keyOf(run),
    place: run.place,
    reason,
    text: text.length > 200 ? `${text.slice(0, 200)}…` : text,
  }
}

/** More commits than configurations: what was tried is in the code, and an equal configuration is no repeat. */
function isAboutCode(usable: readonly UsableRun[]): boolean {
  const commits = new Set(usable.flatMap(({ run }) => run.commit ?? []))
  if (commits.size < 2) return false
  return commits.size > new Set(usable.map(({ configuration }) => canonicalJson(configuration))).size
}

function metricsOf(
  { objective, runs }: TrackedExperiment,
  source: string,
  options: ImportOptions,
): { metrics: [ImportedMetric, ...ImportedMetric[]]; guess: string[] } {
  const counts = new Map<string, number>()
  for (const { metrics } of runs) {
    for (const name of Object.keys(metrics)) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const wanted = options.metric?.name ?? objective?.name
  const name = wanted ?? guessedObjective(counts)
  const known = [...counts.keys()]
  if (name === null || (options.metric !== undefined && !counts.has(name))) {
    const has = known.length === 0 ? 'no run has a metric' : `its metrics are ${some(known)}`
    throw new Error(
      name === null
        ? `${source} has no metric that could be the objective: ${has}`
        : `${source} has no metric "${name}": ${has}`,
    )
  }
  const said = options.metric?.direction ?? (objective?.name === name ? objective.direction : null) ?? null
  const direction = said ?? directionOfName(name)
  const guessed = wanted === undefined || (said === null && direction !== null)
  const why = wanted === undefined ? 'of what most runs have, it looks most like a result' : 'its name says so'
  const first: ImportedMetric = { name, direction, guessed: wanted === undefined || said === null }
  const others = known
    .filter(other => other !== name)
    .map((other): ImportedMetric => ({ name: other, direction: directionOfName(other), guessed: true }))
  return { metrics: [first, ...others], guess: guessed ? [objectiveGuess(name, direction, why)] : [] }
}

function some(names: readonly string[]): string {
  return names.length <= 12 ? names.join(', ') : `${names.slice(0, 12).join(', ')} and ${names.length - 12} more`
}
