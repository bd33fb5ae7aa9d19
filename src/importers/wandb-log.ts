/**
 * The `.wandb` file of a run: everything that was logged, in order. It is the only source where a run was offline. System measurements,
 * output, files and artifacts are passed over; the environment record, which has user, host, paths and arguments, is opened for its
 * commit alone.
 */
import { statSync } from 'node:fs'
import type { Direction } from '../experiment/environment.ts'
import type { Json } from '../experiment/json.ts'
import { doubleOf, integerOf, type ProtobufField, protobufFields, textOf, zigzagOf } from './protobuf-fields.ts'
import { asJson, parsePythonJson } from './python-json.ts'
import { ValueTree } from './value-tree.ts'
import { wandbRecords } from './wandb-frames.ts'
import { type LoggedMetric, numbersIn, type WandbRun } from './wandb-run.ts'

/** W&B measures the system every few seconds, so a log that rests this long has no writer. */
const restingMinutes = 10

export interface WandbLog {
  readonly run: WandbRun
  readonly damaged: number
}

/** Null where the file ends before it says which run it is of. `now`: milliseconds since 1970. */
export function readWandbLog(path: string, keepPersonal: boolean, now = Date.now()): WandbLog | null {
  const log = new LogReader(keepPersonal)
  const records = wandbRecords(path)
  let damaged = 0
  for (;;) {
    const { value, done } = records.next()
    if (done) {
      damaged += value
      break
    }
    try {
      log.read(value)
    } catch {
      damaged++
    }
  }
  const isWritten = now - statSync(path).mtimeMs < restingMinutes * 60_000
  const run = log.run(isWritten)
  return run && { run, damaged }
}

class LogReader {
  readonly #keepPersonal: boolean
  readonly #history = new Map<string, LoggedMetric>()
  readonly #goals = new Map<string, Direction>()
  readonly #summaries = new Map<string, 'min' | 'max' | 'best'>()
  readonly #personal: string[] = []
  #head: RunHead | null = null
  readonly #config = new ValueTree()
  readonly #summary = new ValueTree()
  #exit: { code: number; runtime: number } | null = null
  #isPreempted = false
  #commit: string | null = null

  constructor(keepPersonal: boolean) {
    this.#keepPersonal = keepPersonal
  }

