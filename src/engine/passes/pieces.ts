/**
 * How data of different lengths become a few shapes that can be computed at once. A pure function of the lengths: what was
 * computed before does not matter, so that going on after loading gives the same numbers as never having stopped.
 */

export interface Lengths {
  readonly positions: number
  /** 0 where there is no encoder. */
  readonly encoderPositions: number
}

/** Rows that are computed together, padded to the same lengths. */
export interface Piece extends Lengths {
  /** Places of its rows in the data. */
  readonly members: readonly number[]
  /** As many as there are members, or more: those that are too many are empty. */
  readonly rows: number
}

/** Data of equal lengths keep them from this number on; fewer are padded, for each length is compiled anew. */
const fewestExact = 4

/**
 * Cuts into pieces of at most `tokensAtOnce` positions (or one row, where a row is longer). Equal lengths, four rows or more,
 * are computed at that length. Otherwise rows are taken from the longest to the shortest, and each piece is padded to the next of
 * 1, 2, 3, 4, 6, 8, 12, 16, … from its longest row, at most to what the model takes (`longest`), and its rows likewise.
 */
export function cutIntoPieces(lengths: readonly Lengths[], tokensAtOnce: number, longest: Lengths): Piece[] {
  const first = lengths[0]
  if (!first) return []
  const isEqual = lengths.every(
    ({ positions, encoderPositions }) => positions === first.positions && encoderPositions === first.encoderPositions,
  )
  if (isEqual && lengths.length >= fewestExact) return equalPieces(lengths.length, first, tokensAtOnce)
  const order = lengths.map((_, index) => index)
  order.sort((a, b) => size(lengths[b]!) - size(lengths[a]!) || a - b)
  const pieces: Piece[] = []
  for (let start = 0; start < order.length; ) {
    let positions = 0
    let encoderPositions = 0
    let end = start
    for (; end < order.length; end++) {
      const next = lengths[order[end]!]!
      const widerPositions = Math.max(positions, Math.min(rounded(next.positions), longest.positions))
      const widerEncoder = Math.max(
        encoderPositions,
        Math.min(rounded(next.encoderPositions), longest.encoderPositions),
      )
      if (end > start && (end - start + 1) * (widerPositions + widerEncoder) > tokensAtOnce) break
      positions = widerPositions
      encoderPositions = widerEncoder
    }
    const most = Math.max(1, Math.floor(tokensAtOnce / (positions + encoderPositions)))
    const members = order.slice(start, end)
    pieces.push({ positions, encoderPositions, members, rows: Math.min(rounded(members.length), most) })
    start = end
  }
  return pieces
}

/** As few pieces as can be, of equal numbers of rows; the last may have empty ones. */
function equalPieces(count: number, lengths: Lengths, tokensAtOnce: number): Piece[] {
  const most = Math.max(1, Math.floor(tokensAtOnce / size(lengths)))
  const rows = Math.ceil(count / Math.ceil(count / most))
  const pieces: Piece[] = []
  for (let start = 0; start < count; start += rows) {
    const present = Math.min(rows, count - start)
    pieces.push({ ...lengths, rows, members: Array.from({ length: present }, (_, index) => start + index) })
  }
  return pieces
}

const size = ({ positions, encoderPositions }: Lengths) => positions + encoderPositions

/** The next of 0, 1, 2, 3, 4, 6, 8, 12, 16, 24, …: powers of two and what lies halfway. */
export function rounded(count: number): number {
  if (count <= 2) return count
  const power = 2 ** Math.ceil(Math.log2(count))
  return count <= 0.75 * power ? 0.75 * power : power
}
