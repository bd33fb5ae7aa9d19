/**
 * Messages that say by how much a change moved the metric (`-0.3 %`, `-0.8s`), and never what the metric is. The changes are
 * added up along the line, from a start that is chosen: gains are then what the messages say, the values themselves are not.
 */
import { directionOfName } from './direction.ts'
import type { LineRow } from './git-line.ts'
import type { GitMessage } from './git-message.ts'
import type { GitMetric, Measurement } from './git-metric.ts'
import type { Span } from './git-sentence.ts'
import type { ImportOptions } from './importer.ts'

export interface RelativeMetric {
  readonly metric: GitMetric
  readonly unit: string
  /** By step: what its message says, and the start, which is the step before the first of them. */
  readonly measurements: readonly (Measurement | null)[]
  readonly start: number
}

const units: Readonly<Record<string, string>> = {
  '%': '%',
  ms: 'ms',
  s: 'seconds',
  sec: 'seconds',
  secs: 'seconds',
  second: 'seconds',
  seconds: 'seconds',
  bpb: 'bpb',
}
const stated =
  /(?:(?<![\w@/])([A-Za-z_][\w@/]{0,60})\s{0,9}[:=]?\s{0,9})?(?<![\w.])([-+−])\s?(\d+(?:\.\d+)?)\s?(%|ms|s|secs?|seconds?|bpb)(?![\w/])/giu

/** Less than this share of the commits that change code is talk. */
const leastShare = 0.1

/** Null where the subjects of the messages say too little of the kind. `changes`: how many of the commits change code. */
export function relativeMetric(
  messages: readonly GitMessage[],
  changes: number,
  asked: ImportOptions['metric'],
): RelativeMetric | null {
  const found = messages.map(({ subject }) => amountsIn(subject))
  const counts = new Map<string, number>()
  for (const amounts of found)
    for (const unit of new Set(amounts.map(({ unit }) => unit))) counts.set(unit, (counts.get(unit) ?? 0) + 1)
  const [unit, count] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? ['', 0]
  if (count < (asked === undefined ? Math.max(2, leastShare * changes) : 2)) return null
  const ofUnit = found.map(amounts => amounts.find(amount => amount.unit === unit) ?? null)
  const names = ofUnit.flatMap(amount => amount?.name ?? [])
  const name = asked?.name ?? (names.length > count / 2 ? names[0]! : unit === '%' ? 'percent of the start' : unit)
  const start = unit === '%' ? 100 : 0
  const first = ofUnit.findIndex(amount => amount !== null)
  return {
    metric: {
      name,
      direction: asked?.direction ?? directionOfName(name),
      spellings: new Set(),
      places: new Map([['message', count]]),
      files: new Set(),
    },
    unit,
    start,
    measurements: ofUnit.map((amount, at) => {
      if (amount !== null) return measurementOf(amount.value)
      return at === first - 1 ? measurementOf(start) : null
    }),
  }
}

/** What each row's metric is when the stated changes are added up; percentages are of what they change. */
export function addedUp(rows: readonly LineRow[], { unit, start }: RelativeMetric): Map<LineRow, number> {
  const values = new Map<LineRow, number>()
  let before: number | null = null
  for (const row of rows) {
    const base: number | null = row.against === null ? before : values.get(row.against)!
    const amount = row.measurement.value ?? 0
    const value: number = base === null ? start : unit === '%' ? base * (1 + amount / 100) : base + amount
    values.set(row, value)
    if (row.takenBackBy === null) before = value
  }
  return values
}

/** Where a text states changes in the metric's unit. */
export function changesIn(text: string, unit: string): Span[] {
  return [...text.matchAll(stated)]
    .filter(match => units[match[4]!.toLowerCase()] === unit)
    .map(match => ({ start: match.index + match[0].search(/[-+−]/), end: match.index + match[0].length }))
}

interface Amount {
  readonly name: string | null
  readonly value: number
  readonly unit: string
}

function amountsIn(subject: string): Amount[] {
  return [...subject.matchAll(stated)].map(([, name, sign, digits, unit]) => ({
    name: name !== undefined && directionOfName(name) !== null ? name : null,
    value: (sign === '+' ? 1 : -1) * Number(digits),
    unit: units[unit!.toLowerCase()]!,
  }))
}

function measurementOf(value: number): Measurement {
  const ended = { reason: null, metrics: {}, status: null, isBaseline: false, isDiscarded: false }
  return { kind: 'finished', value, place: 'message', ...ended }
}
