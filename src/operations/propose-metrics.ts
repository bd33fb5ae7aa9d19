/**
 * What an experiment measures and where it says so: the columns of its results table, what its instructions grep for, what
 * its program prints, and what a log of it holds. The first metric is the objective.
 */
import type { Direction } from '../experiment/environment.ts'
import { directionOfName } from '../importers/direction.ts'
import type { ImportedHistory } from '../importers/history.ts'
import { instructionFiles, type ProjectFiles } from './project-files.ts'

export interface ProposedMetric {
  readonly name: string
  /** Null: somebody has to say. */
  readonly direction: Direction | null
  /** Finds the value in the output (first group, last match); absent where it stands in a file. */
  readonly pattern?: string
  readonly file?: string
  readonly path?: string
  readonly unit?: string
}

export interface FoundMetric extends ProposedMetric {
  readonly where: string
  readonly why: string
}

const name = String.raw`[A-Za-z_][\w./@%-]*`
/** A label at the beginning of a printed text, then a value: `print(f"val_bpb:   {bpb:.6f}")`. */
const printed = new RegExp(String.raw`(["'\x60])(?:\\n)?(${name})(\s*[:=]\s*)(?:\$?\{|%[-+.\d]*[dfeg]|\1\s*[,+])`, 'g')
const logged = new RegExp(String.raw`^(${name})(\s*[:=]\s*)[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?\s*$`, 'gim')
const grepped = /grep\b[^\n]*/g

/** Words that say how a run went along, never how good it is. */
const accompanying =
  /(^|_)(step|steps|epoch|epochs|iter|iters|seed|params|num|lr|elapsed|remaining|eta|time|seconds|total|depth|version|device|batch)(_|$)/i
const memory = /(^|_)(mem|memory|vram|rss|hbm)(_|$)/i

export function proposeMetrics(
  files: ProjectFiles,
  program: string | null,
  results: ImportedHistory | null,
): FoundMetric[] {
  const source = program === null ? '' : (files.text(program) ?? '')
  const labels = new Map<string, { separator: string; where: string; why: string }>()
  const note = (label: string, separator: string, where: string, why: string) => {
    if (!labels.has(label)) labels.set(label, { separator: separator.trim(), where, why })
  }
  for (const log of files.names.filter(each => /^(run|train|output)\.(log|txt|out)$/.test(each))) {
    for (const match of (files.end(log) ?? '').matchAll(logged)) note(match[1]!, match[2]!, log, 'a run printed it')
  }
  for (const match of source.matchAll(printed)) note(match[2]!, match[3]!, program!, 'the program prints it')
  const asked = greppedNames(files)
  for (const { label, where } of asked) note(label, ':', where, 'the instructions look for it in the output')

  const columns = results === null ? [] : results.metrics.map(metric => metric.name)
  const wanted = [...columns.slice(0, 1), ...asked.map(({ label }) => label), ...[...labels.keys()].filter(isObjective)]
  const objective = wanted.find(label => labels.has(label) && !memory.test(label)) ?? inJsonFile(files, wanted)
  if (objective === undefined) return []
  if (typeof objective !== 'string') return [objective]
  const found = [metricOf(objective, results)]
  const used = [...labels.keys()].find(label => memory.test(label))
  if (used !== undefined && used !== objective) found.push({ ...metricOf(used, null), direction: 'minimize' })
  return found

  function metricOf(label: string, history: ImportedHistory | null): FoundMetric {
    const { separator, where, why } = labels.get(label)!
    const imported = history?.metrics.find(metric => metric.name === label)
    const unit = unitOf(label)
    return {
      name: label,
      direction: directionOfName(label) ?? imported?.direction ?? null,
      pattern: `^${escaped(label)}\\s*${separator}\\s*(\\S+)`,
      ...(unit === null ? {} : { unit }),
      where,
      why: imported ? `${why}, and ${history!.source} has a column for it` : why,
    }
  }
}

function isObjective(label: string): boolean {
  return directionOfName(label) !== null && !accompanying.test(label) && !memory.test(label)
}

function greppedNames(files: ProjectFiles): { label: string; where: string }[] {
  return instructionFiles(files).flatMap(({ name: where, text }) =>
    [...text.matchAll(grepped)].flatMap(([line]) =>
      [...line.matchAll(new RegExp(String.raw`\^(${name}):`, 'g'))].map(match => ({ label: match[1]!, where })),
    ),
  )
}

/** A metrics file of an earlier run, for programs that print nothing to look for. */
function inJsonFile(files: ProjectFiles, wanted: readonly string[]): FoundMetric | undefined {
  for (const file of ['metrics.json', 'results.json', 'result.json']) {
    let values: unknown
    try {
      values = JSON.parse(files.text(file) ?? 'null')
    } catch {
      continue
    }
    if (typeof values !== 'object' || values === null) continue
    const numbers = Object.entries(values).flatMap(([key, value]) => (typeof value === 'number' ? [key] : []))
    const path = wanted.find(label => numbers.includes(label)) ?? numbers.find(isObjective)
    if (path !== undefined)
      return { name: path, direction: directionOfName(path), file, path, where: file, why: 'a run wrote it' }
  }
  return undefined
}

function escaped(label: string): string {
  return label.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}

function unitOf(label: string): string | null {
  const units: Readonly<Record<string, string>> = {
    mb: 'MB',
    gb: 'GB',
    mib: 'MiB',
    gib: 'GiB',
    ms: 'ms',
    us: 'µs',
    seconds: 's',
    sec: 's',
  }
  const last = label.toLowerCase().split('_').at(-1)!
  if (/(^|_)bpb$/i.test(label)) return 'bits per byte'
  return label.includes('per') ? null : (units[last] ?? null)
}
