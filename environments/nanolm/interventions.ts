/**
 * What the cards mean for a recipe: every single card value that changes how it trains, and random pairs of them. Says
 * nothing about the constraints on size: whether an intervention keeps them is for its run to show.
 */
import { seededRandom } from '../../src/statistics/random.ts'
import type { Card, CardValue } from './cards.ts'
import { configurationProblems, effectiveKey, idleOptions } from './configuration.ts'
import type { Configuration, OptionName } from './options.ts'

export interface ProposedIntervention {
  readonly sentence: string
  readonly tags: readonly string[]
  /** Merge patch on the recipe: only what differs from it and is not idle before and after. */
  readonly overrides: Partial<Configuration>
  /** `card-name=value`, or two of them joined by ` + `. */
  readonly origin: string
}

export interface Proposals {
  /** In the order of the cards. */
  readonly singles: readonly ProposedIntervention[]
  readonly pairs: readonly ProposedIntervention[]
  /** Why a card's value cannot be used with this recipe, one sentence each. */
  readonly refused: readonly string[]
}

interface Choice {
  readonly card: Card
  readonly value: CardValue
}

/** Tries for each pair that is asked for: most random pairs are good, so running out means that there are no more. */
const triesPerPair = 50

/**
 * Values that leave the recipe as it is are dropped, also where they only set an option that is idle; of two that come to
 * the same configuration the first is kept. Each card of a pair sets other options and adds something of its own.
 * Fewer pairs than asked for come back when there are no more.
 */
export function interventions(
  recipe: Configuration,
  cards: readonly Card[],
  { pairs, seed }: { readonly pairs: number; readonly seed: number },
): Proposals {
  const seen = new Set([effectiveKey(recipe)])
  const choices: Choice[] = []
  const refused: string[] = []
  for (const card of cards) {
    for (const value of card.values) {
      const configuration = { ...recipe, ...value.overrides }
      const problems = configurationProblems(configuration)
      refused.push(...problems.map(problem => `Card "${card.name}" with ${value.text}: ${problem}`))
      if (problems.length > 0 || seen.has(effectiveKey(configuration))) continue
      seen.add(effectiveKey(configuration))
      choices.push({ card, value })
    }
  }
  return {
    singles: choices.map(choice => proposal(recipe, [choice])),
    pairs: randomPairs(recipe, choices, seen, pairs, seed),
    refused,
  }
}

function randomPairs(
  recipe: Configuration,
  choices: readonly Choice[],
  seenBefore: ReadonlySet<string>,
  count: number,
  seed: number,
): ProposedIntervention[] {
  const random = seededRandom(seed).fork('pairs')
  const seen = new Set(seenBefore)
  const found: ProposedIntervention[] = []
  for (let attempt = 0; attempt < count * triesPerPair && found.length < count && choices.length > 1; attempt++) {
    const pair = random.sample(choices, 2)
    if (sharesOption(pair)) continue
    const configuration = { ...recipe, ...mergedOverrides(pair) }
    const key = effectiveKey(configuration)
    if (configurationProblems(configuration).length > 0 || seen.has(key)) continue
    seen.add(key)
    found.push(proposal(recipe, pair))
  }
  return found
}

function sharesOption(pair: readonly Choice[]): boolean {
  const [first, second] = pair.map(({ value }) => Object.keys(value.overrides))
  return first!.some(option => second!.includes(option))
}

function mergedOverrides(choices: readonly Choice[]): Partial<Configuration> {
  return Object.assign({}, ...choices.map(({ value }) => value.overrides))
}

function proposal(recipe: Configuration, choices: readonly Choice[]): ProposedIntervention {
  const overrides = mergedOverrides(choices)
  const idleBefore = idleOptions(recipe)
  const idleAfter = idleOptions({ ...recipe, ...overrides })
  const isIdle = (option: OptionName) => idleBefore.includes(option) && idleAfter.includes(option)
  const changed = Object.entries(overrides) as [OptionName, Configuration[OptionName]][]
  return {
    sentence: choices.map(({ card, value }) => card.sentence.replaceAll('{value}', value.text)).join(' '),
    tags: [...new Set(choices.map(({ card }) => card.tag))],
    overrides: Object.fromEntries(changed.filter(([option, value]) => recipe[option] !== value && !isIdle(option))),
    origin: choices.map(({ card, value }) => `${card.name}=${value.text}`).join(' + '),
  }
}
