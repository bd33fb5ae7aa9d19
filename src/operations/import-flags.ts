/** The flags of `almanac import` as what importers are told. */
import { constraintIn } from '../importers/constraint-text.ts'
import type { ImportOptions } from '../importers/importer.ts'
import { InputError } from './operation.ts'

export interface ImportFlags {
  readonly metric?: string | undefined
  readonly direction?: 'minimize' | 'maximize' | undefined
  readonly column?: readonly string[] | undefined
  readonly reference?: string | undefined
  readonly environment?: string | undefined
  readonly constraint?: readonly string[] | undefined
  readonly revisions?: string | undefined
  readonly keepPersonal: boolean
}

/** Some of a source's names can stand for several columns, each with one of these. */
const several = new Set(['option', 'ignore'])

/** What a column can be. */
export const columnRoles = [
  'metric',
  'status',
  'commit',
  'description',
  'proposal',
  'tag',
  'configuration',
  'time',
  'seed',
  'environment',
  'option',
  'ignore',
] as const

export function importOptions(flags: ImportFlags): ImportOptions {
  const { metric, direction, reference, environment, revisions, keepPersonal } = flags
  const columns = columnsIn(flags.column ?? [])
  return {
    ...(metric === undefined ? {} : { metric: { name: metric, ...(direction ? { direction } : {}) } }),
    ...(Object.keys(columns).length === 0 ? {} : { columns }),
    ...(reference === undefined ? {} : { reference }),
    ...(environment === undefined ? {} : { environment }),
    ...(flags.constraint === undefined ? {} : { constraints: flags.constraint.map(asConstraint) }),
    ...(revisions === undefined ? {} : { revisions }),
    keepPersonal,
  }
}

/** `NAME=ROLE`; a name alone is the metric's. Several names of one role have a line feed between them. */
function columnsIn(texts: readonly string[]): Record<string, string> {
  const columns: Record<string, string> = {}
  for (const text of texts) {
    const at = text.lastIndexOf('=')
    const [name, role] = at < 0 ? [text, 'metric'] : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
    if (name === '' || !columnRoles.some(each => each === role)) {
      throw new InputError(
        `--column: "${text}" is not NAME=ROLE; the roles are ${columnRoles.join(', ')} (such as --column val_loss=metric)`,
      )
    }
    if (columns[role] !== undefined && !several.has(role)) {
      throw new InputError(
        `--column: both "${columns[role]}" and "${name}" are to be the ${role}; name one, and what to import before --column`,
      )
    }
    columns[role] = columns[role] === undefined ? name : `${columns[role]}\n${name}`
  }
  return columns
}

function asConstraint(text: string) {
  try {
    return constraintIn(text)
  } catch (cause) {
    throw new InputError(`--constraint: ${(cause as Error).message}`, { cause })
  }
}