  read(record: Buffer): void {
    for (const field of protobufFields(record)) {
      if (field.number === 2) this.#readHistory(field.bytes)
      else if (field.number === 3) update(this.#summary, field.bytes)
      else if (field.number === 5) update(this.#config, field.bytes)
      else if (field.number === 12) this.#readMetric(field.bytes)
      else if (field.number === 17) this.#readRun(field.bytes)
      else if (field.number === 18) this.#readExit(field.bytes)
      else if (field.number === 23) this.#isPreempted = true
      else if (field.number === 26) this.#readEnvironment(field.bytes)
    }
  }

  run(isWritten: boolean): WandbRun | null {
    if (this.#head === null) return null
    const { id, project, name, notes, tags, startedAt } = this.#head
    const summary = numbersIn(this.#summary.toJson())
    const runtimes = [summary.get('_runtime'), this.#history.get('_runtime')?.last, this.#exit?.runtime]
    const ended = this.#exit === null ? null : this.#exit.code === 0 ? 'finished' : 'failed'
    return {
      id,
      project,
      name,
      notes,
      tags,
      state: ended ?? (this.#isPreempted ? 'preempted' : isWritten ? 'running' : 'crashed'),
      exitCode: this.#exit?.code ?? null,
      config: this.#config.toJson(),
      summary,
      history: this.#history,
      goals: this.#goals,
      summaries: this.#summaries,
      startedAt,
      // Whole seconds in some places, and in some it stays 0.
      seconds: Math.max(...runtimes.map(runtime => runtime || 0)) || null,
      commit: this.#commit,
      personal: this.#personal.length > 0 ? [...new Set(this.#personal)].join('; ') : null,
    }
  }

  #readHistory(message: Buffer): void {
    for (const field of protobufFields(message)) {
      if (field.number !== 1) continue
      const { path, value } = itemIn(field.bytes)
      if (path.length === 0) continue
      for (const [name, number] of numbersIn(value, path.join('.'))) {
        const before = this.#history.get(name)
        const counts = Number.isFinite(number)
        this.#history.set(name, {
          last: number,
          min: counts ? Math.min(before?.min ?? Infinity, number) : (before?.min ?? null),
          max: counts ? Math.max(before?.max ?? -Infinity, number) : (before?.max ?? null),
        })
      }
    }
  }

  #readMetric(message: Buffer): void {
    let name = ''
    let goal = 0
    let kept: 'min' | 'max' | 'best' | null = null
    for (const field of protobufFields(message)) {
      if (field.number === 1) name = textOf(field)
      else if (field.number === 8) goal = integerOf(field)
      else if (field.number === 7) {
        for (const { number, bits } of protobufFields(field.bytes)) {
          if (bits === 1n) kept = summaryKinds.get(number) ?? kept
        }
      }
    }
    if (name === '' || name.startsWith('_')) return
    if (goal === 1 || goal === 2) this.#goals.set(name, goal === 1 ? 'minimize' : 'maximize')
    if (kept !== null) this.#summaries.set(name, kept)
  }

  /** Written again when something of it changes. */
  #readRun(message: Buffer): void {
    const head: Mutable<RunHead> = { id: '', project: null, name: null, notes: null, tags: [], startedAt: null }
    const tags: string[] = []
    for (const field of protobufFields(message)) {
      if (field.number === 1) head.id = textOf(field)
      else if (field.number === 3) head.project = textOf(field) || null
      else if (field.number === 4) update(this.#config, field.bytes)
      else if (field.number === 5) update(this.#summary, field.bytes)
      else if (field.number === 8) head.name = textOf(field) || null
      else if (field.number === 9) head.notes = textOf(field) || null
      else if (field.number === 10) tags.push(textOf(field))
      else if (field.number === 13 && this.#keepPersonal) this.#personal.push(`host: ${textOf(field)}`)
      else if (field.number === 17) head.startedAt = millisecondsIn(field.bytes)
      else if (field.number === 21) this.#commit = commitIn(field.bytes) ?? this.#commit
    }
    if (head.id !== '') this.#head = { ...head, tags, startedAt: this.#head?.startedAt ?? head.startedAt }
  }

  #readExit(message: Buffer): void {
    this.#exit = { code: 0, runtime: 0 }
    for (const field of protobufFields(message)) {
      if (field.number === 1) this.#exit.code = integerOf(field)
      else if (field.number === 2) this.#exit.runtime = integerOf(field)
    }
  }

  #readEnvironment(message: Buffer): void {
    for (const field of protobufFields(message)) {
      if (field.number === 9) this.#commit = commitIn(field.bytes) ?? this.#commit
      const name = this.#keepPersonal ? personalFields.get(field.number) : undefined
      if (name !== undefined) this.#personal.push(`${name}: ${textOf(field)}`)
    }
  }
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] }

interface RunHead {
  readonly id: string
  readonly project: string | null
  readonly name: string | null
  readonly notes: string | null
  readonly tags: readonly string[]
  readonly startedAt: number | null
}

const summaryKinds: ReadonlyMap<number, 'min' | 'max' | 'best'> = new Map([
  [1, 'min'],
  [2, 'max'],
  [4, 'best'],
])

const personalFields: ReadonlyMap<number, string> = new Map([
  [5, 'argument'],
  [6, 'program'],
  [10, 'e-mail'],
  [12, 'host'],
  [13, 'user'],
])

/** Updates (1) and removals (2), in their order. */
function update(tree: ValueTree, message: Buffer): void {
  for (const field of protobufFields(message)) {
    if (field.number > 2) continue
    const { path, value } = itemIn(field.bytes)
    if (path[0] === '_wandb') continue
    if (field.number === 1) tree.set(path, asJson(value))
    else tree.remove(path)
  }
}

/** No configuration is nested deeper. */
const deepest = 200

/** A key (1) or the steps of a path (2), and a value as JSON (16), or since 2025 by its type (3 to 8). */
function itemIn(message: Buffer): { path: readonly string[]; value: unknown } {
  const keys: string[] = []
  const nested: string[] = []
  let value: unknown = null
  for (const field of protobufFields(message)) {
    if (field.number === 1) keys.push(textOf(field))
    else if (field.number === 2) nested.push(textOf(field))
    else if (field.number === 16 || field.number === 8) value = parsePythonJson(textOf(field))
    else value = typedValue(field) ?? value
  }
  const path = nested.length > 0 ? nested : keys
  if (path.length > deepest) throw new Error(`a path has ${path.length} steps`)
  return { path, value }
}

function typedValue(field: ProtobufField): Json | undefined {
  if (field.number === 4) return field.bits === 1n
  if (field.number === 5) return zigzagOf(field)
  if (field.number === 6) return doubleOf(field)
  return field.number === 7 ? textOf(field) : undefined
}

function millisecondsIn(message: Buffer): number {
  let milliseconds = 0
  for (const field of protobufFields(message)) {
    if (field.number === 1) milliseconds += 1000 * integerOf(field)
    else if (field.number === 2) milliseconds += integerOf(field) / 1e6
  }
  return milliseconds
}

function commitIn(message: Buffer): string | null {
  for (const field of protobufFields(message)) if (field.number === 2) return textOf(field) || null
  return null
}
