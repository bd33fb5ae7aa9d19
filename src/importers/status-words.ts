/**
 * What the status words of experiment logs mean. One table, from the logs people really keep; a word that is not in it is
 * reported with its row, never guessed.
 */
import type { OutcomeKind } from '../experiment/intervention.ts'

export interface StatusMeaning {
  readonly kind: OutcomeKind
  readonly role: 'reference' | 'kept' | 'tried'
}

const meanings: readonly (readonly [StatusMeaning, string])[] = [
  [
    { kind: 'finished', role: 'kept' },
    'keep kept best new_best champion new_champion accept accepted contender promote promoted merge merged improved winner merged_winner keeper',
  ],
  [{ kind: 'finished', role: 'reference' }, 'baseline base reference initial'],
  [
    { kind: 'finished', role: 'tried' },
    'discard discarded revert reverted reject rejected parked park worse neutral no_gain no_improvement closed dead_end drop dropped ' +
      'inconclusive tentative repair support wip info run ran done ok success complete completed finished valid tie same sent_back',
  ],
  [
    { kind: 'crashed', role: 'tried' },
    'crash crashed fail failed failure error oom server_failed benchmark_failed run_failed build_failed compile_error exception',
  ],
  [{ kind: 'diverged', role: 'tried' }, 'nan diverge diverged inf exploded'],
  [{ kind: 'timed-out', role: 'tried' }, 'timeout timed_out time_out'],
  [
    { kind: 'violated', role: 'tried' },
    'invalid size_violation constraint_violated checks_failed violation violated over_budget over_size illegal not_compliant',
  ],
  [{ kind: 'infrastructure', role: 'tried' }, 'infra infrastructure rate_limited infra_failed preempted network'],
  [{ kind: 'cancelled', role: 'tried' }, 'cancelled canceled aborted killed interrupted'],
]

const byWord: ReadonlyMap<string, StatusMeaning> = new Map(
  meanings.flatMap(([meaning, words]) => words.split(' ').map(word => [word, meaning] as const)),
)

/** Words for a row that was never run. */
const pending = new Set([
  'pending',
  'planned',
  'queued',
  'running',
  'todo',
  'skip',
  'skipped',
  'tbd',
  'in_progress',
  'scheduled',
])

function normal(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
    .replace(/[\s-]+/g, '_')
}

/** The meaning of a status cell in any case and with any decoration (`KEEP ✅`, `**kept**`); null when the table does not know it. */
export function meaningOf(status: string): StatusMeaning | null {
  return byWord.get(normal(status)) ?? byWord.get(normal(firstWords(status))) ?? null
}

/** `REJECT (worse on both)`, `sent back: needs seeds`: what stands before a bracket, a colon, a semicolon or a dash. */
function firstWords(status: string): string {
  return status.length > 200 ? '' : /^[^([:;,—–]*?(?=\s*[([:;,—–]|\s-\s|$)/.exec(status)![0]
}

export function isPending(status: string): boolean {
  return pending.has(normal(status))
}
