/**
 * Records with names as a table: the columns are the names of all records, those of nested records with a dot between. What a name
 * means is decided as for any table.
 */
import { contentHash, isJsonObject, type Json, type JsonObject } from '../experiment/json.ts'
import type { BrokenRecord, JsonRecord } from './json-records.ts'
import type { LogTable } from './log-table.ts'

const deepest = 4
const mostColumns = 1000

/**
 * Throws a sentence when there is no record. The records are gone through twice: once for their names, and when the rows are read; so a
 * generator is given as a function.
 */
export function recordTable(
  records: () => Iterable<JsonRecord | BrokenRecord>,
  source: string,
  some: Pick<LogTable, 'objective'> & { readonly name?: string | null; readonly description?: string | null } = {},
): LogTable {
  const columns = new Set<string>()
  const broken: BrokenRecord[] = []
  for (const each of records()) {
    if (!('record' in each)) broken.push(each)
    else if (columns.size < mostColumns) for (const name of flattened(each.record).keys()) columns.add(name)
  }
  if (columns.size === 0) throw new Error(`${source} holds no record: expected one JSON object for each experiment`)
  const header = [...columns]
  return {
    source,
    name: some.name ?? null,
    description: some.description ?? null,
    header,
    lines: {
      *[Symbol.iterator]() {
        for (const each of records()) {
          if (!('record' in each)) continue
          const cells = flattened(each.record)
          const content = contentHash(each.record)
          yield { line: each.line, cells: header.map(name => cells.get(name) ?? ''), text: each.text, content }
        }
      },
    },
    broken,
    ...(some.objective === undefined ? {} : { objective: some.objective }),
  }
}

function flattened(record: JsonObject): Map<string, string> {
  const cells = new Map<string, string>()
  flatten(record, '', 0, cells)
  return cells
}

function flatten(record: JsonObject, path: string, depth: number, cells: Map<string, string>): void {
  for (const [key, value] of Object.entries(record)) {
    const name = path === '' ? key : `${path}.${key}`
    if (isJsonObject(value) && depth < deepest) flatten(value, name, depth + 1, cells)
    else cells.set(name, cellOf(value))
  }
}

function cellOf(value: Json): string {
  if (value === null) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every(each => typeof each === 'string')) return value.join(', ')
  return JSON.stringify(value)
}
