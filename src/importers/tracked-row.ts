/** One run of a tracker as a row: what it changes of the run it is compared with, in what words, and how it ended. */
import { diffConfigurations } from '../experiment/configuration.ts'
import type { Outcome } from '../experiment/intervention.ts'
import type { JsonObject } from '../experiment/json.ts'
import { changesSentence, overridesBetween } from './configurations.ts'
import type { ImportedRole, ImportedRow } from './history.ts'
import type { TrackedRun } from './tracked-experiment.ts'
import { boundedText, givenName, triedIn, triedTags } from './tried.ts'

export interface UsableRun {
  readonly run: TrackedRun
  readonly key: string
  /** Without its seed and without nulls. */
  readonly configuration: JsonObject
  readonly seed: number | null
}

export interface TrackedPlace {
  /** What it is a change of; null for the reference, and for all where nothing finished. */
  readonly base: UsableRun | null
  /** Whether the base is the run that the source says it was made from. */
  readonly isParent: boolean
  /** Whether other runs were made from it. */
  readonly isBuiltUpon: boolean
  readonly reference: UsableRun | null
  /** Whether different commits are different ideas, though the configuration is the same. */
  readonly isCode: boolean
}

export function trackedRow(
  each: UsableRun,
  place: TrackedPlace,
  objective: string,
  source: string,
): ImportedRow | { readonly reason: string } {
  const { run, key, seed, configuration } = each
  const { base, isParent, isBuiltUpon, reference } = place
  const diff = isParent ? run.diff : null
  const isReference = each === reference
  const overrides = base === null ? null : overridesBetween(base.configuration, configuration)
  const changes = overrides !== null && Object.keys(overrides).length > 0 ? overrides : null
  const hasOptions = Object.keys(configuration).length > 0
  const otherCode = place.isCode && run.commit !== base?.run.commit
  const isSame = hasOptions ? changes === null : isSameInWords(run, base?.run)
  const again = base !== null && !isParent && isSame && diff === null && !otherCode
  const role: ImportedRole = isReference || again ? 'reference' : isBuiltUpon ? 'kept' : 'tried'
  const measured = { [objective]: run.metrics[objective] }
  const { sentence, note } = textOf(each, base, measured[objective] ?? null)
  const isPlain = isParent || isBuiltUpon || isReference || again
  const words =
    sentence || (isPlain ? changesSentence(diffConfigurations({}, configuration)) || `the program of ${run.place}` : '')
  if (words === '') return { reason: 'nothing says what was tried: no option that differs, and no text' }
  return {
    key,
    place: run.place,
    seed,
    intervention: {
      sentence: words,
      overrides:
        isReference || again ? (hasOptions ? configuration : null) : hasOptions || base === null ? changes : null,
      diff,
      tags: triedTags(run.tags),
      origin: source,
    },
    outcome: outcomeOf(run),
    role,
    against: base?.key ?? null,
    commit: run.commit,
    code: null,
    note,
  }
}

/** Where there are no options: the same words, and another seed. */
function isSameInWords(run: TrackedRun, base: TrackedRun | undefined): boolean {
  if (base === undefined || run.seed === null || run.seed === base.seed) return false
  return (run.text ?? run.name) !== null && run.text === base.text && run.name === base.name
}

function textOf(
  each: UsableRun,
  base: UsableRun | null,
  value: number | null,
): { sentence: string; note: string | null } {
  const { run, configuration } = each
  const written = triedIn({
    tag: null,
    proposal: null,
    description: run.text === null ? null : boundedText(run.text),
    configuration: null,
    extra: [],
    values: value === null ? [] : [value],
  })
  const sentence =
    written.sentence ||
    (base === null ? '' : changesSentence(diffConfigurations(base.configuration, configuration))) ||
    (run.name === null ? '' : givenName(run.name))
  return { sentence, note: [written.note, boundedText(run.note?.trim() ?? '')].filter(Boolean).join('; ') || null }
}

function outcomeOf(run: TrackedRun): Outcome {
  const counts = run.kind === 'finished' || run.kind === 'violated'
  return {
    kind: run.kind,
    reason: run.kind === 'finished' ? null : (run.reason ?? `the source says "${run.status ?? run.kind}"`),
    metrics: counts ? run.metrics : {},
    exitCode: null,
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    seconds: run.seconds,
    cost: null,
  }
}
