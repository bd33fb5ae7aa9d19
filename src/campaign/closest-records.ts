/**
 * The records that a person would want to see beside a candidate: of this very proposal, of one idea in another form, or in words
 * that are alike. Good and bad alike; what speaks against a candidate is for the gate.
 */
import type { ChangedOption } from '../experiment/intervention.ts'
import { canonicalJson } from '../experiment/json.ts'
import { optionName } from '../experiment/option-name.ts'
import type { Candidate, ExperimentRecord } from '../experiment/record.ts'
import { words } from '../text/words.ts'
import { isSameIdea, type Traits, traitsOf } from './same-idea.ts'

/** Nearest first: the same words or the same values, the same idea with others, a sentence that shares much. */
export const closenesses = ['same', 'same idea', 'alike'] as const
export type Closeness = (typeof closenesses)[number]

export interface CloseRecord {
  readonly record: ExperimentRecord
  readonly closeness: Closeness
}

/** From this share of common words on (Dice's coefficient, numbers left out), a sentence is alike. */
const alikeFrom = 0.5

/** Of each candidate, the nearest first, of equals those that go the same way, and the newest of these. Only records that have an outcome. */
export function closestRecords(
  candidates: readonly Candidate[],
  records: readonly ExperimentRecord[],
): CloseRecord[][] {
  const known = records
    .filter(({ outcome }) => outcome !== null)
    .map(record => ({ record, traits: traitsOf(record), words: contentOf(record) }))
  return candidates.map(candidate => {
    const own = traitsOf(candidate)
    const ownWords = contentOf(candidate)
    return known
      .flatMap(each => {
        const likeness = shared(ownWords, each.words)
        const closeness = closenessOf(own, each.traits, likeness)
        const goesThatWay = own.idea.way !== 0 && own.idea.way === each.traits.idea.way
        return closeness === null ? [] : [{ record: each.record, closeness, likeness, goesThatWay }]
      })
      .sort(
        (a, b) =>
          closenesses.indexOf(a.closeness) - closenesses.indexOf(b.closeness) ||
          Number(b.goesThatWay) - Number(a.goesThatWay) ||
          b.likeness - a.likeness ||
          b.record.id - a.record.id,
      )
      .map(({ record, closeness }) => ({ record, closeness }))
  })
}

function closenessOf(own: Traits<Candidate>, other: Traits<Candidate>, likeness: number): Closeness | null {
  if (sayTheSame(own.it, other.it) || changeTheSame(own, other)) return 'same'
  if (isSameIdea(own, other)) return 'same idea'
  return likeness >= alikeFrom ? 'alike' : null
}

function sayTheSame({ intervention: own }: Candidate, { intervention: other }: Candidate): boolean {
  const said = words(own.sentence).join(' ')
  return said !== '' && said === words(other.sentence).join(' ')
}

/** The same options, to the same values, and nothing else is known to be changed. */
function changeTheSame(own: Traits<Candidate>, other: Traits<Candidate>): boolean {
  if (!own.plain || !other.plain) return false
  return valuesOf(own.it.changes) === valuesOf(other.it.changes)
}

function valuesOf(changes: readonly ChangedOption[]): string {
  return canonicalJson(changes.map(({ option, to }) => [optionName(option), to ?? null]).sort())
}

function contentOf({ intervention }: Candidate): ReadonlySet<string> {
  return new Set(words(intervention.sentence).filter(word => !/^[\d.]/.test(word) && !joining.has(word)))
}

const joining = new Set(
  'a an and as at be by for from how if in into is it its of on or per see than that the this to via when where with'.split(
    ' ',
  ),
)

function shared(own: ReadonlySet<string>, other: ReadonlySet<string>): number {
  return own.size + other.size === 0 ? 0 : (2 * own.intersection(other).size) / (own.size + other.size)
}
