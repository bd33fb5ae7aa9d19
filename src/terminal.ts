/**
 * What the command line does with a terminal: a progress line that is overwritten, questions, colour, Ctrl-C. Progress
 * goes to standard error, so that standard output holds the result alone.
 */
import { styleText } from 'node:util'
import type { z } from 'zod'
import type { CampaignEvent } from './campaign/events.ts'
import { type Context, InputError, type Operation, type Question, Stopped } from './operations/operation.ts'
import { shellWord } from './operations/shell-word.ts'
import { truncate } from './report/display-width.ts'
import { gainText } from './report/numbers.ts'
import { inertJson, singleLine } from './report/outside-text.ts'
import { type Progress, progressLine } from './report/progress.ts'
import { roundLines } from './report/round-text.ts'
import type { Styling, TableOptions } from './report/table.ts'

const output = process.stderr

export function tableOptions(): TableOptions {
  const colours: Record<Parameters<Styling>[0], Parameters<typeof styleText>[0]> = {
    heading: 'bold',
    faint: 'dim',
    better: 'green',
    worse: 'red',
    inconclusive: 'yellow',
    failed: 'red',
  }
  return {
    // Some terminals say that they are 0 columns wide.
    width: process.stdout.columns || 100,
    // styleText leaves colour out where the stream is no terminal, or NO_COLOR is set.
    styling: (style, words) => styleText(colours[style], words, { stream: process.stdout }),
  }
}

/** Runs an operation for a person or a script: progress and questions on the terminal, its result on standard output. */
export async function runInTerminal<Schema extends z.ZodObject, Output>(
  it: Operation<Schema, Output>,
  input: z.input<Schema>,
  { directory, ledger, json }: { directory?: string; ledger?: string; json: boolean },
): Promise<void> {
  using progress = terminalProgress({ json })
  const parsed = it.input.parse(input)
  using interrupt = it.paysForRuns
    ? stopOnInterrupt(text => progress.note(text))
    : it.asksModels?.(parsed)
      ? endOnInterrupt()
      : uninterrupted()
  const ask = json ? undefined : terminalQuestion()
  const flags = sameFlags({ directory, ledger })
  const standing = folderOfUser()
  const context: Context = {
    directory: directory ?? standing,
    standing,
    ...(ledger === undefined ? {} : { ledger }),
    sameFlags: flags,
    stop: interrupt.stop,
    cancel: interrupt.cancel,
    variables: process.env,
    emit: event => progress.show(event),
    ...(ask === undefined ? {} : { ask }),
  }
  const output = await it.run(parsed, context)
  progress.clear()
  const text = json
    ? inertJson(JSON.stringify(it.json ? it.json(output) : output, jsonValue, 1))
    : it.text(output, { ...tableOptions(), sameFlags: flags })
  if (text !== '') process.stdout.write(`${text}\n`)
  const code = interrupt.stop.aborted ? 130 : (it.exitCode?.(output) ?? 0)
  // Several may run one after the other: that one was stopped must not be forgotten.
  if (code !== 0) process.exitCode = code
}

function folderOfUser(): string {
  try {
    return process.cwd()
  } catch (cause) {
    throw new InputError('The folder where you stand was removed; go to one that is there.', { cause })
  }
}

/** As they were given, quoted for a shell where need be. */
function sameFlags(given: { directory: string | undefined; ledger: string | undefined }): string {
  return Object.entries(given)
    .flatMap(([flag, value]) => (value === undefined ? [] : [` --${flag} ${shellWord(value)}`]))
    .join('')
}

/** Maps are written as objects: JSON has no other way. */
function jsonValue(_key: string, value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value) : value
}

export interface TerminalProgress extends Disposable {
  show(event: CampaignEvent): void
  note(words: string): void
  clear(): void
}

