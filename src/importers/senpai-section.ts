/** One section of a senpai log: its heading taken apart, and its table of metrics as runs beside a baseline. */
import { numberIn } from './value.ts'

export interface SenpaiSection {
  readonly line: number
  readonly heading: string
  readonly hypothesis: string | null
  readonly verdict: string | null
  /** For each metric its cells, by the name of the column: `Baseline (#2213)`, `Seed 42 (k4xt)`, `2-seed avg`. */
  readonly metrics: ReadonlyMap<string, ReadonlyMap<string, string>>
}

interface SeedRun {
  readonly label: string
  readonly place: string
  readonly seed: number | null
  readonly metrics: Readonly<Record<string, number>>
}

export interface MeasuredSection {
  readonly line: number
  readonly pull: string
  readonly title: string
  /** What the heading says behind the title: who, and how it ended. */
  readonly remark: string
  readonly hypothesis: string | null
  readonly verdict: string | null
  readonly objective: string
  readonly baseline: { readonly label: string; readonly metrics: Readonly<Record<string, number>> } | null
  /** Of each seed; of the mean, where the seeds are not told apart. */
  readonly runs: readonly SeedRun[]
}

export function measuredSection(
  section: SenpaiSection,
  objective: string,
): MeasuredSection | { readonly reason: string } {
  const { line, heading, hypothesis, verdict, metrics } = section
  if (metrics.size === 0) return { reason: 'the section has no table of metrics' }
  const cells = metrics.get(objective)
  if (cells === undefined) return { reason: `the section has no ${objective}` }
  const { pull, title, remark } = headingParts(heading)
  if (title === '' && hypothesis === null) return { reason: 'nothing says what was tried: no title, and no hypothesis' }
  const columns = [...cells.keys()]
  const place = `line ${line}`
  const run = (label: string, seed: number | null): SeedRun[] => {
    const values = valuesOf(metrics, label)
    if (values[objective] === undefined) return []
    return [{ label, place: seed === null ? place : `${place}, seed ${seed}`, seed, metrics: values }]
  }
  const seeds = columns.flatMap(label => {
    const seed = /\bseed\s*#?(\d+)/i.exec(label)
    return seed && !/avg|mean/i.test(label) ? run(label, Number(seed[1])) : []
  })
  const isResult = (label: string) => !/baseline|control|Δ|delta|change|diff|target|std|±/i.test(label)
  const means = columns.filter(label => /avg|mean/i.test(label) && isResult(label))
  const others = columns.filter(isResult)
  const runs = seeds.length > 0 ? seeds : [...means, ...others].flatMap(label => run(label, null)).slice(0, 1)
  if (runs.length === 0) return { reason: `the table has no value of ${objective} beside the baseline` }
  const label = columns.find(each => isBaseline(each) && valuesOf(metrics, each)[objective] !== undefined)
  const baseline = label === undefined ? null : { label, metrics: valuesOf(metrics, label) }
  return { line, pull, title, remark, hypothesis, verdict, objective, baseline, runs }
}

/** A column of baseline values, not of differences from them (`Δ vs baseline`). */
function isBaseline(label: string): boolean {
  return /baseline|control/i.test(label) && !/\bvs\b|Δ|delta|diff|change|%/i.test(label)
}

function valuesOf(metrics: SenpaiSection['metrics'], label: string): Record<string, number> {
  return Object.fromEntries(
    [...metrics].flatMap(([name, cells]) => {
      const value = numberIn((cells.get(label) ?? '').replace(/[*_`✓✗✅❌]/gu, '').trim())
      return value === null ? [] : [[name, value]]
    }),
  )
}

/** `2026-04-04 04:15 — PR #2097: Deep Supervision — nezuko — **SENT BACK** (…)`: what stands between the number and the next dash. */
function headingParts(heading: string): { pull: string; title: string; remark: string } {
  const match = /PR #(\d+):\s*(.*?)(?:\s+—\s+(.*))?$/.exec(heading.replace(/\*\*/g, ''))
  return { pull: match?.[1] ?? '', title: match?.[2]?.trim() ?? '', remark: match?.[3]?.trim() ?? '' }
}
