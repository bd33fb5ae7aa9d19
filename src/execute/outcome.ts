/**
 * From how a process ended and what it left behind to the outcome of a run, in the experiment's words. Pure.
 */
import type { Outcome, OutcomeKind } from '../experiment/intervention.ts'
import type { Exit } from './exit.ts'
import type { Readings } from './read-metrics.ts'

export interface Evidence {
  readonly exit: Exit | 'lost'
  readonly readings: Readings
  /** Name of the metric that decides: without it the run crashed, and it diverged when that is not finite. */
  readonly objective: string
  /** The sentence of a broken constraint, by someone who knows the reference; null when none is. */
  readonly broken: string | null
  /** The last line of the program's errors, to explain a crash; data, which is cut and cleaned here. */
  readonly lastLine?: string | null
  readonly cost?: number | null
}

/** A program that says it failed has crashed, also when it left a metric. Whatever could be read is kept. */
export function outcomeOf({ exit, readings, objective, broken, lastLine, cost }: Evidence): Outcome {
  const ended = exit === 'lost' ? null : exit
  const began = ended !== null && ended.kind !== 'not-started'
  return {
    ...verdict(exit, readings, objective, broken, lastLine ?? null),
    metrics: finiteOf(readings),
    exitCode: ended?.exitCode ?? null,
    startedAt: began ? ended.startedAt : null,
    finishedAt: began ? ended.finishedAt : null,
    seconds: began ? ended.seconds : null,
    cost: cost ?? null,
  }
}

function verdict(
  exit: Exit | 'lost',
  readings: Readings,
  objective: string,
  broken: string | null,
  lastLine: string | null,
): { readonly kind: OutcomeKind; readonly reason: string | null } {
  if (exit === 'lost')
    return {
      kind: 'infrastructure',
      reason: 'the run ended without a word: its supervising process was ended, or the machine restarted',
    }
  if (exit.kind === 'not-started') return { kind: 'infrastructure', reason: exit.reason }
  if (exit.kind === 'cancelled' || exit.kind === 'timed-out') return { kind: exit.kind, reason: exit.reason }
  if (exit.kind === 'out-of-memory') return { kind: 'crashed', reason: `out of memory: ${exit.reason}` }
  if (exit.exitCode !== 0) return { kind: 'crashed', reason: crashOf(exit, lastLine) }
  const reading = readings[objective] ?? { kind: 'missing', why: 'the environment does not say where to read it' }
  if (reading.kind === 'missing') return { kind: 'crashed', reason: `metric missing: ${objective}: ${reading.why}` }
  if (reading.kind === 'not finite') return { kind: 'diverged', reason: `${objective} is ${reading.text}` }
  return broken === null ? { kind: 'finished', reason: null } : { kind: 'violated', reason: broken }
}

function crashOf({ exitCode, signal }: Exit, lastLine: string | null): string {
  const how =
    signal === null
      ? `exit code ${exitCode}`
      : signal === 'SIGKILL'
        ? 'ended by SIGKILL, which is also what the system does when memory runs out'
        : `ended by ${signal}`
  const memory = lastLine !== null && /out of memory|MemoryError|bad_alloc|Cannot allocate memory/i.test(lastLine)
  const words = lastLine === null ? '' : clean(lastLine)
  return `${memory ? 'out of memory: ' : ''}${how}${words === '' ? '' : `: ${words}`}`
}

/** One printable line of bounded length. */
function clean(line: string): string {
  const words = line.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').trim()
  return words.length > 200 ? `${words.slice(0, 200)}…` : words
}

function finiteOf(readings: Readings): Record<string, number> {
  const numbers = Object.entries(readings).flatMap(([name, reading]) =>
    reading.kind === 'number' ? [[name, reading.value] as const] : [],
  )
  return Object.fromEntries(numbers)
}
