/**
 * A limit on what answers may take. Each question reserves what it may take at most before it is asked, so that several at
 * once stay within it too, and the real figures take the place of the reservation afterwards.
 */
import { addUsage, costOf, noUsage, type Price, type Usage } from './usage.ts'

export interface Limit {
  /** Tokens, in and out together. */
  readonly tokens?: number | undefined
  readonly cost?: number | undefined
}

export interface Meter {
  /** Since it was started. */
  spent(): Usage
  /** Room for a question that takes this much at most, or why there is none. `settle` once it is answered, or was not. */
  reserve(estimate: Usage): { settle(usage: Usage): void } | { readonly obstacle: string }
}

/** `before` was spent already and counts. Throws where money is limited and no price says what anything costs. */
export function startMeter(limit: Limit, price: Price | null, before: Usage = noUsage): Meter {
  if (limit.cost !== undefined && price === null) {
    throw new Error(
      `The budget is ${limit.cost} in money, but no price is known; give the model's price, or a budget in tokens.`,
    )
  }
  let spent = noUsage
  const all = () => addUsage(before, spent)
  const open = new Set<Usage>()
  const obstacleTo = (estimate: Usage): string | null => {
    const after = [...open, estimate].reduce(addUsage, all())
    if (limit.tokens !== undefined && after.input + after.output > limit.tokens) {
      return `the budget of ${limit.tokens} tokens does not reach any further (${all().input + all().output} are spent, and the next question may take ${estimate.input + estimate.output})`
    }
    if (limit.cost !== undefined && costOf(after, price)! > limit.cost) {
      return `the budget of ${limit.cost} does not reach any further (${costOf(all(), price)!.toPrecision(3)} is spent, and the next question may cost ${costOf(estimate, price)!.toPrecision(3)})`
    }
    return null
  }
  return {
    spent: () => spent,
    reserve: estimate => {
      const obstacle = obstacleTo(estimate)
      if (obstacle !== null) return { obstacle }
      const reserved = { ...estimate }
      open.add(reserved)
      return {
        settle: usage => {
          open.delete(reserved)
          spent = addUsage(spent, usage)
        },
      }
    },
  }
}
