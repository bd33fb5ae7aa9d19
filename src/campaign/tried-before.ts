/**
 * What a candidate tries that was tried before and did not help: narrower than near-duplicates, which take all values of
 * an option together. That a rate of 3 was worse says something about 10 and nothing about 0.1.
 */
import type { Environment } from '../experiment/environment.ts'
import type { ChangedOption } from '../experiment/intervention.ts'
import { canonicalJson } from '../experiment/json.ts'
import { wordCounts } from '../experiment/near-duplicates.ts'
import { optionName } from '../experiment/option-name.ts'
import type { Candidate, ExperimentRecord } from '../experiment/record.ts'
import { type ChangedLines, changedLines, linesSimilarity } from '../text/similarity.ts'

/** From this likeness of changed lines, or of words, on: Dice's coefficient, as for near-duplicates. */
const alikeFrom = 0.8

/** How a candidate stands to a record: it goes at least as far, in the same direction but less far, or only reads like it. */
export type Likeness = 'as far' | 'less far' | 'in words'

const nearness: readonly Likeness[] = ['as far', 'in words', 'less far']

export interface Precedent {
  readonly record: ExperimentRecord
  readonly likeness: Likeness
  /**
   * Whether it answers the question: measured against this reference, with the verdict `worse` or `failed`, the candidate
   * going at least as far, and nothing that contradicts it. Otherwise something differs, and the user may know what it is worth.
   */
  readonly settles: boolean
}

/**
 * The records that speak against each candidate, those that settle it first, then the nearest and newest: failed or worse, or with
 * a gain below zero that was not measured often enough for a verdict.
 *
 * A record settles nothing when the candidate's diff may mend its crash, or when a record between the two did help: then
 * the way from one to the other is not downhill all along.
 */
export function precedents(
  candidates: readonly Candidate[],
  records: readonly ExperimentRecord[],
  environment: Environment,
): Precedent[][] {
  const known = records.filter(({ outcome, verdict }) => outcome !== null && verdict !== null).map(traitsOf)
  return candidates.map(candidate => {
    const own = traitsOf(candidate)
    const related = known.flatMap(each => {
      const likeness = likenessOf(own, each)
      return likeness === null ? [] : [{ ...each, likeness }]
    })
    const helped = related.filter(({ it, likeness }) => likeness === 'as far' && helps(it) && isCurrent(it))
    return related
      .filter(({ it }) => isBad(it))
      .map(({ it, likeness, ...traits }): Precedent => {
        const contradicted = helped.some(other => likenessOf(other, { it, ...traits }) === 'as far')
        const judged = it.verdict === 'worse' || it.verdict === 'failed'
        const settles = likeness === 'as far' && judged && isCurrent(it) && !mayMend(candidate, it) && !contradicted
        return { record: it, likeness, settles }
      })
      .sort(
        (a, b) =>
          Number(b.settles) - Number(a.settles) ||
          nearness.indexOf(a.likeness) - nearness.indexOf(b.likeness) ||
          b.record.id - a.record.id,
      )
  })

  function isCurrent(record: ExperimentRecord): boolean {
    return record.environment.version.id === environment.version.id
  }
}

function isBad({ verdict, measured }: ExperimentRecord): boolean {
  return verdict === 'failed' || verdict === 'worse' || (verdict === 'inconclusive' && (measured?.gain ?? 0) < 0)
}

function helps({ verdict, measured }: ExperimentRecord): boolean {
  return verdict === 'better' || (verdict === 'inconclusive' && measured !== null && measured.gain >= 0)
}

/** Code that crashed may have had a mistake that another diff does not have; a configuration has none to mend. */
function mayMend({ intervention }: Candidate, { outcome, intervention: before }: ExperimentRecord): boolean {
  return outcome === 'crashed' && intervention.diff !== null && intervention.diff !== before.diff
}

interface Traits<Item extends Candidate> {
  readonly it: Item
  readonly options: ReadonlyMap<string, ChangedOption>
  readonly lines: ChangedLines
  /** Whether the options say all there is to it. */
  readonly plain: boolean
  readonly words: ReadonlyMap<string, number>
  /** Nothing else is known of it. */
  readonly wordsAlone: boolean
}

function traitsOf<Item extends Candidate>(it: Item): Traits<Item> {
  const { diff, overrides, sentence } = it.intervention
  const options = new Map(it.changes.map(change => [optionName(change.option), change]))
  const lines = changedLines(diff ?? '')
  const lineCount = [...lines.values()].reduce((sum, count) => sum + count, 0)
  return {
    it,
    options,
    lines,
    plain: options.size > 0 && lineCount <= 2 * options.size,
    words: wordCounts(sentence),
    wordsAlone: diff === null && overrides === null,
  }
}

/** Null where the two are not alike, or the candidate goes another way. */
function likenessOf(candidate: Traits<Candidate>, record: Traits<Candidate>): Likeness | null {
  if (record.wordsAlone || candidate.wordsAlone) {
    return linesSimilarity(candidate.words, record.words) >= alikeFrom ? 'in words' : null
  }
  const sameOptions =
    candidate.plain &&
    record.plain &&
    candidate.options.size === record.options.size &&
    [...record.options.keys()].every(name => candidate.options.has(name))
  if (!sameOptions && linesSimilarity(candidate.lines, record.lines) < alikeFrom) return null
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

/** How far a change of an option goes beside another change of it; null where it goes elsewhere. */
function comparedWith(own: ChangedOption, other: ChangedOption): 'as far' | 'less far' | null {
  if (canonicalJson(own.to ?? null) === canonicalJson(other.to ?? null)) return 'as far'
  const [from, to, otherFrom, otherTo] = [own.from, own.to, other.from, other.to]
  if (![from, to, otherFrom, otherTo].every(value => typeof value === 'number')) return null
  const way = (to as number) - (from as number)
  const otherWay = (otherTo as number) - (otherFrom as number)
  if (Math.sign(way) !== Math.sign(otherWay)) return null
  return Math.sign(way) * ((to as number) - (otherTo as number)) >= 0 ? 'as far' : 'less far'
}
