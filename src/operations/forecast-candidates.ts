/** What `forecast` is asked about: sentences, a file of candidates, options, or a change of the code; and what to do next with it. */
import { parseCandidates } from '../campaign/candidates.ts'
import { resolveIntervention } from '../campaign/resolve-intervention.ts'
import type { Intervention } from '../experiment/intervention.ts'
import type { Candidate } from '../experiment/record.ts'
import { pathOfGiven, textOfGiven } from './given-file.ts'
import type { Context } from './operation.ts'
import { type ChangeFlags, proposedIntervention, resolveImported } from './proposal.ts'
import { shellWord } from './shell-word.ts'
import type { KnownPlace } from './surroundings.ts'

/** A candidate with what it is called here: its sentence, or where the change comes from. */
export interface Named {
  readonly name: string
  readonly candidate: Candidate
  /** What is the same when run; null for words alone. */
  readonly hash: string | null
}

export type What = ChangeFlags & {
  readonly sentences?: string[] | undefined
  readonly candidates?: string | undefined
}

interface Unusable {
  readonly sentence: string
  readonly reason: string
}

export async function candidatesOf(
  { sentences = [], candidates: file, ...flags }: What,
  place: KnownPlace,
  context: Context,
): Promise<{ candidates: Named[]; dropped: Unusable[] }> {
  const { opened, environment } = place
  const candidates: Named[] = sentences.map(sentence => ({
    name: sentence,
    hash: null,
    candidate: { intervention: { sentence, overrides: null, diff: null, tags: [], origin: null }, changes: [] },
  }))
  const dropped: Unusable[] = []
  if (file !== undefined) {
    const read = parseCandidates(await textOfGiven(pathOfGiven(file, context)), file)
    for (const each of read.unusable) dropped.push(each)
    const resolve = async (intervention: Intervention) =>
      opened === null
        ? resolveImported(environment, intervention)
        : resolveIntervention(opened, environment.version, intervention)
    for (const intervention of read.interventions) {
      try {
        const candidate = await resolve(intervention)
        candidates.push({ name: intervention.sentence, candidate, hash: candidate.hash })
      } catch (error) {
        dropped.push({ sentence: intervention.sentence, reason: (error as Error).message })
      }
    }
  }
  if (isChange(flags) || (sentences.length === 0 && file === undefined)) {
    // No sentence: the name of a file or a branch says nothing of what the change may bring.
    const candidate = await proposedIntervention(
      '',
      flags,
      [],
      place,
      context,
      'tell',
      file === undefined ? [] : [file],
    )
    candidates.push({ name: nameOf(flags), candidate, hash: candidate.hash })
  }
  return { candidates, dropped }
}

function isChange(flags: ChangeFlags): boolean {
  return Object.values(flags).some(flag => flag !== undefined)
}

function nameOf({ patch, branch, set, overrides }: ChangeFlags): string {
  return patch ?? branch ?? set?.join(', ') ?? overrides ?? 'the working tree'
}

/** The command that goes on from here, with the sentence of the best candidate. */
export function whatNext(
  { sentences = [], candidates, ...flags }: What,
  best: string,
  { environment, opened }: KnownPlace,
  sameFlags = '',
): string {
  if (opened === null) {
    const name = shellWord(environment.family.name)
    return `almanac evaluate --environment ${name}${sameFlags}  # how far to trust forecasts here`
  }
  if (isChange(flags) || (sentences.length === 0 && candidates === undefined)) {
    return `almanac run -m "what it changes, and why it might help"${flagsText(flags)}${sameFlags}`
  }
  if (candidates !== undefined) return `almanac campaign start --candidates ${shellWord(candidates)}${sameFlags}`
  const message = `almanac run -m ${shellWord(best)}`
  return environment.version.reference.commit === null
    ? `${message} --set name=value${sameFlags}`
    : `edit the code, then: ${message}${sameFlags}`
}

function flagsText({ set, overrides, patch, branch }: ChangeFlags): string {
  const one = (flag: string, value: string | undefined) => (value === undefined ? '' : ` --${flag} ${shellWord(value)}`)
  const options = set === undefined ? '' : ` --set ${set.map(shellWord).join(' ')}`
  return `${options}${one('overrides', overrides)}${one('patch', patch)}${one('branch', branch)}`
}
