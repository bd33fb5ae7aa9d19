/**
 * Which run of a tracker is the reference that the others are changes of. Trackers know whole configurations and no reference, so
 * unless the user or the source names one this is a guess.
 */
import { canonicalJson, type JsonObject } from '../experiment/json.ts'
import { saysBaseline } from './baseline.ts'
import type { TrackedRun } from './tracked-experiment.ts'

/** A run that can be measured against: it finished and has the objective. */
export interface MeasuredRun {
  readonly run: TrackedRun
  /** Without its seed and without nulls. */
  readonly configuration: JsonObject
}

export interface ChosenReference {
  readonly id: string
  /** Why it was taken, as the end of a sentence. */
  readonly why: string
  readonly guessed: boolean
}

/**
 * In this order: the run that the user names, one that the source marks or calls a baseline, the configuration that was measured most
 * often (at least twice), the first that finished. `all` are the runs of the source, for the sentence about a name that is not there.
 */
export function chosenReference(
  measured: readonly MeasuredRun[],
  all: readonly TrackedRun[],
  wanted: string | undefined,
): ChosenReference | null {
  if (wanted !== undefined) return namedReference(measured, all, wanted)
  const marked = measured.find(({ run }) => run.isBaseline)
  if (marked) return { id: marked.run.id, why: 'the source marks it as the one to compare with', guessed: false }
  const called = measured.find(({ run }) => callsItselfBaseline(run))
  if (called) return { id: called.run.id, why: 'its name or a tag says baseline', guessed: true }
  const repeated = mostRepeated(measured)
  if (repeated)
    return { id: repeated.id, why: `its configuration was measured most often, ${repeated.runs} times`, guessed: true }
  const first = measured[0]
  return first ? { id: first.run.id, why: 'it is the first that finished', guessed: true } : null
}

function namedReference(measured: readonly MeasuredRun[], all: readonly TrackedRun[], wanted: string): ChosenReference {
  const isWanted = (run: TrackedRun) => run.id === wanted || run.name === wanted || run.place === wanted
  const found = measured.find(({ run }) => isWanted(run))
  if (found) return { id: found.run.id, why: 'it was named', guessed: false }
  const some = measured.slice(0, 5).map(({ run }) => run.name ?? run.id)
  throw new Error(
    all.some(isWanted)
      ? `the run "${wanted}" cannot be the reference, because it has no measured value; name one that finished, such as ${some.join(', ')}`
      : `there is no run "${wanted}" to be the reference; name one of them, such as ${some.join(', ')}`,
  )
}

function callsItselfBaseline(run: TrackedRun): boolean {
  const words = /(^|[^a-z])(baseline|base_line|status[ _-]?quo|reference|control)([^a-z]|$)/i
  return (
    run.tags.some(tag => /^(baseline|status[ _-]?quo|reference|control)$/i.test(tag.trim())) ||
    (run.name !== null && words.test(run.name)) ||
    saysBaseline({ commit: null, tag: run.name, description: run.text })
  )
}

function mostRepeated(measured: readonly MeasuredRun[]): { id: string; runs: number } | null {
  const byConfiguration = new Map<string, { id: string; runs: number }>()
  for (const { run, configuration } of measured) {
    if (Object.keys(configuration).length === 0) continue
    const key = canonicalJson(configuration)
    const known = byConfiguration.get(key)
    if (known) known.runs++
    else byConfiguration.set(key, { id: run.id, runs: 1 })
  }
  let most: { id: string; runs: number } | null = null
  for (const each of byConfiguration.values()) if (each.runs >= 2 && each.runs > (most?.runs ?? 1)) most = each
  return most
}
