/**
 * How good a ranking is for choosing a few of a pool, when failures are among them: Regret@k, NDCG@k and nAULC.
 *
 * A gain is larger-is-better, null for a run that failed. Predictions are larger-is-better too; where they tie, every
 * order of the tied items is equally likely and the exact expectation over those orders is returned, so that a constant
 * prediction scores what choosing at random scores.
 */

export type Gain = number | null

/**
 * Regret@k = best gain of the pool - expected best gain of the k chosen. 0 is perfect, larger is worse, never negative.
 *
 * A failure brings nothing: beside a finished run it does not count, and a choice of failures only is worth no gain, or
 * the pool's lowest gain where that is negative, so that failing is never better than finishing. 0 where the whole pool
 * failed: no choice would have been better. k beyond the pool chooses all of it.
 */
export function regretAt(k: number, gains: readonly Gain[], predictions: ArrayLike<number>): number {
  const blocks = tiedBlocks('regretAt', k, gains, predictions)
  const finished = gains.filter(gain => gain !== null)
  if (finished.length === 0) return 0
  const best = finished.reduce((a, b) => Math.max(a, b))
  const nothing = finished.reduce((a, b) => Math.min(a, b), 0)
  let worth = nothing
  let left = Math.min(k, gains.length)
  for (const block of blocks) {
    const values = block.map(index => Math.max(worth, gains[index] ?? nothing)).sort((a, b) => a - b)
    worth = expectedMaximum(values, Math.min(left, values.length))
    left -= values.length
    if (left <= 0) break
  }
  // An expectation is rounded: the best of the pool may come out a last bit too large.
  return Math.max(0, best - worth)
}

/** Expected largest of `count` values drawn without replacement; the values ascend. */
function expectedMaximum(values: readonly number[], count: number): number {
  // P(all drawn are among the smallest i) = C(i, count) / C(n, count), from i = n downwards by its ratio.
  let atMost = 1
  let expectation = 0
  for (let i = values.length; i >= count; i--) {
    const below = (atMost * (i - count)) / i
    expectation += values[i - 1]! * (atMost - below)
    atMost = below
  }
  return expectation
}

/** From gains to relevances, all at least 0, in the same order. */
export type RelevanceMapping = (gains: readonly Gain[]) => number[]

/** What a run gained over the worst finished run of its pool; a failure has none. */
export function aboveWorst(gains: readonly Gain[]): number[] {
  const worst = gains.reduce<number>((least, gain) => Math.min(least, gain ?? least), Number.POSITIVE_INFINITY)
  return gains.map(gain => (gain === null ? 0 : gain - worst))
}

/**
 * NDCG@k = DCG / largest possible DCG, DCG = sum over places j = 1 … k of relevance_j / log2(j + 1) (Järvelin and
 * Kekäläinen 2002); over ties as McSherry and Najork (2008), which is scikit-learn's `ndcg_score`. In [0, 1], 1 is
 * perfect, and 1 also where all relevances are 0: no order would have been better.
 */
export function ndcgAt(
  k: number,
  gains: readonly Gain[],
  predictions: ArrayLike<number>,
  mapping: RelevanceMapping = aboveWorst,
): number {
  const blocks = tiedBlocks('ndcgAt', k, gains, predictions)
  const relevances = mapping(gains)
  let place = 0
  let gained = 0
  for (const block of blocks) {
    // Each item of the block is equally likely at each of its places.
    const relevance = block.reduce((sum, index) => sum + relevances[index]!, 0) / block.length
    for (const end = place + block.length; place < end; place++) if (place < k) gained += relevance * discount(place)
  }
  const ideal = relevances
    .toSorted((a, b) => b - a)
    .slice(0, k)
    .reduce((sum, relevance, index) => sum + relevance * discount(index), 0)
  return ideal === 0 ? 1 : Math.min(1, gained / ideal)
}

function discount(place: number): number {
  return 1 / Math.log2(place + 2)
}

/** Indices with equal predictions, the largest prediction first. */
function tiedBlocks(what: string, k: number, gains: readonly Gain[], predictions: ArrayLike<number>): number[][] {
  if (!Number.isInteger(k) || k < 1) throw new Error(`${what}: k is ${k}; it must be a whole number from 1`)
  if (gains.length === 0) throw new Error(`${what}: the pool is empty; give at least one gain`)
  if (gains.length !== predictions.length) {
    throw new Error(`${what}: there are ${gains.length} gains and ${predictions.length} predictions; give one for each`)
  }
  for (let i = 0; i < gains.length; i++) {
    if (Number.isNaN(predictions[i])) throw new Error(`${what}: prediction ${i} is NaN, which has no rank`)
    const gain = gains[i]!
    if (gain !== null && !Number.isFinite(gain)) {
      throw new Error(`${what}: gain ${i} is ${gain}; give a finite number, or null for a failure`)
    }
  }
  const order = gains.map((_, index) => index)
  order.sort((i, j) => (predictions[i]! > predictions[j]! ? -1 : predictions[i]! < predictions[j]! ? 1 : 0))
  const blocks: number[][] = []
  for (const index of order) {
    const block = blocks.at(-1)
    if (block && predictions[block[0]!] === predictions[index]) block.push(index)
    else blocks.push([index])
  }
  return blocks
}
