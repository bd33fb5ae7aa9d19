/** The change a user means: the dirty tree, a patch, a branch, options set on the command line, or a sentence alone. */
import { z } from 'zod'
import { leftOut } from '../campaign/left-out.ts'
import { newOptions } from '../campaign/new-options.ts'
import { type ResolvedIntervention, resolveIntervention } from '../campaign/resolve-intervention.ts'
import { mergePatch } from '../experiment/configuration.ts'
import type { Intervention } from '../experiment/intervention.ts'
import { isJsonObject, type Json, type JsonObject } from '../experiment/json.ts'
import { pathOfGiven, textOfGiven } from './given-file.ts'
import { type Context, InputError, NothingToDo } from './operation.ts'
import type { Place } from './surroundings.ts'

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

/** The intervention that the flags describe; without any, the difference of the dirty tree from the reference. */
export async function proposedIntervention(
  sentence: string,
  flags: ChangeFlags,
  tags: readonly string[],
  place: Place,
  context: Context,
): Promise<ResolvedIntervention> {
  const overrides = await readOverrides(flags, context)
  const { diff, origin } = await readDiff(flags, overrides !== null, place, context)
  const intervention: Intervention = { sentence, overrides, diff, tags, origin }
  tellNewOptions(overrides, place)
  try {
    return await resolveIntervention(place.opened, place.environment.version, intervention)
  } catch (cause) {
    const message = (cause as Error).message
    if (message.startsWith('It changes nothing')) throw new NothingToDo(message)
    throw new InputError(message, { cause })
  }
}

/** A wrong name is no error, since a change may add an option; but it would be paid for without changing anything. */
function tellNewOptions(overrides: JsonObject | null, { environment, emit }: Place): void {
  const { configuration } = environment.version.reference
  for (const { option, meant } of newOptions(configuration, { overrides })) {
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
  { patch, branch }: ChangeFlags,
  hasOverrides: boolean,
  { opened, environment, ledger, emit }: Place,
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
      'Nothing is changed: this environment has a configuration, so say what to change with --set name=value.',
    )
  }
  if (branch !== undefined) {
    const other = await repository.resolveCommit(branch)
    if (other === null) throw new InputError(`--branch ${branch}: git knows no such branch or commit.`)
    return { diff: emptyAsNull(await repository.diffBetween(commit, other)), origin: branch }
  }
  const { diff, untracked, skipped } = await repository.diffOfWorkingTree(commit, {
    exclude: leftOut(opened, repository, ledger.path),
  })
  if (untracked.length > 0)
    emit({ type: 'note', text: `Untracked files that belong to the change: ${untracked.join(', ')}` })
  if (skipped.length > 0) emit({ type: 'note', text: `Left out of the change: ${skipped.join(', ')}` })
  if (diff === '' && !hasOverrides) {
    throw new NothingToDo(
      'Nothing is changed: the working tree equals the reference. Edit the code first, or give --patch, --branch or --set.',
    )
  }
  return { diff: emptyAsNull(diff), origin: diff === '' ? null : 'working tree' }
}

function emptyAsNull(diff: string): string | null {
  return diff === '' ? null : diff
}
