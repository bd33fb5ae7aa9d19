/**
 * The log of wandb/senpai: a section for each pull request with its hypothesis, its verdict, and a table of metrics with the baseline
 * beside each seed. Markdown (`EXPERIMENTS_LOG.md`), or JSON lines made of it. Each section is measured against the baseline that it
 * states itself, which need not be what was merged before it.
 */
import type { Direction } from '../experiment/environment.ts'
import type { Outcome } from '../experiment/intervention.ts'
import { contentHash, isJsonObject } from '../experiment/json.ts'
import { withoutOutcome } from '../text/outcome-words.ts'
import { directionOfName } from './direction.ts'
import type { ImportedHistory, ImportedRow, UnusableRow } from './history.ts'
import type { Importer, ImportOptions } from './importer.ts'
import { readJsonRecords } from './json-records.ts'
import { readSenpaiMarkdown } from './senpai-markdown.ts'
import { type MeasuredSection, measuredSection, type SenpaiSection } from './senpai-section.ts'
import { beginningOf, textOf } from './source.ts'
import { StatusCounts } from './status-counts.ts'
import { meaningOf } from './status-words.ts'
import { unusableRow } from './unusable-row.ts'

export const senpai: Importer = {
  name: 'senpai',
  title: 'a log of senpai',
  takes: [],
  recognises: source => {
    const beginning = beginningOf(source)
    if (/^\s*\{/.test(beginning)) return ['"pr"', '"heading"', '"verdict"'].every(word => beginning.includes(word))
    return /\.md$/i.test(source.name) && /^#+ .*\bPR #\d+:/m.test(beginning)
  },
  read: async (source, options) => {
    const text = await textOf(source)
    return [
      senpaiHistory(/^\s*\{/.test(text) ? sectionsOfRecords(text) : readSenpaiMarkdown(text), source.name, options),
    ]
  },
}

function sectionsOfRecords(text: string): SenpaiSection[] {
  return readJsonRecords(text).records.map(({ line, record }) => {
    const { heading, hypothesis, verdict, metrics } = record
    const tables = isJsonObject(metrics) ? metrics : {}
    return {
      line,
      heading: typeof heading === 'string' ? heading : '',
      hypothesis: typeof hypothesis === 'string' ? hypothesis : null,
      verdict: typeof verdict === 'string' ? verdict : null,
      metrics: new Map(
        Object.entries(tables).flatMap(([name, cells]) =>
          isJsonObject(cells)
            ? [[name, new Map(Object.entries(cells).map(([key, value]) => [key, String(value)]))]]
            : [],
        ),
      ),
    }
  })
}

/** Throws a sentence where no section has a metric. */
export function senpaiHistory(
  sections: readonly SenpaiSection[],
  source: string,
  options: ImportOptions = {},
): ImportedHistory {
  const counts = new Map<string, number>()
  for (const { metrics } of sections) for (const name of metrics.keys()) counts.set(name, (counts.get(name) ?? 0) + 1)
  const names = [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)!)
  const name = options.metric?.name ?? names[0]
  if (name === undefined || !counts.has(name)) {
    throw new Error(
      `${source} has no metric ${name === undefined ? 'in any section' : `"${name}": its metrics are ${names.slice(0, 12).join(', ')}`}`,
    )
  }
  const unusable: UnusableRow[] = []
  const statuses = new StatusCounts()
  const measured: MeasuredSection[] = []
  for (const section of sections) {
    const read = measuredSection(section, name)
    if ('reason' in read) unusable.push(unusableRow(`line ${section.line}`, read.reason, section.heading))
    else measured.push(read)
  }
  const fromMerged = directionOfMerged(measured)
  const direction = options.metric?.direction ?? directionOfName(name) ?? fromMerged
  const rows: ImportedRow[] = []
  const references = new Map<string, string>()
  const copies = new Map<string, number>()
  let last: string | null = null
  for (const section of measured) {
    const { baseline } = section
    if (baseline !== null) {
      const key = contentHash(['baseline', baseline.label, baseline.metrics[name]!])
      if (!references.has(key)) rows.push(rowOf(section, key, 'reference', null, baseline.metrics, source))
      references.set(key, key)
      last = key
    }
    const isKept = section.verdict !== null && meaningOf(section.verdict)?.role === 'kept'
    for (const [index, run] of section.runs.entries()) {
      const content = contentHash([section.pull, section.title, run.label])
      const count = (copies.get(content) ?? 0) + 1
      copies.set(content, count)
      // A pull request may come up again under the same title.
      const key = count === 1 ? content : `${content}#${count}`
      const role = isKept && index === 0 ? 'kept' : 'tried'
      rows.push({ ...rowOf(section, key, role, last, run.metrics, source), seed: run.seed, place: run.place })
      if (section.verdict !== null) statuses.add(section.verdict, role, 'finished')
    }
  }
  const better = direction === 'minimize' ? 'lower' : 'higher'
  return {
    source,
    name: null,
    description: null,
    metrics: [
      { name, direction, guessed: options.metric?.direction === undefined },
      ...names
        .filter(other => other !== name)
        .map(other => ({ name: other, direction: directionOfName(other), guessed: true })),
    ],
    constraints: [],
    rows,
    unusable,
    statuses: statuses.all(),
    guesses: [
      ...(options.metric ? [] : [`the metric is ${name}: most sections have it`]),
      ...(direction !== null && options.metric?.direction === undefined
        ? [`${better} is better: ${directionOfName(name) === null ? 'most merged ones are' : 'the name says so'}`]
        : []),
    ],
  }
}

function rowOf(
  section: MeasuredSection,
  key: string,
  role: ImportedRow['role'],
  against: string | null,
  metrics: Readonly<Record<string, number>>,
  source: string,
): ImportedRow {
  const isReference = role === 'reference'
  const text = withoutOutcome([section.title, section.hypothesis].filter(Boolean).join(': '))
  const outcome: Outcome = {
    kind: 'finished',
    reason: null,
    metrics,
    exitCode: null,
    startedAt: null,
    finishedAt: null,
    seconds: null,
    cost: null,
  }
  return {
    key,
    place: `line ${section.line}${isReference ? ', its baseline' : ''}`,
    seed: null,
    intervention: {
      sentence: isReference ? `the baseline ${section.baseline!.label}` : text.tried || section.title,
      overrides: null,
      diff: null,
      tags: [],
      origin: source,
    },
    outcome,
    role,
    against,
    commit: null,
    code: null,
    note: isReference ? null : [text.outcome, section.remark].filter(Boolean).join('; ') || null,
  }
}

/** What was merged was better than its baseline, most of the time. */
function directionOfMerged(sections: readonly MeasuredSection[]): Direction | null {
  let lower = 0
  let higher = 0
  for (const { verdict, baseline, runs, objective } of sections) {
    if (verdict === null || meaningOf(verdict)?.role !== 'kept' || baseline === null) continue
    const mean = runs.reduce((sum, run) => sum + run.metrics[objective]!, 0) / runs.length
    if (mean < baseline.metrics[objective]!) lower++
    else if (mean > baseline.metrics[objective]!) higher++
  }
  if (lower + higher < 3) return null
  if (lower >= 2 * higher) return 'minimize'
  return higher >= 2 * lower ? 'maximize' : null
}
