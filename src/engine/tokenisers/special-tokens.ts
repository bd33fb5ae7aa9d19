/**
 * Special tokens: they get the ids behind those of the text.
 */

/** Throws a sentence for names that are empty or come twice. */
export function specialTokens(tokeniser: string, names: readonly string[], firstId: number): Map<string, number> {
  const specials = new Map<string, number>()
  for (const name of names) {
    if (name === '') throw new Error(`${tokeniser}: a special token needs a name`)
    if (specials.has(name)) throw new Error(`${tokeniser}: there are two special tokens called ${name}`)
    specials.set(name, firstId + specials.size)
  }
  return specials
}

/** The id of the special token that takes the place of what is unknown; null when there is none. */
export function unknownToken(
  tokeniser: string,
  name: string | undefined,
  specials: ReadonlyMap<string, number>,
): number | null {
  if (name === undefined) return null
  const id = specials.get(name)
  if (id === undefined)
    throw new Error(
      `${tokeniser}: the unknown token ${name} is not among the specials (${[...specials.keys()].join(', ')})`,
    )
  return id
}

/** Throws a sentence for a number that is not an id. */
export function checkId(id: number, position: number, vocabulary: number): void {
  if (!(Number.isInteger(id) && id >= 0 && id < vocabulary))
    throw new Error(`decode: token ${id} at position ${position} is not one of 0 to ${vocabulary - 1}`)
}
