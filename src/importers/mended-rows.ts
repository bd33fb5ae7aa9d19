/**
 * Rows that are gone from a source and came again as others: a number or a word was mended, a column added, a history of git written
 * anew. Both of them would count, and pass for a repeat.
 */
import { canonicalJson } from '../experiment/json.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { RowOfReading } from '../ledger/readings.ts'
import type { ImportedRow } from './history.ts'

/** So many are looked at: where that many are gone, one of the first tells. */
const mostLookedAt = 2000

/**
 * Where rows stood that are gone, and of which a new one says the same: it tried the same, or it stands where they stood and measured the
 * same. A commit that is gone is so with every change of branch; it came again where another tried the same and measured the same.
 */
export async function mendedRows(
  gone: readonly RowOfReading[],
  news: readonly ImportedRow[],
  objective: string,
  ledger: Ledger,
): Promise<readonly string[]> {
  if (news.length === 0) return []
  const byWords = Map.groupBy(news, ({ intervention }) => wordsOf(intervention))
  const byPlace = new Map(news.map(row => [row.place, row]))
  const mended: string[] = []
  for (const [place, rows] of Map.groupBy(gone.slice(0, mostLookedAt), ({ place }) => place)) {
    if (place === null) continue
    const stored = await Promise.all(rows.map(row => storedRow(row, ledger)))
    // A row that was kept is there as the reference of what came after it, too.
    const was = stored.find(({ kind }) => kind === 'candidate') ?? stored[0]!
    const measuredAlike = (row: ImportedRow | undefined) => row?.outcome.metrics[objective] === was.metrics[objective]
    const alike = was.kind === 'candidate' ? (byWords.get(wordsOf(was)) ?? []) : []
    const there = byPlace.get(place)
    const cameAgain = place.startsWith('commit ')
      ? alike.some(measuredAlike)
      : alike.length > 0 || (there !== undefined && (was.kind === 'reference' || measuredAlike(there)))
    if (cameAgain) mended.push(place)
  }
  return mended
}

interface StoredRow extends Pick<ImportedRow['intervention'], 'sentence' | 'overrides'> {
  readonly kind: 'reference' | 'candidate'
  readonly metrics: Readonly<Record<string, number>>
}

async function storedRow({ interventionId, runId }: RowOfReading, ledger: Ledger): Promise<StoredRow> {
  const { kind, intervention } = (await ledger.intervention(interventionId))!
  const run = await ledger.run(runId)
  return {
    kind,
    sentence: intervention.sentence,
    overrides: intervention.overrides,
    metrics: run?.outcome?.metrics ?? {},
  }
}

function wordsOf({ sentence, overrides }: Pick<StoredRow, 'sentence' | 'overrides'>): string {
  return canonicalJson([sentence, overrides])
}
