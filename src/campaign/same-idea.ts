/**
 * Whether two interventions are one idea in two forms, and how far one goes beside the other. Stricter than near-duplicates, which
 * guard evaluations and must rather take too many together: this is said to people, and has to be true.
 */
import type { ChangedOption } from '../experiment/intervention.ts'
import { canonicalJson } from '../experiment/json.ts'
import { optionName } from '../experiment/option-name.ts'
import type { Candidate } from '../experiment/record.ts'
import { isAboutTheSame, type ProposedIdea, proposedIdea } from '../text/idea-words.ts'
import { type ChangedLines, changedLines, linesSimilarity } from '../text/similarity.ts'

/** From this likeness of changed lines on: Dice's coefficient, as for near-duplicates. */
const alikeFrom = 0.8

/** How a candidate stands to a record: it goes at least as far, in the same direction but less far, or only reads like it. */
export type Likeness = 'as far' | 'less far' | 'in words'

export interface Traits<Item extends Candidate> {
  readonly it: Item
  readonly options: ReadonlyMap<string, ChangedOption>
  readonly lines: ChangedLines
  /** Whether the options say all there is to it. */
  readonly plain: boolean
  readonly idea: ProposedIdea
  /** Nothing else is known of it. */
  readonly wordsAlone: boolean
}

export function traitsOf<Item extends Candidate>(it: Item): Traits<Item> {
  const { diff, overrides, sentence } = it.intervention
  const options = new Map(it.changes.map(change => [optionName(change.option), change]))
  const lines = changedLines(diff ?? '')
  const lineCount = [...lines.values()].reduce((sum, count) => sum + count, 0)
  return {
    it,
    options,
    lines,
    plain: options.size > 0 && lineCount <= 2 * options.size,
    idea: proposedIdea(sentence),
    wordsAlone: diff === null && overrides === null,
  }
}

/**
 * The same options with whatever values, or diffs that are alike; and where one of the two is known by its words alone, sentences about
 * the same things, whatever numbers they state: depth 8 and depth 11 are two forms of one idea, 1d and 2d two ideas. Symmetric, and not
 * transitive.
 */
export function isSameIdea(first: Traits<Candidate>, second: Traits<Candidate>): boolean {
  if (first.wordsAlone || second.wordsAlone) return isAboutTheSame(first.idea.about, second.idea.about)
  return changeTheSame(first, second) || linesSimilarity(first.lines, second.lines) >= alikeFrom
}

/** Null where the two are no one idea, or the candidate goes another way. */
export function likenessOf(candidate: Traits<Candidate>, record: Traits<Candidate>): Likeness | null {
  if (!isSameIdea(candidate, record)) return null
  if (candidate.wordsAlone || record.wordsAlone) return likenessOfWords(candidate.idea, record.idea)
  let likeness: Likeness = 'as far'
  for (const [name, change] of record.options) {
    const own = candidate.options.get(name)
    if (own === undefined) continue
    const distance = comparedWith(own, change)
    if (distance === null) return null
    if (distance === 'less far') likeness = distance
  }
  return likeness
}

/**
 * In the order of the items, each joins the first group of whose members every one is the same idea as it: what is alike only through
 * others in between is not claimed to be one. Members that could not be told apart are compared once.
 */
export function ideaGroups<Item extends Candidate>(items: readonly Item[]): Item[][] {
  const groups: { readonly members: Item[]; readonly distinct: Map<string, Traits<Item>> }[] = []
  for (const item of items) {
    const own = traitsOf(item)
    const joined = groups.find(({ distinct }) => distinct.values().every(other => isSameIdea(own, other)))
    const group = joined ?? { members: [], distinct: new Map<string, Traits<Item>>() }
    if (joined === undefined) groups.push(group)
    group.members.push(item)
    group.distinct.set(comparedBy(own), own)
  }
  return groups.map(({ members }) => members)
}

/** All that `isSameIdea` looks at. */
function comparedBy({ it, options, plain, idea, wordsAlone }: Traits<Candidate>): string {
  const { diff } = it.intervention
  return JSON.stringify([wordsAlone, plain, [...options.keys()].sort(), diff, [...idea.about].sort()])
}

function changeTheSame(first: Traits<Candidate>, second: Traits<Candidate>): boolean {
  return (
    first.plain &&
    second.plain &&
    first.options.size === second.options.size &&
    [...second.options.keys()].every(name => first.options.has(name))
  )
}

/**
 * Values that sentences state are compared like those of an option; without them, the way that their words go. Of several values nobody
 * knows which is which.
 */
function likenessOfWords(own: ProposedIdea, other: ProposedIdea): Likeness | null {
  if (own.way * other.way < 0) return null
  const distance = own.change !== null && other.change !== null ? distanceInWords(own.change, other.change) : 'as far'
  if (distance !== 'as far') return distance
  return own.way === 0 && other.way === 0 && own.numbers !== other.numbers ? null : 'in words'
}

/** Where one of the two does not say what it started from, both started from the same. */
function distanceInWords(
  own: NonNullable<ProposedIdea['change']>,
  other: NonNullable<ProposedIdea['change']>,
): 'as far' | 'less far' | null {
  const [from, otherFrom] = [own.from ?? other.from, other.from ?? own.from]
  if (from === null || otherFrom === null) return 'as far'
  return distanceOf({ from, to: own.to }, { from: otherFrom, to: other.to })
}

/** How far a change of an option goes beside another change of it; null where it goes elsewhere. */
function comparedWith(own: ChangedOption, other: ChangedOption): 'as far' | 'less far' | null {
  if (canonicalJson(own.to ?? null) === canonicalJson(other.to ?? null)) return 'as far'
  const [from, to, otherFrom, otherTo] = [own.from, own.to, other.from, other.to]
  if (typeof from !== 'number' || typeof to !== 'number') return null
  if (typeof otherFrom !== 'number' || typeof otherTo !== 'number') return null
  return distanceOf({ from, to }, { from: otherFrom, to: otherTo })
}

interface NumberChange {
  readonly from: number
  readonly to: number
}

function distanceOf(own: NumberChange, other: NumberChange): 'as far' | 'less far' | null {
  const way = Math.sign(own.to - own.from)
  if (way !== Math.sign(other.to - other.from)) return null
  return way * (own.to - other.to) >= 0 ? 'as far' : 'less far'
}
