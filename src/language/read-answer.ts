/** From a model's text to a checked answer, or to the sentence that says what is wrong with it. */
import type { z } from 'zod'

/** What an answer must be. */
export interface Expected<T> {
  readonly schema: z.ZodType<T>
  /** What the schema cannot say: what is wrong with the answer, in a sentence for the model; null when nothing is. */
  readonly check: (answer: T) => string | null
}

const longestReason = 500

export type Read<T> = { readonly answer: T } | { readonly wrong: string }

export function readAnswer<T>(text: string, { schema, check }: Expected<T>): Read<T> {
  let value: unknown
  try {
    value = JSON.parse(jsonIn(text))
  } catch (error) {
    return { wrong: text.trim() === '' ? 'it is empty' : `it is not JSON: ${(error as Error).message}` }
  }
  const parsed = schema.safeParse(value)
  if (!parsed.success) {
    const issues = parsed.error.issues.slice(0, 3)
    const wrong = issues.map(({ path, message }) => `${path.join('.') || 'the answer'}: ${message}`).join('; ')
    // It may name keys that the model made up, of any length.
    return { wrong: wrong.length > longestReason ? `${wrong.slice(0, longestReason)}…` : wrong }
  }
  const wrong = check(parsed.data)
  return wrong === null ? { answer: parsed.data } : { wrong }
}

/**
 * Where the object is: servers that cannot hold a model to a schema let it think aloud first, and put the answer between
 * fences. Nothing inside the object is mended.
 */
function jsonIn(text: string): string {
  const spoken = text.slice(text.lastIndexOf('</think>') + 1)
  const [first, last] = [spoken.indexOf('{'), spoken.lastIndexOf('}')]
  return first === -1 || last < first ? text : spoken.slice(first, last + 1)
}
