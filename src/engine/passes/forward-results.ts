/**
 * Puts what pieces computed back into the order and lengths of the data.
 */
import type { Datum } from '../datum.ts'
import type { ResultArray } from '../graph/program.ts'
import { removed } from '../losses/target-log-probability.ts'
import type { ForwardResult } from '../training.ts'
import type { ComputationShape } from './computation.ts'
import type { Piece } from './pieces.ts'

export class ForwardResults {
  readonly #data: readonly Datum[]
  readonly #vocabulary: number
  readonly #logProbabilities: Float32Array[] = []
  readonly #losses: Float32Array[] = []
  readonly #parts: Record<string, number> = {}
  readonly #captured = new Map<string, Float32Array[]>()

  constructor(data: readonly Datum[], vocabulary: number, capture: readonly string[]) {
    this.#data = data
    this.#vocabulary = vocabulary
    for (const name of capture) this.#captured.set(name, [])
  }

  add(piece: Piece, shape: ComputationShape, outputs: Readonly<Record<string, ResultArray>>): void {
    const width = shape.targets === 'single' ? 1 : shape.targets === 'vocabulary' ? this.#vocabulary : shape.targets
    const logProbabilities = outputs['logProbabilities'] as Float32Array
    const losses = outputs['losses'] as Float32Array | undefined
    for (const [row, member] of piece.members.entries()) {
      const datum = this.#data[member]!
      const positions = datum.input.tokens.length
      const take = (values: Float32Array) => {
        const start = row * piece.positions * width
        const { targets } = datum
        if (targets instanceof Int32Array || targets === 'vocabulary')
          return values.slice(start, start + positions * width)
        const taken = new Float32Array(targets.tokens.length)
        for (let position = 0; position < positions; position++) {
          const [from, to] = [targets.offsets[position]!, targets.offsets[position + 1]!]
          const place = start + position * width
          taken.set(values.subarray(place, place + to - from), from)
        }
        return taken
      }
      const taken = take(logProbabilities)
      this.#losses[member] = losses ? take(losses) : weighted(datum, taken)
      if (shape.mask)
        for (let index = 0; index < taken.length; index++)
          if (taken[index]! < removed / 2) taken[index] = Number.NEGATIVE_INFINITY
      this.#logProbabilities[member] = taken
      for (const [name, byDatum] of this.#captured) {
        const values = outputs[`captured.${name}`] as Float32Array
        const rowSize = values.length / piece.rows
        const size = rowSize / piece.positions
        byDatum[member] = values.slice(row * rowSize, row * rowSize + positions * size)
      }
    }
    for (const part of ['zLoss', 'innerState'])
      if (outputs[part]) this.#parts[part] = (this.#parts[part] ?? 0) + outputs[part][0]!
  }

  result(): ForwardResult {
    let lossSum = 0
    // In double precision, datum after datum, however they were cut into pieces.
    for (const losses of this.#losses) for (const loss of losses) lossSum += loss
    for (const part of Object.values(this.#parts)) lossSum += part
    return {
      lossSum,
      parts: this.#parts,
      logProbabilities: this.#logProbabilities,
      losses: this.#losses,
      captured: this.#captured,
    }
  }
}

/** -weight × log-probability; a weight of 0 leaves a target out whatever its log-probability is. */
function weighted(datum: Datum, logProbabilities: Float32Array): Float32Array {
  const weights = (datum as { readonly weights: Float32Array }).weights
  const losses = new Float32Array(weights.length)
  for (let index = 0; index < weights.length; index++)
    if (weights[index] !== 0) losses[index] = -weights[index]! * logProbabilities[index]!
  return losses
}
