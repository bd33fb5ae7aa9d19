/**
 * What each commit of a line was as an experiment: pure, from what each changed and what was measured at it.
 *
 * Code is measured, not commits: what a commit of results alone measures is the code before it; when a commit brings the
 * code back to what was measured earlier, all that lies between was not kept; and what was not measured is part of the
 * next change that was.
 */

import type { GitMessage } from './git-message.ts'
import type { Measurement } from './git-metric.ts'
import { isPrintedAlike } from './git-value.ts'

/** The most of what a commit changed: code, or else results, or else documents. */
export type Touched = 'code' | 'results' | 'documents' | 'nothing'

export interface LineStep {
  readonly commit: string
  readonly isMerge: boolean
  readonly message: GitMessage
  /** Equal for two steps exactly when their code is. */
  readonly code: string
  readonly touches: Touched
  readonly measurement: Measurement | null
}

export interface LineRow {
  /** Where its result was written down. */
  readonly at: number
  /** The step whose code was measured. */
  readonly code: number
  /** The steps whose changes it has, the oldest first; none for a reference. */
  readonly changes: readonly number[]
  /** The row whose code it was tried on, or, of a reference, whose code is measured again; null for a first one. */
  against: LineRow | null
  readonly isReference: boolean
  readonly measurement: Measurement
  /** The step that took it back. */
  takenBackBy: number | null
}

export interface LeftOut {
  readonly at: number
  readonly reason: string
}

export interface LineRows {
  readonly rows: readonly LineRow[]
  readonly leftOut: readonly LeftOut[]
}

/** What more commits than these changed is not one change: what is measured after them is a reference of its own. */
const mostSteps = 5

const untouched: Readonly<Record<Exclude<Touched, 'code'>, string>> = {
  results: 'touches results and documents only',
  documents: 'touches documents only',
  nothing: 'changes nothing',
}

export function rowsOfLine(steps: readonly LineStep[], metric: string): LineRows {
  const line = new Line(steps, metric)
  for (const at of steps.keys()) line.advance(at)
  return line.ended()
}

class Line {
  readonly #steps: readonly LineStep[]
  readonly #metric: string
  readonly #rows: LineRow[] = []
  readonly #reasons = new Map<number, string>()
  /** The row that first measured each state of the code. */
  readonly #measured = new Map<string, LineRow>()
  /** By the step whose code was measured. The code of one that did not finish is part of the next change too. */
  readonly #rowOf = new Map<number, LineRow>()
  /** Steps that took something back and left the code a little other than before: in a diff, but nothing that was tried. */
  readonly #residues = new Set<number>()
  /** What the code at hand was measured as last, and the steps since that nothing measured. */
  #row: LineRow | null = null
  #pending: readonly number[] = []

  constructor(steps: readonly LineStep[], metric: string) {
    this.#steps = steps
    this.#metric = metric
  }

  advance(at: number): void {
    const { touches, measurement, isMerge } = this.#steps[at]!
    const back = touches === 'code' ? this.#takesBack(at) : 'nothing'
    if (touches === 'code' && back === 'nothing') this.#pending = [...this.#pending, at]
    if (measurement !== null && back !== 'with its result') this.#measure(at, measurement)
    else if (touches !== 'code') this.#leaveOut(at, untouched[touches])
    else this.#leaveOut(at, isMerge ? 'a merge' : `nothing of ${this.#metric} in its files or its message`)
  }

