/** What the columns of a table were taken for, so that a person can check it: only what their names do not say. */
import { isSetting, normal } from './column-names.ts'
import type { Columns } from './columns.ts'

/** What a group of columns was taken for, and which they are. */
export type ColumnLine = readonly [label: string, columns: string]

/** Empty where every column is what it is called. `told` are the names for which the caller says it. */
export function columnLines(columns: Columns, objective: number, told: readonly string[]): ColumnLine[] {
  const { names, metrics, options, notes } = columns
  const said = new Set(told.flatMap(text => text.split('\n')).map(name => name.toLowerCase()))
  const isTold = (index: number) => said.has(names[index]!.toLowerCase())
  const roles: readonly (readonly [string, readonly (number | null)[]])[] = [
    ['tried', [columns.description, columns.proposal, columns.tag, columns.configuration]],
    ['commit', [columns.commit]],
    ['ended', [columns.status]],
    ['time', [columns.time]],
    ['seed', [columns.seed]],
    ['notes', notes],
    ['options', options.map(({ index }) => index)],
  ]
  const lines = roles.flatMap(([role, indices]): ColumnLine[] => {
    const found = indices.filter(index => index !== null)
    if (found.every(index => plain.has(normal(names[index]!)))) return []
    const guessed = found.some(index => !isTold(index))
    return [[role, `${listed(found.map(index => names[index]!))}${guessed ? ' (a guess)' : ''}`]]
  })
  const taken = new Set(roles.flatMap(([, indices]) => indices).concat(objective, columns.series))
  for (const { index } of [...metrics, ...columns.leftOut]) taken.add(index)
  const unread = names.flatMap((name, index) => (taken.has(index) || isTold(index) ? [] : [{ name, why: 'not read' }]))
  const leftOut = [...columns.leftOut, ...unread].map(({ name, why }) => `${name} (${why})`)
  return leftOut.length === 0 ? lines : [...lines, ['left out', listed(leftOut)]]
}

/** Columns that count as measured, and are named like what people set. */
export function doubtful({ metrics }: Columns, objective: number): string[] {
  return metrics.flatMap(({ index, name }) => (index !== objective && isSetting(name) ? [name] : []))
}

/** Names that say themselves what they are. */
const plain = new Set([
  'commit',
  'status',
  'description',
  'hypothesis',
  'timestamp',
  'time',
  'date',
  'seed',
  'notes',
  'tag',
])

function listed(names: readonly string[]): string {
  return names.length <= 12 ? names.join(', ') : `${names.slice(0, 12).join(', ')} and ${names.length - 12} more`
}
