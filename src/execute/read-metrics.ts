/**
 * Reads the metrics that a run left behind, from its files and its output. What the program wrote is data: whatever it
 * is, the answer is a reading, never an error.
 */
import type { Metric } from '../experiment/environment.ts'
import { JsonFiles } from './json-metric.ts'
import { numberIn } from './number-word.ts'
import { lastMatch } from './pattern-metric.ts'
import { fileNames, pathOf } from './run-folder.ts'

/**
 * One metric as it was found. `missing` carries one sentence that says where it was looked for and why it is not there.
 */
export type Reading =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'not finite'; readonly text: string }
  | { readonly kind: 'missing'; readonly why: string }

/** By metric name, for the metrics that say where they are to be read. */
export type Readings = Readonly<Record<string, Reading>>

export interface MetricPlaces {
  readonly metrics: readonly Metric[]
  /** The run's folder, with `stdout.log` and `stderr.log`. */
  readonly folder: string
  /** Where the run was told to write (`{out}`): metric files are looked for here. */
  readonly out: string
  /**
   * A second place for files: the run's own working directory, for programs that write where they stand. Only what was
   * written since then counts, because the directory may hold results that were there before.
   */
  readonly workingDirectory?: { readonly folder: string; readonly since: Date } | undefined
}

export function readMetrics({ metrics, folder, out, workingDirectory }: MetricPlaces): Readings {
  const written = new JsonFiles(out)
  const found = workingDirectory && new JsonFiles(workingDirectory.folder, workingDirectory.since)
  const readFile = (file: string, path: string): Reading => {
    const first = written.read(file, path)
    if (first.kind !== 'missing' || !found) return first
    const second = found.read(file, path)
    return second.kind === 'missing' ? first : second
  }
  const readings: Record<string, Reading> = {}
  for (const { name, read } of metrics) {
    if (!read) continue
    readings[name] = 'pattern' in read ? readPattern(folder, read.pattern) : readFile(read.file, read.path)
  }
  return readings
}

/** Standard output first; standard error for programs that log there. */
function readPattern(folder: string, pattern: string): Reading {
  for (const log of ['stdout', 'stderr'] as const) {
    const found = lastMatch(pathOf(folder, log), pattern)
    if (found.kind === 'unusable') return { kind: 'missing', why: found.why }
    if (found.kind === 'match') return readingOf(found.text, `the pattern ${pattern} in ${fileNames[log]}`)
  }
  return { kind: 'missing', why: `no line of the output matches the pattern ${pattern}` }
}

function readingOf(text: string, place: string): Reading {
  const value = numberIn(text)
  if (value === null)
    return { kind: 'missing', why: `${place} gives ${JSON.stringify(text.slice(0, 80))}, which is not a number` }
  return Number.isFinite(value) ? { kind: 'number', value } : { kind: 'not finite', text: text.trim() }
}
