/**
 * Programs of an evolutionary search (ShinkaEvolve, OpenEvolve) as tracked runs: each is a change of the program it was made from. Copies
 * that a search makes for its islands were measured once, and are no repeats.
 */
import type { OutcomeKind } from '../experiment/intervention.ts'
import type { UnusableRow } from './history.ts'
import { type Program, programChange } from './program-tree.ts'
import type { TrackedRun } from './tracked-experiment.ts'
import { unusableRow } from './unusable-row.ts'

export interface EvolvedProgram {
  readonly id: string
  readonly parent: string | null
  readonly copyOf: string | null
  readonly generation: number
  readonly code: string
  readonly language: string
  /** Null where it was not run, with the reason. */
  readonly end: { readonly kind: OutcomeKind; readonly reason: string | null } | null
  /** Why it was not run, where it was not. */
  readonly notRun: string | null
  readonly status: string
  readonly metrics: Readonly<Record<string, number>>
  readonly storedAt: string | null
  readonly seconds: number | null
  readonly text: string | null
  readonly note: string | null
  readonly tags: readonly string[]
}

/** In their order. */
export function evolvedRuns(programs: readonly EvolvedProgram[]): {
  readonly runs: readonly TrackedRun[]
  readonly unusable: readonly UnusableRow[]
} {
  const all = new Map(programs.map(each => [each.id, programOf(each)]))
  const runs: TrackedRun[] = []
  const unusable: UnusableRow[] = []
  for (const each of programs) {
    const place = `program ${each.id.slice(0, 8)}`
    const leaveOut = (reason: string) =>
      unusable.push(unusableRow(place, reason, `${each.id}: ${each.text ?? each.code}`))
    if (each.copyOf !== null) leaveOut(`is a copy of program ${each.copyOf.slice(0, 8)}, not a run of its own`)
    else if (each.end === null) leaveOut(each.notRun ?? 'was not run')
    else {
      const change = programChange(all.get(each.id)!, all, `main.${extensions[each.language] ?? 'txt'}`)
      if (change === null) leaveOut('the program it was made from is not there, so nothing says what was changed')
      else if (change.diff === '') leaveOut('has the same code as the program it was made from')
      else {
        const { parent, diff, text } = change
        const { kind, reason } = each.end
        const { id, status, metrics, seconds, note, tags, storedAt: finishedAt } = each
        const isBaseline = each.parent === null && each.generation === 0
        const empty = { name: null, configuration: {}, seed: null, startedAt: null, commit: null }
        const run = { ...empty, id, place, kind, status, reason, metrics, finishedAt, seconds, text, note, tags }
        runs.push({ ...run, isBaseline, parent, diff })
      }
    }
  }
  return { runs, unusable }
}

function programOf({ id, parent, code, text, end, copyOf }: EvolvedProgram): Program {
  return { id, parent, code, text, works: end?.kind === 'finished', copyOf }
}

const extensions: Readonly<Record<string, string>> = {
  python: 'py',
  cpp: 'cpp',
  'c++': 'cpp',
  c: 'c',
  cuda: 'cu',
  rust: 'rs',
  javascript: 'js',
  typescript: 'ts',
  julia: 'jl',
  go: 'go',
  java: 'java',
  swift: 'swift',
  json: 'json',
  r: 'r',
}
