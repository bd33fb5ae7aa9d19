/** What answers take: tokens, and money where a price is known. Prices change too often to be kept here: the user gives one. */

/** Tokens as the provider counts them. */
export interface Usage {
  /** Requests that were answered. */
  readonly requests: number
  /** All tokens in, those that its prompt cache knew included. */
  readonly input: number
  /** Of these, what its prompt cache knew. */
  readonly cached: number
  /** All tokens out, what it thought included. */
  readonly output: number
}

export const noUsage: Usage = { requests: 0, input: 0, cached: 0, output: 0 }

export function addUsage(first: Usage, second: Usage): Usage {
  return {
    requests: first.requests + second.requests,
    input: first.input + second.input,
    cached: first.cached + second.cached,
    output: first.output + second.output,
  }
}

/** Money for a million tokens, in the user's currency. */
export interface Price {
  readonly input: number
  /** Tokens in that the prompt cache knew; as `input` where it is not given. */
  readonly cached?: number | undefined
  readonly output: number
}

/** Null where no price is known. */
export function costOf({ input, cached, output }: Usage, price: Price | null): number | null {
  if (price === null) return null
  const million = (input - cached) * price.input + cached * (price.cached ?? price.input) + output * price.output
  return million / 1e6
}

/** Characters a token, low for English and its numbers, so that estimates are rather too high than too low. */
const charactersAToken = 3

/** How many tokens a text is about. */
export function tokensOf(characters: number): number {
  return Math.ceil(characters / charactersAToken)
}