/** One line that is kept up to date on a terminal; a line per event elsewhere; JSON lines where asked for. */
export function terminalProgress({ json }: { json: boolean }): TerminalProgress {
  const live = output.isTTY === true && !json
  const started = Date.now()
  let progress: Progress | null = null

  const columns = () => output.columns || 100
  const clear = () => {
    if (live) output.write('\r\u001b[2K')
  }
  const draw = () => {
    if (!live || progress === null) return
    progress = { ...progress, elapsedSeconds: (Date.now() - started) / 1000 }
    output.write(`\r\u001b[2K${progressLine(progress, columns() - 1)}`)
  }
  /** Words may quote what came from outside: whatever they hold, they stay one harmless line. */
  const line = (words: string) => {
    if (json) {
      output.write(`${inertJson(JSON.stringify({ type: 'note', text: words }))}\n`)
      return
    }
    clear()
    output.write(`${visibleLine(words)}\n`)
    draw()
  }
  /** A sentence as its line has room for it. */
  const short = (sentence: string) => truncate(sentence, Math.max(40, columns() - 36))
  const timer = live ? setInterval(draw, 500).unref() : null
  const update = (change: Partial<Progress>) => {
    progress = { ...(progress ?? nothingYet), ...change, elapsedSeconds: (Date.now() - started) / 1000 }
  }
  /** Where there is no live line, the line is printed as it stands. */
  const tell = () => {
    if (!live && progress !== null) output.write(`  ${progressLine(progress, 4 * columns())}\n`)
  }

  return {
    show(event) {
      if (json) {
        output.write(`${inertJson(JSON.stringify(event))}\n`)
        return
      }
      const { runsEnded, runsRunning, runsFailed } = progress ?? nothingYet
      switch (event.type) {
        case 'note':
          line(event.text)
          break
        case 'runs-planned':
          update({ round: event.round, rounds: event.rounds, runsBudget: runsEnded + event.runs })
          break
        case 'run-started':
          update({ runsRunning: runsRunning + 1 })
          if (event.adopted) line(`${event.adopted}: ${event.what}, seed ${event.seed}`)
          break
        case 'run-ended': {
          const failed = event.outcome.kind !== 'finished'
          update({
            runsEnded: runsEnded + 1,
            runsRunning: Math.max(0, runsRunning - 1),
            runsFailed: runsFailed + (failed ? 1 : 0),
          })
          if (failed)
            line(`${event.outcome.kind}: ${short(event.what)}, seed ${event.seed}: ${event.outcome.reason ?? ''}`)
          else tell()
          break
        }
        case 'round-chosen':
          for (const each of roundLines(event, columns())) line(each)
          break
        case 'record-measured':
          if (event.best !== null) update({ best: event.best })
          line(
            `  measured ${gainText(event.measured)}, ${event.verdict ?? 'no verdict'}${event.again ? ' so far, to be run again' : ''}: ${short(event.sentence)}`,
          )
          break
      }
      draw()
    },
    note: line,
    clear() {
      clear()
      progress = null
    },
    [Symbol.dispose]() {
      if (timer) clearInterval(timer)
      clear()
    },
  }
}

/** Its indentation is ours; the rest may be anybody's. */
function visibleLine(words: string): string {
  return `${/^ */.exec(words)![0]}${singleLine(words)}`
}

const nothingYet: Progress = {
  round: null,
  rounds: null,
  runsEnded: 0,
  runsBudget: null,
  runsRunning: 0,
  runsFailed: 0,
  elapsedSeconds: 0,
  secondsBudget: null,
  best: null,
}

/** The first Ctrl-C lets running runs finish and starts no more; the second ends them; the third gives up waiting. */
export function stopOnInterrupt(
  note: (words: string) => void,
): { stop: AbortSignal; cancel: AbortSignal } & Disposable {
  const stop = new AbortController()
  const cancel = new AbortController()
  const onSignal = (signal: NodeJS.Signals) => {
    if (!stop.signal.aborted) {
      // Whoever sends SIGTERM will not come back to send a second.
      const ends = signal === 'SIGTERM'
      note(
        ends
          ? 'Stopping: ending the running ones.'
          : 'Stopping: what runs may finish, nothing new starts. Press Ctrl-C again to end the running ones.',
      )
      stop.abort(new Stopped('It was stopped before anything ran.'))
      if (ends) cancel.abort()
    } else if (!cancel.signal.aborted) {
      note('Ending the running ones.')
      cancel.abort()
    } else {
      process.exit(130)
    }
  }
  return { stop: stop.signal, cancel: cancel.signal, ...onInterrupt(onSignal) }
}

function onInterrupt(listener: (signal: NodeJS.Signals) => void): Disposable {
  process.on('SIGINT', listener).on('SIGTERM', listener)
  return {
    [Symbol.dispose]() {
      process.off('SIGINT', listener).off('SIGTERM', listener)
    },
  }
}

/** The first Ctrl-C ends what is waited for, which may say what it took; two seconds later, or the second, the process. */
function endOnInterrupt(): { stop: AbortSignal; cancel: AbortSignal } & Disposable {
  const stop = new AbortController()
  const onSignal = () => {
    if (stop.signal.aborted) process.exit(130)
    setTimeout(() => process.exit(130), 2000).unref()
    stop.abort(new Stopped('It was stopped.'))
  }
  return { stop: stop.signal, cancel: stop.signal, ...onInterrupt(onSignal) }
}

/** Ctrl-C ends the process, as it does without us. */
function uninterrupted(): { stop: AbortSignal; cancel: AbortSignal } & Disposable {
  const never = new AbortController().signal
  return { stop: never, cancel: never, [Symbol.dispose]() {} }
}

/** Asks on the terminal; absent where standard input or output is none. */
export function terminalQuestion(): ((question: Question) => Promise<string | undefined>) | undefined {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return undefined
  return async ({ text: message, suggestion, choices }) => {
    // Few commands ask, and reading it takes time.
    const { isCancel, select, text } = await import('@clack/prompts')
    const answer = choices
      ? await select({ message, options: choices.map(value => ({ value, label: value })) })
      : await text({ message, ...(suggestion === undefined ? {} : { initialValue: suggestion }) })
    return isCancel(answer) ? undefined : String(answer)
  }
}
