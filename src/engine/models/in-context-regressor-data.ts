/**
 * What an in-context regressor reads and is trained on: sets of records and queries, laid out as its positions.
 */
import type { CrossEntropyDatum, ModelInput } from '../datum.ts'
import { binOf } from './in-context-regressor-bins.ts'

export interface RegressionRecord {
  readonly features: readonly number[]
  readonly value: number
}

/**
 * Records first, then queries, of which the features alone are read: the distribution of query i is at position
 * `records.length + i`.
 */
export function regressionInput(
  records: readonly RegressionRecord[],
  queries: readonly Pick<RegressionRecord, 'features'>[],
): ModelInput {
  const size = (records[0] ?? queries[0])?.features.length ?? 0
  const positions = [
    ...records.map(({ features, value }) => ({ features, known: [value, 1] })),
    ...queries.map(({ features }) => ({ features, known: [0, 0] })),
  ]
  const numbers = new Float32Array(positions.length * (size + 2))
  for (const [position, { features, known }] of positions.entries()) {
    if (features.length !== size)
      throw new Error(
        `regressionInput: position ${position} has ${features.length} features: expected ${size}, as position 0`,
      )
    numbers.set([...features, ...known], position * (size + 2))
  }
  return { tokens: new Int32Array(positions.length), features: numbers }
}

/**
 * Asks for the bins of the queries' values. `weight` is that of each query: 1 over their number in a batch, for their
 * mean.
 */
export function regressionDatum(
  records: readonly RegressionRecord[],
  queries: readonly RegressionRecord[],
  borders: Float64Array,
  weight = 1,
): CrossEntropyDatum {
  const bins = queries.map(({ value }) => binOf(value, borders))
  return {
    input: regressionInput(records, queries),
    targets: Int32Array.from([...records.map(() => 0), ...bins]),
    weights: Float32Array.from([...records.map(() => 0), ...bins.map(() => weight)]),
  }
}
