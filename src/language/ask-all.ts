/**
 * Several questions that begin alike: the first alone, so that its beginning stands in the provider's prompt cache, and then
 * some at once.
 */
import { type Answer, type Asking, ask, type Question } from './ask.ts'

/** Answers in the order of the questions, `answered` is told of each. What one throws ends the others and is thrown. */
export async function askAll<T>(
  questions: readonly Question<T>[],
  asking: Asking,
  atOnce: number,
  answered: () => void = () => undefined,
): Promise<Answer<T>[]> {
  const [first, ...rest] = questions
  if (first === undefined) return []
  const answers: Answer<T>[] = [await ask(first, asking)]
  answered()
  const stop = new AbortController()
  const signal = AbortSignal.any([asking.signal, stop.signal])
  const left = rest.entries()
  const work = async () => {
    for (const [index, question] of left) {
      answers[1 + index] = await ask(question, { ...asking, signal })
      answered()
    }
  }
  const workers = Array.from({ length: Math.min(atOnce, rest.length) }, () =>
    work().catch(error => {
      stop.abort(error)
      throw error
    }),
  )
  // Not Promise.all: what was opened for the questions may be closed only when all of them have ended.
  const ended = await Promise.allSettled(workers)
  for (const each of ended) if (each.status === 'rejected') throw stop.signal.reason
  return answers
}
