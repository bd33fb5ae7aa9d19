/**
 * Answers that were paid for once, in an SQLite file beside the ledger, so that a question asked again costs nothing.
 * Kept is the text of answers that could be used, under a hash of the whole question; the question itself is not.
 */
import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface Answers {
  get(key: string): string | null
  put(key: string, answer: { readonly model: string; readonly text: string }): void
  [Symbol.dispose](): void
}

/** Opens the file, or creates it. Throws a sentence where it is something else or cannot be written. */
export function openAnswers(path: string): Answers {
  return inSentence(path, () => {
    mkdirSync(dirname(path), { recursive: true })
    const file = new DatabaseSync(path, { timeout: 30_000 })
    file.exec(
      'create table if not exists answers (key text primary key, model text not null, text text not null, kept_at text not null) strict',
    )
    const get = file.prepare('select text from answers where key = ?')
    const put = file.prepare('insert or ignore into answers (key, model, text, kept_at) values (?, ?, ?, ?)')
    return {
      get: key => inSentence(path, () => (get.get(key)?.['text'] as string | undefined) ?? null),
      put: (key, { model, text }) => {
        inSentence(path, () => put.run(key, model, text, new Date().toISOString()))
      },
      [Symbol.dispose]: () => file.close(),
    }
  })
}

/** SHA-256 over the parts, whose order and borders count. */
export function keyOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

function inSentence<T>(path: string, action: () => T): T {
  try {
    return action()
  } catch (cause) {
    throw new Error(
      `The kept answers ${path} cannot be used (${(cause as Error).message}): correct that, or move the file away; what is in it would be asked again.`,
      { cause },
    )
  }
}
