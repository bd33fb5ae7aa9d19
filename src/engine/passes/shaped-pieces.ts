/**
 * Cuts data into pieces that are of one shape each: what one computation can take together, and what the computation must have
 * inputs for.
 */
import type { Datum } from '../datum.ts'
import type { ComputationShape } from './computation.ts'
import { cutIntoPieces, type Lengths, type Piece, rounded } from './pieces.ts'

export interface ShapedPiece {
  readonly piece: Piece
  readonly shape: Pick<
    ComputationShape,
    'rows' | 'positions' | 'encoderPositions' | 'targets' | 'temperature' | 'mask' | 'adapter'
  >
}

interface Group {
  readonly members: number[]
  readonly targets: 'single' | 'several' | 'vocabulary'
  readonly adapter: boolean
}

export interface ShapedPiecesOptions {
  readonly tokensAtOnce: number
  /** What the model takes. */
  readonly longest: Lengths
  readonly hasAdapters: boolean
}

/** `lengths`: of each datum. */
export function shapedPieces(
  data: readonly Datum[],
  lengths: readonly Lengths[],
  { tokensAtOnce, longest, hasAdapters }: ShapedPiecesOptions,
): ShapedPiece[] {
  const shaped: ShapedPiece[] = []
  for (const { members, targets, adapter } of groupsOf(data, hasAdapters)) {
    const temperature = members.some(member => (data[member]!.distribution?.temperature ?? 1) !== 1)
    const mask = members.some(member => removesTokens(data[member]!))
    const ofMembers = members.map(member => lengths[member]!)
    for (const inGroup of cutIntoPieces(ofMembers, tokensAtOnce, longest)) {
      const piece = { ...inGroup, members: inGroup.members.map(index => members[index]!) }
      const { rows, positions, encoderPositions } = piece
      const width = targets === 'several' ? widestTargets(piece.members.map(member => data[member]!)) : targets
      shaped.push({ piece, shape: { rows, positions, encoderPositions, targets: width, temperature, mask, adapter } })
    }
  }
  return shaped
}

/** Data that one computation can take together, in the order in which each kind comes first. */
function groupsOf(data: readonly Datum[], hasAdapters: boolean): Iterable<Group> {
  const groups = new Map<string, Group>()
  for (const [index, datum] of data.entries()) {
    const targets =
      datum.targets === 'vocabulary' ? 'vocabulary' : datum.targets instanceof Int32Array ? 'single' : 'several'
    const adapter = !hasAdapters || datum.adapter !== false
    const key = `${targets} ${adapter}`
    const group = groups.get(key)
    if (group) group.members.push(index)
    else groups.set(key, { members: [index], targets, adapter })
  }
  return groups.values()
}

function removesTokens({ distribution }: Datum): boolean {
  return distribution !== undefined && ((distribution.blocked?.length ?? 0) > 0 || distribution.support !== undefined)
}

/** Rounded up like lengths. */
function widestTargets(data: readonly Datum[]): number {
  let widest = 1
  for (const { targets } of data)
    if (typeof targets === 'object' && 'offsets' in targets)
      for (let position = 0; position + 1 < targets.offsets.length; position++)
        widest = Math.max(widest, targets.offsets[position + 1]! - targets.offsets[position]!)
  return rounded(widest)
}
