/**
 * Percentile bootstrap intervals (Efron 1979): of items, or of whole blocks where items of one block are not independent
 * (seeds of one intervention, pools of one split).
 */
import { seededRandom } from './random.ts'
import { quantile } from './summary.ts'

export interface BootstrapOptions {
  readonly seed: number | string
  /** How many resamples; 2,000 by default. */
  readonly replicates?: number
  /** Share of the replicates inside the interval; 0.95 by default. */
  readonly level?: number
}

export interface Interval {
  readonly low: number
  readonly high: number
}

/**
 * Resamples n items with replacement. The statistic gets the indices of each resample, in an array that is used again
 * for the next. Where it returns NaN (a correlation of a constant, say) the replicate is left out; if none remains, both
 * ends are NaN. For a paired comparison, let the statistic be the difference on the same indices.
 */
export function bootstrapInterval(
  n: number,
  statistic: (indices: Int32Array) => number,
  options: BootstrapOptions,
): Interval {
  if (!Number.isInteger(n) || n < 1) throw new Error(`bootstrapInterval: n is ${n}; there must be at least one item`)
  const { random, replicates } = prepare(options)
  const indices = new Int32Array(n)
  const values = new Float64Array(replicates)
  for (let replicate = 0; replicate < replicates; replicate++) {
    for (let i = 0; i < n; i++) indices[i] = random.integer(n)
    values[replicate] = statistic(indices)
  }
  return percentiles(values, options)
}

/**
 * Resamples blocks with replacement and keeps all items of a drawn block together, so resamples differ in length.
 * `blockOf` names the block of each item.
 */
export function blockBootstrapInterval(
  blockOf: readonly (number | string)[],
  statistic: (indices: Int32Array) => number,
  options: BootstrapOptions,
): Interval {
  if (blockOf.length === 0) throw new Error('blockBootstrapInterval: there are no items; give at least one')
  const { random, replicates } = prepare(options)
  const blocks = [...Map.groupBy(blockOf.keys(), index => blockOf[index]!).values()]
  const values = new Float64Array(replicates)
  for (let replicate = 0; replicate < replicates; replicate++) {
    const drawn = blocks.flatMap(() => blocks[random.integer(blocks.length)]!)
    values[replicate] = statistic(Int32Array.from(drawn))
  }
  return percentiles(values, options)
}

function prepare({ seed, replicates = 2000, level = 0.95 }: BootstrapOptions) {
  if (!Number.isInteger(replicates) || replicates < 1) {
    throw new Error(`bootstrap: replicates is ${replicates}; give a whole number from 1`)
  }
  if (!(level > 0 && level < 1)) throw new Error(`bootstrap: level is ${level}; it must lie between 0 and 1`)
  return { random: seededRandom(seed), replicates }
}

function percentiles(values: Float64Array, { level = 0.95 }: BootstrapOptions): Interval {
  const numbers = values.filter(value => !Number.isNaN(value))
  if (numbers.length === 0) return { low: Number.NaN, high: Number.NaN }
  const tail = (1 - level) / 2
  return { low: quantile(numbers, tail), high: quantile(numbers, 1 - tail) }
}
