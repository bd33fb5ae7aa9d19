/**
 * Which interventions are near-duplicates of each other: the guard against a forecaster that is tested on what it was
 * shown. Groups are transitive: a near-duplicate of a near-duplicate is one.
 */
import { changedLines } from '../text/similarity.ts'
import { words } from '../text/words.ts'
import { alikePairs } from './alike-pairs.ts'
import { optionName } from './option-name.ts'
import type { Candidate } from './record.ts'

/**
 * The group of each item, numbered from 0 in order of first appearance. Two items belong together when they change the
 * same options under the same tags (whatever the values, in whatever file and spelling), when their diffs are alike (Dice's coefficient of the changed
 * lines at least `threshold`), when their overrides are proposed in the same sentence under the same tags (one proposal
 * changes fewer options of a reference that has some of it already), or, where at least one of them is known by its words
 * alone, when the sentences are alike (Dice over their words, all numbers counting as equal).
 */
export function nearDuplicateGroups(items: readonly Candidate[], threshold = 0.8): number[] {
  if (!(threshold > 0 && threshold <= 1)) {
    throw new Error(`nearDuplicateGroups: the threshold is ${threshold}; it must be above 0 and at most 1`)
  }
  const groups = new Groups(items.length)
  const first = new Map<string, number>()
  const sameAs = (key: string, item: number) => {
    const other = first.get(key)
    if (other === undefined) first.set(key, item)
    else groups.join(item, other)
  }
  for (const [item, { intervention, changes }] of items.entries()) {
    if (changes.length > 0) {
      const options = [...new Set(changes.map(({ option }) => optionName(option)))].sort()
      sameAs(JSON.stringify(['options', options, [...intervention.tags].sort()]), item)
    }
    if (intervention.diff !== null) sameAs(JSON.stringify(['diff', intervention.diff]), item)
    else if (intervention.overrides !== null && intervention.sentence.trim() !== '') {
      sameAs(JSON.stringify(['sentence', intervention.sentence, [...intervention.tags].sort()]), item)
    }
  }
  const lines = items.map(({ intervention }) => changedLines(intervention.diff ?? ''))
  for (const [a, b] of alikePairs(lines, threshold)) groups.join(a, b)
  const wordsOnly = items.map(({ intervention }) => intervention.overrides === null && intervention.diff === null)
  if (wordsOnly.includes(true)) {
    const sentences = items.map(({ intervention }) => wordCounts(intervention.sentence))
    for (const [a, b] of alikePairs(sentences, threshold)) if (wordsOnly[a] || wordsOnly[b]) groups.join(a, b)
  }
  return groups.numbered()
}

/** How often each word occurs in a sentence; all numbers count as one word. */
function wordCounts(sentence: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const word of words(sentence)) {
    const counted = /^[\d.]/.test(word) ? '#' : word
    counts.set(counted, (counts.get(counted) ?? 0) + 1)
  }
  return counts
}

/** Union-find with path halving. */
class Groups {
  readonly #parent: Int32Array

  constructor(size: number) {
    this.#parent = Int32Array.from({ length: size }, (_, item) => item)
  }

  join(a: number, b: number): void {
    this.#parent[this.#root(a)] = this.#root(b)
  }

  numbered(): number[] {
    const numbers = new Map<number, number>()
    return Array.from(this.#parent, (_, item) => {
      const root = this.#root(item)
      if (!numbers.has(root)) numbers.set(root, numbers.size)
      return numbers.get(root)!
    })
  }

  #root(item: number): number {
    let at = item
    while (this.#parent[at] !== at) {
      this.#parent[at] = this.#parent[this.#parent[at]!]!
      at = this.#parent[at]!
    }
    return at
  }
}
