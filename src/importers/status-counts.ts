/** How many rows have each of a source's words for how a run ended, and what it was taken for. */
import type { OutcomeKind } from '../experiment/intervention.ts'
import type { ImportedRole, ImportedStatus } from './history.ts'

export class StatusCounts {
  readonly #counts = new Map<string, ImportedStatus>()

  add(word: string, role: ImportedRole, kind: OutcomeKind): void {
    const meaning = role === 'tried' || kind !== 'finished' ? kind : role
    const key = JSON.stringify([word, meaning])
    this.#counts.set(key, { word, meaning, rows: (this.#counts.get(key)?.rows ?? 0) + 1 })
  }

  /** The most frequent first. */
  all(): readonly ImportedStatus[] {
    return [...this.#counts.values()].sort((a, b) => b.rows - a.rows)
  }
}
