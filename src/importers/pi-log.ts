/**
 * pi-autoresearch (davebcn87): `.auto/log.jsonl`, older `autoresearch.jsonl`. A line `config` says what is measured and begins a segment
 * with a baseline of its own; the others are runs. Its `confidence`, a ratio of robust deviations, is not a result and is left out.
 */
import type { Direction } from '../experiment/environment.ts'
import type { Json, JsonObject } from '../experiment/json.ts'
import type { ImportedHistory } from './history.ts'
import type { Importer, ImportOptions } from './importer.ts'
import { type JsonRecord, type JsonRecords, readJsonRecords } from './json-records.ts'
import { recordTable } from './record-table.ts'
import { beginningOf, textOf } from './source.ts'
import { tableHistories } from './table-history.ts'

export const piLog: Importer = {
  name: 'pi',
  title: 'a log of pi-autoresearch',
  takes: ['columns', 'reference'],
  recognises: source =>
    source.kind === 'file' &&
    /"type"\s*:\s*"config"/.test(firstLine(beginningOf(source))) &&
    /"metricName"/.test(firstLine(beginningOf(source))),
  read: async (source, options) => piHistories(readJsonRecords(await textOf(source)), source.name, options),
}

function firstLine(text: string): string {
  return /^\s*([^\r\n]*)/.exec(text)![1]!
}

/** One history for each segment that has runs. Throws a sentence where there is none. */
export function piHistories(
  { records, broken }: JsonRecords,
  source: string,
  options: ImportOptions = {},
): ImportedHistory[] {
  const segments: { configuration: JsonObject; runs: JsonRecord[] }[] = []
  for (const record of records) {
    if (record.record['type'] === 'config') segments.push({ configuration: record.record, runs: [] })
    else {
      if (segments.length === 0) segments.push({ configuration: {}, runs: [] })
      segments.at(-1)!.runs.push(record)
    }
  }
  const used = segments.filter(({ runs }) => runs.length > 0)
  if (used.length === 0) throw new Error(`${source} has no runs yet: it holds configurations only`)
  const names = namesOf(used.map(({ configuration }) => textIn(configuration['name'])))
  return used.flatMap(({ configuration, runs }, index) => {
    const metric = textIn(configuration['metricName']) ?? 'metric'
    const table = recordTable(() => [...runs.map(run => asRow(run, metric)), ...(index === 0 ? broken : [])], source, {
      name: names[index]!,
      objective: { name: metric, direction: directionIn(configuration['bestDirection']) },
    })
    return tableHistories(table, options)
  })
}

/** The objective under its own name; what says nothing of what was tried or came of it left out. */
function asRow({ line, record, text }: JsonRecord, metric: string): JsonRecord {
  const { metric: value, confidence: _confidence, segment: _segment, run: _run, metrics, ...rest } = record
  const others = typeof metrics === 'object' && metrics !== null && !Array.isArray(metrics) ? metrics : {}
  const without = Object.fromEntries(Object.entries(others).filter(([name]) => name !== metric))
  return { line, record: { ...rest, [metric]: value ?? null, metrics: without }, text }
}

/** Two segments of one name are two environments: the baseline was measured anew. */
function namesOf(names: readonly (string | null)[]): (string | null)[] {
  if (names.length === 1) return [...names]
  const counts = new Map<string, number>()
  return names.map((name, index) => {
    const called = name ?? `segment ${index}`
    const count = (counts.get(called) ?? 0) + 1
    counts.set(called, count)
    return count === 1 ? called : `${called} (${count})`
  })
}

function directionIn(value: Json | undefined): Direction | null {
  if (value === 'lower') return 'minimize'
  return value === 'higher' ? 'maximize' : null
}

function textIn(value: Json | undefined): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}
