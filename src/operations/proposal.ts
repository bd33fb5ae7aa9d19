/** The change a user means: the dirty tree, a patch, a branch, options set on the command line, or a sentence alone. */
import { z } from 'zod'
import { leftOut } from '../campaign/left-out.ts'
import { newOptions } from '../campaign/new-options.ts'
import type { OpenEnvironment } from '../campaign/open-environment.ts'
import { type ResolvedIntervention, resolveIntervention } from '../campaign/resolve-intervention.ts'
import { mergePatch } from '../experiment/configuration.ts'
import { changedOptions } from '../experiment/diff-options.ts'
import type { Environment } from '../experiment/environment.ts'
import { interventionHash } from '../experiment/identity.ts'
import type { Intervention } from '../experiment/intervention.ts'
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../experiment/json.ts'
import { pathOfGiven, textOfGiven } from './given-file.ts'
import { type Context, InputError, NothingToDo } from './operation.ts'
import type { KnownPlace } from './surroundings.ts'

/** The flags by which `run` and `forecast` say what is changed. */
export const changeFlags = {
  set: z
    .array(z.string())
    .optional()
    .describe('options to change, as name=value (dots reach inside: optimiser.rate=0.01)'),
  overrides: z.string().optional().describe('a JSON file with options to change (a merge patch)'),
  patch: z.string().optional().describe('a patch file, instead of the dirty tree'),
  branch: z.string().optional().describe('a branch or commit, instead of the dirty tree'),
}

export interface ChangeFlags {
  readonly set?: string[] | undefined
  readonly overrides?: string | undefined
  readonly patch?: string | undefined
  readonly branch?: string | undefined
}

/** What the flags mean to whoever gave them, for a sentence on what else could have been given. */
const ways = {
  run: 'Edit the code first, or give --patch, --branch or --set.',
  forecast:
    'Say the change in words (almanac forecast "halve the batch"), edit the code, or give --patch, --branch or --set.',
}

/**
 * The intervention that the flags describe; without any, the difference of the dirty tree from the reference. In an environment that
 * was imported only options can be changed. `misspelt` says what to do about an option that is probably spelled wrongly; files that the command was
 * given, `otherFiles` too, are no part of the change.
 */
export async function proposedIntervention(
  sentence: string,
  flags: ChangeFlags,
  tags: readonly string[],
  place: KnownPlace,
  context: Context,
  misspelt: 'refuse' | 'tell' = 'tell',
  otherFiles: readonly string[] = [],
): Promise<ResolvedIntervention> {
  const { opened, environment } = place
  const overrides = await readOverrides(flags, context)
  const { diff, origin } =
    opened === null
      ? { diff: withoutCode(flags, overrides, environment), origin: null }
      : await readDiff(
          flags,
          overrides !== null,
          sentence === '' ? ways.forecast : ways.run,
          otherFiles,
          { ...place, opened },
          context,
        )
  const intervention: Intervention = { sentence, overrides, diff, tags, origin }
  checkNewOptions(overrides, environment, context, misspelt)
  try {
    return opened === null
      ? resolveImported(environment, intervention)
      : await resolveIntervention(opened, environment.version, intervention)
  } catch (cause) {
    const message = (cause as Error).message
    if (message.startsWith('It changes nothing')) throw new NothingToDo(message)
    throw new InputError(message, { cause })
  }
}

/** In an environment that is known from the ledger alone: options of its latest reference. Throws a sentence for anything else. */
export function resolveImported({ family, version }: Environment, intervention: Intervention): ResolvedIntervention {
  const { reference } = version
  const { overrides, diff } = intervention
  if (diff !== null) throw new Error(`It has a diff, but the code of ${family.name} is not here; say it in words.`)
  if (overrides === null) throw new Error('It says nothing to change: no overrides.')
  if (reference.configuration === null)
    throw new Error(`It has options, but ${family.name} was imported without a configuration; say it in words.`)
  const configuration = mergePatch(reference.configuration, overrides)
  if (canonicalJson(configuration) === canonicalJson(reference.configuration))
    throw new Error('It changes nothing: the result equals the reference.')
  return {
    intervention,
    changes: changedOptions(reference, intervention),
    hash: interventionHash({ configuration, tree: reference.tree }),
    configuration,
    tree: reference.tree,
  }
}

/** Null, where there is something else to forecast. */
function withoutCode(flags: ChangeFlags, overrides: JsonObject | null, { family }: Environment): null {
  const code = flags.patch === undefined ? flags.branch : flags.patch
  if (code !== undefined)
    throw new InputError(`${code}: the code of ${family.name} is not here to compare with; say the change in words.`)
  if (overrides !== null) return null
  throw new InputError(
    `Say what is to be forecast in ${family.name}: in words (almanac forecast "halve the batch"), or with --set name=value.`,
  )
}

