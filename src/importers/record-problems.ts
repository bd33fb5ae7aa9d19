/**
 * What is wrong with a line of records, in one sentence a field.
 */
import type { z } from 'zod'

export function problemsIn(value: unknown, issues: readonly z.core.$ZodIssue[], where: string): string {
  return issues.map(issue => `${where}: ${problem(value, issue)}`).join('\n')
}

function problem(value: unknown, issue: z.core.$ZodIssue): string {
  const field = issue.path.map((key, index) =>
    typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${String(key)}`,
  )
  const name = field.length === 0 ? 'the line' : `"${field.join('')}"`
  if (issue.code === 'unrecognized_keys') return `${name} has the unknown field ${issue.keys.join(', ')}; remove it`
  const found = issue.path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | null)?.[key], value)
  const expected = issue.message.replace(/^Invalid input: /, '')
  if (found === undefined) return `${name} is missing; ${expected}`
  const shown = JSON.stringify(found)
  return `${name} is ${shown.length > 80 ? `${shown.slice(0, 80)}…` : shown}; ${expected}`
}
