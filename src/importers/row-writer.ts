/**
 * Rows of an import on their way into a ledger: interventions, runs and what became of each row, many at a time, since a statement
 * costs more than a row does. Knows nothing of where a row stands in its history.
 */
import { importedSeed, repeatAfter, seedOfLog } from '../experiment/imported-seed.ts'
import type { Intervention, Outcome } from '../experiment/intervention.ts'
import type { Ledger } from '../ledger/ledger.ts'

export interface RowToWrite {
  /** Under which the ledger remembers what became of it. */
  readonly sourceKey: string
  readonly place: string
  readonly note: string | null
  /** A hash of what was made of it. */
  readonly meaning: string | null
  readonly seed: number | null
  readonly outcome: Outcome
  readonly versionId: string
  /** One that is stored already, or one that has to be. */
  readonly intervention: { readonly id: number } | { readonly hash: string; readonly intervention: Intervention }
}

const rowsAtOnce = 500

export class RowWriter {
  readonly #ledger: Ledger
  readonly #readingId: number | null
  /** The next repeat of each intervention; only of those that had runs before or have several. */
  readonly #repeats = new Map<number, number>()
  #waiting: RowToWrite[] = []

  /** `readingId`: the reading that brings the rows; null where none is noted. */
  constructor(ledger: Ledger, readingId: number | null) {
    this.#ledger = ledger
    this.#readingId = readingId
  }

  async write(row: RowToWrite): Promise<void> {
    this.#waiting.push(row)
    if (this.#waiting.length >= rowsAtOnce) await this.flush()
  }

  /** Writes it at once, and returns the id of its intervention. */
  async writeNow(row: RowToWrite): Promise<number> {
    this.#waiting.push(row)
    return (await this.flush()).at(-1)!
  }

  /** Writes what waits; the ids of the interventions, in order. */
  async flush(): Promise<number[]> {
    const rows = this.#waiting
    this.#waiting = []
    const ids = await this.#interventions(rows)
    const runIds = await this.#runs(rows, ids)
    await this.#ledger.recordImports(
      rows.map(({ sourceKey, place, note, meaning, versionId }, index) => {
        const became = { versionId, interventionId: ids[index]!, runId: runIds[index]! }
        return [sourceKey, { ...became, place, text: note, meaning }]
      }),
      this.#readingId,
    )
    return ids
  }

  async #interventions(rows: readonly RowToWrite[]): Promise<number[]> {
    const wanted = rows.flatMap(({ versionId, intervention }) =>
      'id' in intervention ? [] : [{ versionId, ...intervention }],
    )
    const ensured = (await this.#ledger.ensureInterventions(wanted)).values()
    const ids: number[] = []
    for (const { intervention } of rows) {
      if ('id' in intervention) ids.push(intervention.id)
      else {
        const { id, created } = ensured.next().value!
        if (created) this.#repeats.set(id, 0)
        ids.push(id)
      }
    }
    return ids
  }

  async #runs(rows: readonly RowToWrite[], ids: readonly number[]): Promise<number[]> {
    const runs: { interventionId: number; seed: number; attempt: number; outcome: Outcome }[] = []
    for (const [index, { seed, outcome }] of rows.entries()) {
      const interventionId = ids[index]!
      const stored = importedSeed(seed, 0)
      const isKnown = seedOfLog(stored) !== null
      runs.push({
        interventionId,
        seed: isKnown ? stored : importedSeed(null, await this.#repeat(interventionId)),
        attempt: 0,
        outcome,
      })
    }
    const runIds = await this.#ledger.importRuns(runs)
    // A seed that the intervention has had already: it is another observation all the same.
    for (const [index, id] of runIds.entries()) {
      if (id !== null) continue
      const run = runs[index]!
      const seed = importedSeed(null, await this.#repeat(run.interventionId))
      const [again] = await this.#ledger.importRuns([{ ...run, seed }])
      if (again === null) throw new Error(`RowWriter: the seed ${seed} of intervention ${run.interventionId} is taken`)
      runIds[index] = again!
    }
    return runIds as number[]
  }

  async #repeat(interventionId: number): Promise<number> {
    const count =
      this.#repeats.get(interventionId) ??
      (await this.#ledger.runsOf(interventionId)).reduce((next, { seed }) => Math.max(next, repeatAfter(seed)), 0)
    this.#repeats.set(interventionId, count + 1)
    return count
  }
}
