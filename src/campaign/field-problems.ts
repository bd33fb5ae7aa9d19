/** What zod found wrong, as sentences: which field, which value, what was expected. */
import type { z } from 'zod'

export function fieldProblems(value: unknown, issues: readonly z.core.$ZodIssue[], where: string): string[] {
  return issues.flatMap(issue => problem(value, issue)).map(sentence => `${where}: ${sentence}`)
}

function problem(root: unknown, issue: z.core.$ZodIssue): string[] {
  const field = fieldName(issue.path) || 'it'
  const value = valueAt(root, issue.path)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(
      key => `there is no field "${fieldName([...issue.path, key])}"; remove it or correct its name.`,
    )
  }
  if (value === undefined && issue.code !== 'custom') return [`${field} is missing; expected ${expectation(issue)}.`]
  return [`${field} is ${shown(value)}; expected ${expectation(issue)}.`]
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return articled(issue.expected)
    case 'invalid_value':
      return issue.values.map(value => JSON.stringify(value)).join(' or ')
    case 'too_small':
      return issue.origin === 'number'
        ? `a number ${issue.inclusive ? 'of at least' : 'above'} ${issue.minimum}`
        : `at least ${issue.minimum} ${issue.origin === 'string' ? 'character' : 'entry'}`
    case 'too_big':
      return `a number of at most ${issue.maximum}`
    case 'invalid_union': {
      const options = issue.errors.map(errors => errors.map(each => withField(each)).join(' and '))
      return [...new Set(options)].join(', or ')
    }
    default:
      return issue.message
  }
}

function withField(issue: z.core.$ZodIssue): string {
  return issue.path.length === 0 ? expectation(issue) : `${fieldName(issue.path)} to be ${expectation(issue)}`
}

function articled(type: string): string {
  if (type === 'int') return 'a whole number'
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}

function fieldName(path: readonly PropertyKey[]): string {
  return path.reduce<string>((name, key) => {
    if (typeof key === 'number') return `${name}[${key}]`
    return name === '' ? String(key) : `${name}.${String(key)}`
  }, '')
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], root)
}

function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
