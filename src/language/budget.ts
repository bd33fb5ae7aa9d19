/** A limit on what answers may take, asked before each question and told the real figures after it. */
import { addUsage, costOf, noUsage, type Price, type Usage } from './usage.ts'

export interface Limit {
  /** Tokens, in and out together. */
  readonly tokens?: number | undefined
  readonly cost?: number | undefined
}

export interface Meter {
  spent(): Usage
  add(usage: Usage): void
  /** Why a question that takes about this much may not be asked any more; null while it may. */
  obstacle(estimate: Usage): string | null
}

/** Throws where money is limited and no price says what anything costs. */
export function startMeter(limit: Limit, price: Price | null): Meter {
  if (limit.cost !== undefined && price === null) {
    throw new Error(
      `The budget is ${limit.cost} in money, but no price is known; give the model's price, or a budget in tokens.`,
    )
  }
  let spent = noUsage
  return {
    spent: () => spent,
    add: usage => {
      spent = addUsage(spent, usage)
    },
    obstacle: estimate => {
      const after = addUsage(spent, estimate)
      if (limit.tokens !== undefined && after.input + after.output > limit.tokens) {
        return `the budget of ${limit.tokens} tokens does not reach any further (${spent.input + spent.output} are spent)`
      }
      if (limit.cost !== undefined && costOf(after, price)! > limit.cost) {
        return `the budget of ${limit.cost} does not reach any further (${costOf(spent, price)!.toPrecision(3)} is spent)`
      }
      return null
    },
  }
}
