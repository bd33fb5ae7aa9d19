/** The flags of `almanac import` as what importers are told. */
import { z } from 'zod'
import type { Constraint } from '../experiment/environment.ts'
import type { JsonObject } from '../experiment/json.ts'
import { constraintIn } from '../importers/constraint-text.ts'
import { importers } from '../importers/formats.ts'
import type { ImportOptions } from '../importers/importer.ts'
import { InputError } from './operation.ts'
import { shellWord } from './shell-word.ts'

/** What a user can say of a source. The ledger keeps it with what was imported, so that the source is read alike when it comes again. */
export const sourceFlags = {
  format: z
    .enum(importers.map(({ name }) => name))
    .optional()
    .describe('the format, where it is not recognised'),
  environment: z.string().optional().describe('only this one of several experiments, studies, projects, segments'),
  metric: z.string().optional().describe('the objective, where another was guessed'),
  direction: z.enum(['minimize', 'maximize']).optional().describe('which way the objective is better'),
  column: z
    .array(z.string())
    .optional()
    .describe('what stands in a column, as NAME=ROLE (the roles are listed below); a name alone is the metric'),
  reference: z.string().optional().describe('the run that the others are changes of, by id or name'),
  constraint: z
    .array(z.string())
    .optional()
    .describe('a rule, such as "val_bpb >= 0.9"; what breaks it counts as failed, whatever the log says'),
  revisions: z.string().optional().describe('of a git repository: the revision or range to read (default: HEAD)'),
  as: z
    .string()
    .trim()
    .min(1)
    .regex(/^\P{Cc}*$/u, 'is to be a name on one line, without control characters')
    .optional()
    .describe('the name in the ledger; never part of the environment of this folder then'),
  keepPersonal: z.boolean().default(false).describe('keep mail addresses, hosts, users, home folders and arguments'),
}

const schema = z.strictObject(sourceFlags)

export type SourceFlags = z.output<typeof schema>

/** What was said, and nothing else: no default stands in it. */
export function saidFlags(input: SourceFlags): JsonObject {
  const names = Object.keys(sourceFlags) as (keyof SourceFlags)[]
  const apart = { ...input, column: input.column?.flatMap(atRoles) }
  const said = names.map(name => [name, apart[name]] as const)
  return Object.fromEntries(said.filter(([, value]) => value !== undefined && value !== false)) as JsonObject
}

/** The reverse, of what a ledger kept. */
export function flagsFrom(said: JsonObject): SourceFlags {
  return schema.parse(said)
}

export function areFlags(said: JsonObject): boolean {
  return schema.safeParse(said).success
}

/** As they stand on a command line, with a space before each; empty where nothing was said. */
export function flagsText(said: JsonObject): string {
  return Object.entries(said)
    .map(([name, value]) => {
      const flag = ` --${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`
      if (value === true) return flag
      const words = Array.isArray(value) ? value : [value]
      return `${flag} ${words.map(word => shellWord(String(word))).join(' ')}`
    })
    .join('')
}

/** `with --column lr=option`. */
export function byFlags(said: JsonObject): string {
  if (!areFlags(said)) return 'as records of Almanac'
  const text = flagsText(said)
  return text === '' ? 'without flags' : `with${text}`
}

/** Some of a source's names can stand for several columns, each with one of these. */
const several = new Set(['option', 'measurement', 'ignore'])

/** What a column can be, and what that means. */
export const columnRoles = {
  metric: 'the objective: what is to become better',
  status: 'how the run ended and whether it was kept (keep, discard, crash, …)',
  commit: 'the commit whose code was run',
  description: 'what was tried, often with a word on how it went, which is taken out',
  proposal: 'what was tried, written before the run',
  tag: 'a short name of the change',
  configuration: 'all options of the run, as JSON or name=value',
  time: 'when it ran: the order of the rows',
  seed: 'the seed: rows that differ by it alone are repeats',
  environment: 'which of several experiments the row belongs to',
  option: 'a setting that the run was given',
  measurement: 'a number that was measured beside the objective',
  ignore: 'nothing that matters',
} as const satisfies Readonly<Record<string, string>>

const roleNames = Object.keys(columnRoles)

/** For the help: a line a role. */
export const rolesText = [
  'Roles of a column (--column NAME=ROLE):',
  ...Object.entries(columnRoles).map(([role, meaning]) => `  ${role.padEnd(13)}  ${meaning}`),
].join('\n')

export function importOptions(flags: SourceFlags): ImportOptions {
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

/** Throws where one is given for records that `almanac export` wrote: they say everything themselves. */
export function refuseFlagsOfLogs(source: string, said: JsonObject, replace: boolean): void {
  const { keepPersonal: _, ...flags } = said
  const [given] = replace ? ['replace'] : Object.keys(flags)
  if (given === undefined) return
  throw new InputError(
    `--${given} is for the logs of others, and ${source} has records of Almanac, which say all of it themselves: leave it out.`,
  )
}

/** `a=option,b=metric` is two of them: a comma behind a role parts, and one in a name does not. */
function atRoles(text: string): string[] {
  return text.split(behindRole).map(part => part.trim())
}

const behindRole = new RegExp(`(?<=[=](?:${roleNames.join('|')})),`)

/** `NAME=ROLE`; a name alone is the metric's. */
export function columnIn(text: string): { readonly name: string; readonly role: string } {
  const at = text.lastIndexOf('=')
  return at < 0 ? { name: text, role: 'metric' } : { name: text.slice(0, at).trim(), role: text.slice(at + 1).trim() }
}

/** Whether one column alone can have the role. */
export function isOfOneColumn(role: string): boolean {
  return !several.has(role)
}

/** By role. Several names of one role have a line feed between them. */
function columnsIn(texts: readonly string[]): Record<string, string> {
  const columns: Record<string, string> = {}
  for (const text of texts) {
    const { name, role } = columnIn(text)
    if (name === '' || !roleNames.includes(role)) {
      throw new InputError(
        `--column: "${text}" is not NAME=ROLE; the roles are ${roleNames.join(', ')} (such as --column val_loss=metric)`,
      )
    }
    if (columns[role] !== undefined && isOfOneColumn(role)) {
      throw new InputError(
        role === 'metric'
          ? `--column: both "${columns[role]}" and "${name}" are to be the metric, of which there is one; what is measured beside it is ${name}=measurement`
          : `--column: both "${columns[role]}" and "${name}" are to be the ${role}; name one`,
      )
    }
    columns[role] = columns[role] === undefined ? name : `${columns[role]}\n${name}`
  }
  return columns
}

/** Throws a sentence that names the flag. */
export function asConstraint(text: string): Constraint {
  try {
    return constraintIn(text)
  } catch (cause) {
    throw new InputError(`--constraint: ${(cause as Error).message}`, { cause })
  }
}