/**
 * A new name is no error, since a change may add an option; but one that is spelled wrongly would be paid for without changing
 * anything, and is refused where that is asked for.
 */
function checkNewOptions(
  overrides: JsonObject | null,
  { version }: Environment,
  { emit }: Context,
  misspelt: 'refuse' | 'tell',
): void {
  const added = newOptions(version.reference.configuration, { overrides })
  const wrong = added.find(each => each.misspelt)
  if (wrong !== undefined && misspelt === 'refuse') {
    throw new InputError(
      `The reference configuration has no option "${wrong.option}". Did you mean "${wrong.meant}"? It was not run; --anyway runs it with the new option.`,
    )
  }
  for (const { option, meant } of added) {
    const instead = meant === null ? '' : ` Did you mean "${meant}"?`
    emit({ type: 'note', text: `The reference configuration has no option "${option}": the change adds it.${instead}` })
  }
}

async function readOverrides({ set = [], overrides }: ChangeFlags, context: Context): Promise<JsonObject | null> {
  let patch: JsonObject | null = null
  if (overrides !== undefined) {
    const value = jsonOf(await textOfGiven(pathOfGiven(overrides, context)))
    if (!isJsonObject(value)) throw new InputError(`--overrides ${overrides}: expected a JSON object of options.`)
    patch = value
  }
  for (const assignment of set) {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(assignment) ?? []
    if (name === undefined || text === undefined || name.split('.').includes(''))
      throw new InputError(`--set ${assignment}: expected name=value.`)
    if (jsonOf(text) === undefined && /^[^,"'[\]{}]*,\s*[\w.-]+=/.test(text)) {
      const way = `--set ${assignment.replace(/,\s*/, ' ')}`
      throw new InputError(
        `--set ${assignment}: several options have spaces between them (${way}); a text with a comma in it is given as JSON, in quotes.`,
      )
    }
    const value = name.split('.').reduceRight<Json>((inner, key) => ({ [key]: inner }), parsedValue(text))
    patch = mergePatch(patch ?? {}, value as JsonObject) as JsonObject
  }
  return patch
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** JSON where it is JSON (numbers, true, null, lists), else the text itself. */
function parsedValue(text: string): Json {
  return jsonOf(text) ?? text
}

async function readDiff(
  { patch, branch, overrides }: ChangeFlags,
  hasOverrides: boolean,
  ways: string,
  otherFiles: readonly string[],
  { opened, environment, ledger }: KnownPlace & { readonly opened: OpenEnvironment },
  context: Context,
): Promise<{ diff: string | null; origin: string | null }> {
  const { repository } = opened
  if (patch !== undefined && branch !== undefined) throw new InputError('Give --patch or --branch, not both.')
  if (patch !== undefined) return { diff: await textOfGiven(pathOfGiven(patch, context)), origin: patch }
  const commit = environment.version.reference.commit
  if (repository === null || commit === null) {
    if (branch !== undefined)
      throw new InputError(`--branch ${branch}: the environment has no git reference to compare with.`)
    if (hasOverrides) return { diff: null, origin: null }
    throw new InputError(
      'Nothing is changed: say what to change, with --set name=value (or in words, for a forecast alone: almanac forecast "warm up longer").',
    )
  }
  if (branch !== undefined) {
    const other = await repository.resolveCommit(branch)
    if (other === null) throw new InputError(`--branch ${branch}: git knows no such branch or commit.`)
    return { diff: emptyAsNull(await repository.diffBetween(commit, other)), origin: branch }
  }
  const given = [...(overrides === undefined ? [] : [overrides]), ...otherFiles]
  const { diff, untracked, skipped } = await repository.diffOfWorkingTree(commit, {
    exclude: leftOut(
      opened,
      repository,
      ledger.path,
      given.map(name => pathOfGiven(name, context)),
    ),
  })
  if (untracked.length > 0)
    context.emit({ type: 'note', text: `Untracked files that belong to the change: ${untracked.join(', ')}` })
  if (skipped.length > 0) context.emit({ type: 'note', text: `Left out of the change: ${skipped.join(', ')}` })
  if (diff === '' && !hasOverrides) {
    throw new NothingToDo(`Nothing is changed: the working tree equals the reference. ${ways}`)
  }
  return { diff: emptyAsNull(diff), origin: diff === '' ? null : 'working tree' }
}

function emptyAsNull(diff: string): string | null {
  return diff === '' ? null : diff
}
