/** What the columns of a table were taken for, as a sentence that a person can check: only what their names do not say. */
import { normal } from './column-names.ts'
import type { Columns } from './columns.ts'

/** Null where every column is what it is called. `told` are the names for which the caller says it. */
export function columnsText(columns: Columns, objective: number, told: readonly string[]): string | null {
  const { names, metrics, options, notes } = columns
  const said = new Set(told.flatMap(text => text.split('\n')).map(name => name.toLowerCase()))
  const isTold = (index: number) => said.has(names[index]!.toLowerCase())
  const roles: readonly (readonly [string, readonly (number | null)[]])[] = [
    ['what was tried', [columns.description, columns.proposal, columns.tag, columns.configuration]],
    ['the commit', [columns.commit]],
    ['how it ended', [columns.status]],
    ['the time', [columns.time]],
    ['the seed', [columns.seed]],
    ['notes', notes],
    ['options', options.map(({ index }) => index)],
  ]
  const taken = new Set(roles.flatMap(([, indices]) => indices).concat(objective, columns.series))
  for (const { index } of metrics) taken.add(index)
  const rest = names.flatMap((_, index) => (taken.has(index) ? [] : [index]))
  const parts = [...roles, ['not read', rest] as const].flatMap(([role, indices]) => {
    const guessed = indices.filter(index => index !== null && !isTold(index))
    const isPlain = guessed.every(index => plain.has(normal(names[index!]!)))
    return isPlain ? [] : [`${role}: ${listed(guessed.map(index => names[index!]!))}`]
  })
  return parts.length === 0 ? null : `the columns: ${parts.join('; ')}`
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
