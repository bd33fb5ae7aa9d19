/**
 * Which of the numbers that the commits of a repository report is the metric, and what each commit measured of it.
 */
import type { Direction } from '../experiment/environment.ts'
import type { OutcomeKind } from '../experiment/intervention.ts'
import { directionOfName, zeroMeansMissing } from './direction.ts'
import type { Report } from './git-reports.ts'
import type { ImportOptions } from './importer.ts'
import { meaningOf } from './status-words.ts'

export interface GitMetric {
  /** What it is called from here on. */
  readonly name: string
  readonly direction: Direction | null
  /** Names that stand for it, in lower case. */
  readonly spellings: ReadonlySet<string>
  /** Where it was found, and in how many commits each. */
  readonly places: ReadonlyMap<string, number>
  /** Those of the places that are files. */
  readonly files: ReadonlySet<string>
}

export interface Measurement {
  readonly kind: OutcomeKind
  /** Null unless it finished. */
  readonly value: number | null
  /** For anything but finished. */
  readonly reason: string | null
  /** The objective first, then what stands beside it. */
  readonly metrics: Readonly<Record<string, number>>
  readonly place: string
  /** The source's word for how it ended. */
  readonly status: string | null
  readonly isBaseline: boolean
  /** Whether the source says that its change was not kept. */
  readonly isDiscarded: boolean
}

/** What a run costs is rarely what it is for. */
const cost =
  /(^|[_./])(mem|memory|vram|gib|gb|mb|bytes|cost|usd|time|latency|seconds|size|params|duration|runtime)([_./]|$)/i
const accompanying =
  /(^|[_./])(steps?|epochs?|iters?|seeds?|num|lr|learning_rate|depth|version|batch|timestamp|id|pid|trial)([_./]|$)/i
/** Less than this share of the commits that change code is talk about numbers, not a metric of theirs. */
const leastShare = 0.1

/** Null where nothing can be it. `changes`: how many of the commits change code. */
export function chooseMetric(
  reports: readonly (readonly Report[])[],
  changes: number,
  asked?: ImportOptions['metric'],
): GitMetric | null {
  const candidates = candidatesIn(reports)
  const wanted = asked === undefined ? best([...candidates.values()]) : candidates.get(metricKey(asked.name))
  const fewest = asked === undefined ? Math.max(2, leastShare * changes) : 1
  if (wanted === undefined || wanted.commits < fewest) return null
  const name = asked?.name ?? wanted.name
  return {
    name,
    direction: asked?.direction ?? directionOfName(name),
    spellings: new Set([metricKey(name)]),
    places: wanted.places,
    files: new Set([...wanted.places.keys()].filter(place => place !== 'message')),
  }
}

/** The sentence for a repository in which no metric was found. */
export function nothingFound(
  reports: readonly (readonly Report[])[],
  changes: number,
  source: string,
  asked?: ImportOptions['metric'],
): Error {
  const found = [...candidatesIn(reports).values()].sort((a, b) => b.commits - a.commits).slice(0, 8)
  const names = found.map(({ name, commits }) => `${name} (${commits})`).join(', ')
  const others =
    names === ''
      ? 'no numbers under a name'
      : `these numbers, in so many commits: ${names}, of ${changes} that change code`
  const what = asked === undefined ? 'no metric' : `no metric ${asked.name}`
  return new Error(
    `${source}: ${what} in files of results (results.json, metrics.json, results.tsv, …) or messages; found ${others}. ` +
      'Name it with --metric, or say where it stands with --column FILE=metric or FILE:PATH=metric',
  )
}

interface Candidate {
  readonly name: string
  commits: number
  readonly places: Map<string, number>
}

/** By the last part of a name, in lower case: `eval.val_loss` in a file is the `val_loss` of a message. */
export function metricKey(name: string): string {
  return name.toLowerCase().split('.').at(-1)!.replaceAll('/', '_').replaceAll('-', '_')
}

function candidatesIn(reports: readonly (readonly Report[])[]): Map<string, Candidate> {
  const candidates = new Map<string, Candidate>()
  for (const ofCommit of reports) {
    const seen = new Set<string>()
    for (const { place, values } of ofCommit) {
      for (const name of values.keys()) {
        const key = metricKey(name)
        if (seen.has(key)) continue
        seen.add(key)
        const candidate = candidates.get(key) ?? { name: name.split('.').at(-1)!, commits: 0, places: new Map() }
        candidates.set(key, candidate)
        candidate.commits++
        candidate.places.set(place, (candidate.places.get(place) ?? 0) + 1)
      }
    }
  }
  return candidates
}

/** One whose name says which way is better, and not what it costs; of these the one that most commits report. */
function best(candidates: readonly Candidate[]): Candidate | undefined {
  const most = (list: readonly Candidate[]) =>
    list.reduce<Candidate | undefined>((best, each) => (best && best.commits >= each.commits ? best : each), undefined)
  const results = candidates.filter(({ name }) => directionOfName(name) !== null && !accompanying.test(name))
  const inFiles = candidates.filter(
    ({ name, places }) => !accompanying.test(name) && [...places.keys()].some(place => place !== 'message'),
  )
  return most(results.filter(({ name }) => !cost.test(name))) ?? most(results) ?? most(inFiles)
}

/** Null where the commit reports nothing of the metric. The first report that has it counts; files come before the message. */
export function measurementIn(reports: readonly Report[], metric: GitMetric): Measurement | null {
  for (const report of reports) {
    const { place, values, status, isBaseline } = report
    const found = [...values].find(([name]) => metric.spellings.has(metricKey(name)))
    const where = place === 'message' ? 'the message' : place
    const failed = status === null ? null : failureOf(status)
    const isDiscarded = status !== null && /discard|revert|reject|worse|drop|park|no_|dead/i.test(status)
    const ended = { value: null, metrics: {}, place, status, isBaseline, isDiscarded }
    if (failed !== null) return { ...ended, kind: failed, reason: `${where} says "${status}"` }
    if (found === undefined || (found[1] === 0 && zeroMeansMissing(metric.name))) continue
    if (!Number.isFinite(found[1])) {
      return { ...ended, kind: 'diverged', reason: `${where} says that ${metric.name} is not a finite number` }
    }
    const others = [...values].filter(([name, value]) => name !== found[0] && Number.isFinite(value)).slice(0, 20)
    const metrics = Object.fromEntries([[metric.name, found[1]], ...others.filter(([name]) => name !== metric.name)])
    return { ...ended, kind: 'finished', value: found[1], reason: null, metrics }
  }
  return null
}

function failureOf(status: string): OutcomeKind | null {
  const kind = meaningOf(status)?.kind ?? 'finished'
  return kind === 'finished' ? null : kind
}
