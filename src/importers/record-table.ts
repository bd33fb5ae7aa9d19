/**
 * Records with names as a table: the columns are the names of all records, those of nested records with a dot between. What a name
 * means is decided as for any table.
 */
import { contentHash, isJsonObject, type Json, type JsonObject } from '../experiment/json.ts'
import type { JsonRecord, JsonRecords } from './json-records.ts'
import type { LogTable } from './log-table.ts'

const deepest = 4
const mostColumns = 1000

/** Throws a sentence when there is no record. */
export function recordTable(
  { records, broken }: JsonRecords,
  source: string,
  some: Pick<LogTable, 'objective'> & { readonly name?: string | null; readonly description?: string | null } = {},
): LogTable {
  if (records.length === 0) throw new Error(`${source} holds no record: expected one JSON object for each experiment`)
  const columns = new Map<string, number>()
  const flat = records.map(({ record }) => {
    const cells = new Map<string, string>()
    flatten(record, '', 0, cells)
    for (const name of cells.keys())
      if (columns.size < mostColumns && !columns.has(name)) columns.set(name, columns.size)
    return cells
  })
  const header = [...columns.keys()]
  return {
    source,
    name: some.name ?? null,
    description: some.description ?? null,
    header,
    lines: records.map(({ line, record, text }: JsonRecord, index) => ({
      line,
      cells: header.map(name => flat[index]!.get(name) ?? ''),
      text,
      content: contentHash(record),
    })),
    broken,
    ...(some.objective === undefined ? {} : { objective: some.objective }),
  }
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
