/**
 * What a change was tried on, after a change that its log calls discarded while its code stands in the line: that code, or
 * what was kept before it? People restore the file and make the next change in one commit. Whichever the next code is nearer to.
 */
import type { LineRow } from './git-line.ts'

/** `nearness`: for each pair of steps, how many lines their code differs by. */
export async function onNearestReference(
  rows: readonly LineRow[],
  nearness: (pairs: readonly (readonly [earlier: number, later: number])[]) => Promise<readonly number[]>,
): Promise<readonly LineRow[]> {
  const unclear = rows.flatMap(row => {
    const kept = row.isReference || row.against === null ? null : keptBefore(row.against)
    return kept === null || kept === row.against ? [] : [{ row, kept }]
  })
  const lines = await nearness(
    unclear.flatMap(({ row, kept }) => [[row.against!.code, row.code] as const, [kept.code, row.code] as const]),
  )
  for (const [index, { row, kept }] of unclear.entries()) {
    if (lines[2 * index + 1]! <= lines[2 * index]!) row.against = kept
  }
  return rows
}

/** The row itself, or the nearest one below it that was not discarded; null where there is none. */
function keptBefore(row: LineRow): LineRow | null {
  let kept: LineRow | null = row
  while (kept?.measurement.isDiscarded) kept = kept.isReference ? null : kept.against
  return kept
}