  ended(): LineRows {
    const rowsAt = new Set([...this.#rows.map(row => row.at), ...this.#rowOf.keys()])
    const leftOut = [...this.#reasons]
      .filter(([at]) => !rowsAt.has(at))
      .map(([at, reason]) => ({ at, reason }))
      .sort((a, b) => a.at - b.at)
    return { rows: this.#rows, leftOut }
  }

  /** The first reason stays: later ones say less. */
  #leaveOut(at: number, reason: string, replaces = false): void {
    if (replaces || !this.#reasons.has(at)) this.#reasons.set(at, reason)
  }

  /**
   * What the step takes back, and does so. A result that comes with it is seldom of the code that it leaves: people write a
   * run's result down together with what takes its change back.
   */
  #takesBack(at: number): 'nothing' | 'something' | 'with its result' {
    const step = this.#steps[at]!
    const back = this.#measured.get(step.code)
    if (back !== undefined) {
      const isMeasuredAgain = step.measurement !== null && this.#pending.length === 0 && !step.message.discards
      if (step.measurement !== null && this.#pending.length > 0) this.#measure(at, step.measurement)
      this.#returnTo(back, at, `returns to the code of ${this.#short(back.code)}`)
      return isMeasuredAgain ? 'something' : 'with its result'
    }
    if (this.#row === null) return 'nothing'
    const reverted = this.#revertedBy(at)
    const { discards, reverts } = step.message
    // A revert of something older is a change like others.
    const isOfLast = discards && reverted === null && (reverts === null || reverts.hash === null)
    if (this.#pending.length > 1 && reverted !== null && this.#pending.includes(reverted)) {
      this.#leaveOut(reverted, `taken back by ${this.#short(at)}, and not measured before`, true)
      this.#leaveOut(at, `takes back ${this.#short(reverted)}`)
      this.#pending = this.#pending.filter(each => each !== reverted)
      if (this.#steps[this.#pending.at(-1)!]!.code !== step.code) {
        this.#residues.add(at)
        this.#pending = [...this.#pending, at]
      }
      return 'something'
    }
    if (this.#pending.length > 0) {
      if (!isOfLast && this.#pending[0] !== reverted) return 'nothing'
      if (step.measurement !== null) this.#measure(at, step.measurement)
      const isMeasured = this.#pending.length === 0
      this.#returnTo(
        isMeasured ? (this.#row.against ?? this.#row) : this.#row,
        at,
        'takes back what was tried before it',
      )
    } else {
      const { against, changes, measurement } = this.#row
      const isOfRow = changes.length === 1 && changes[0] === reverted
      if (against === null || !(isOfRow || (isOfLast && measurement.isDiscarded))) return 'nothing'
      this.#returnTo(against, at, `takes back ${this.#short(this.#row.code)}`)
    }
    this.#residues.add(at)
    this.#pending = [at]
    return 'with its result'
  }

  #returnTo(back: LineRow, at: number, reason: string): void {
    for (const each of this.#pending) {
      this.#leaveOut(each, `taken back by ${this.#short(at)}, and not measured before`, true)
    }
    for (let row = this.#row; row !== null && row !== back; row = row.against) row.takenBackBy = at
    for (let row: LineRow | null = back; row !== null; row = row.against) row.takenBackBy = null
    this.#leaveOut(at, reason)
    this.#row = back
    this.#pending = []
  }

  #measure(at: number, measurement: Measurement): void {
    const changes = this.#pending
    const isAgain = this.#row !== null && changes.length === 0
    const isTooMuch = changes.length > mostSteps
    const code = changes.at(-1) ?? at
    const isReference = isAgain || this.#steps[code]!.isMerge || isTooMuch || this.#row === null
    const refused = this.#refusal(at, measurement, isReference, isAgain)
    if (refused !== null) {
      this.#leaveOut(at, refused)
      return
    }
    const tried = changes.filter(each => !this.#residues.has(each))
    const row: LineRow = {
      at,
      code,
      changes: isReference ? [] : tried.length > 0 ? tried : changes,
      against: isReference && !isAgain ? null : this.#row,
      isReference,
      measurement,
      takenBackBy: null,
    }
    this.#rows.push(row)
    if (isAgain) return
    this.#rowOf.set(code, row)
    if (measurement.kind !== 'finished') return
    for (const each of changes) {
      const was = this.#steps[each]!.isMerge ? 'a merge' : 'not measured by itself'
      const part = `part of the ${isReference ? 'reference' : 'change'} that ${this.#short(code)} is`
      if (!this.#residues.has(each)) this.#leaveOut(each, `${was}: ${part}`, true)
    }
    this.#measured.set(this.#steps[code]!.code, row)
    this.#row = row
    this.#pending = []
  }

  #refusal(at: number, measurement: Measurement, isReference: boolean, isAgain: boolean): string | null {
    const { kind, reason, isBaseline, isDiscarded, place, value } = measurement
    const { touches, message } = this.#steps[at]!
    if (kind !== 'finished' && isReference) return `it did not finish (${reason}), and nothing tells what was tried`
    if (isBaseline && this.#row !== null)
      return `its ${this.#metric} is that of a baseline, which was measured elsewhere`
    if (place === 'message' && touches === 'documents') return untouched.documents
    if (!isAgain || this.#row === null) return null
    if (isDiscarded)
      return `its ${this.#metric} is that of a change that was thrown away, and whose code it does not have`
    const last = this.#rows.findLast(row => row === this.#row || (row.isReference && row.against === this.#row))!
    const isSame =
      place === last.measurement.place
        ? value === last.measurement.value
        : isPrintedAlike(value!, last.measurement.value!)
    // Messages speak of earlier results much more often than they bring new ones of the same code.
    const isTalk =
      place === 'message' && !/\bre-?(?:run|measured?|test)|\brepeat|\bagain|\bseed|\bnoise/i.test(message.subject)
    return isSame || isTalk
      ? `says once more what was measured before: its code is that of ${this.#short(last.at)}`
      : null
  }

  /** The step that a revert takes back: by its hash, or the last one of that subject. */
  #revertedBy(at: number): number | null {
    const { reverts } = this.#steps[at]!.message
    if (reverts === null) return null
    for (let index = at - 1; index >= 0; index--) {
      const { commit, message } = this.#steps[index]!
      if (reverts.hash === null ? message.subject === reverts.subject : commit.startsWith(reverts.hash)) return index
    }
    return null
  }

  #short(at: number): string {
    return this.#steps[at]!.commit.slice(0, 7)
  }
}
