/**
 * The covariance of gains. A gain is h(after) - h(before) for a response surface h over whole configurations, and h is a
 * Gaussian process with covariance k; so two gains covary as
 *
 *   k(after, after') - k(after, before') - k(before, after') + k(before, before').
 *
 * No change has no gain, undoing a change has minus its gain, the pair of two changes has the sum of their gains where
 * they do not interact, and a recipe that already has the change learns from one that has not, with the right sign.
 *
 * A third part is no difference: how far a number departs from its reference, whichever way. References are tuned, and
 * the best value of a number depends on the recipe; without it, what another recipe found harmful would make a reference
 * that has it look bad.
 *
 * k is additive over options plus an interaction, the product over all options of (1 - r) k_option + r: the effect of an
 * option then depends on the other options and on the recipe. k_option is a squared exponential of the distance between
 * numbers and equality for everything else.
 */

import type { OptionScale } from './option-scale.ts'
import type { ComparedOption, OptionValue } from './option-values.ts'

/** n × n, row-major; only the lower triangles are filled in, diagonals included. */
export interface DifferenceCovariance {
  /** Sum over options. */
  readonly additive: Float64Array
  readonly interaction: Float64Array
  readonly departure: Float64Array
}

/** An option with its values as places on its axis: a number, or a name compared for equality. */
export interface PlacedOption {
  /** Distinct places. */
  readonly places: readonly OptionValue[]
  /** Index into `places`: in each reference. */
  readonly before: Int32Array
  /** Ascending indices of the subjects that change it, and the places they change it to. */
  readonly changed: Int32Array
  readonly after: Int32Array
}

/** `reference`: of each subject the index of its reference; each index has a subject. */
export function placeOption(option: ComparedOption, reference: Int32Array, scale: OptionScale | null): PlacedOption {
  const indices = new Map<OptionValue, number>()
  const placeOf = (value: OptionValue): number => {
    // Without an axis a number is a name like any other.
    const place = typeof value === 'string' ? value : scale === null ? `${value}` : scale(value)
    const index = indices.get(place) ?? indices.size
    indices.set(place, index)
    return index
  }
  const before = new Int32Array(countOf(reference))
  reference.forEach((index, subject) => {
    before[index] = placeOf(option.before[subject]!)
  })
  const after = Int32Array.from(option.after, placeOf)
  return { places: [...indices.keys()], before, changed: Int32Array.from(option.changed), after }
}

/** `length` is the length-scale of numbers in units of their axis, `remainder` the r above, in (0, 1). */
export function differenceCovariance(
  options: readonly PlacedOption[],
  reference: Int32Array,
  { length, remainder }: { readonly length: number; readonly remainder: number },
): DifferenceCovariance {
  const size = reference.length
  const references = countOf(reference)
  const similarities = options.map(({ places }) => placeSimilarities(places, length))
  const base = referenceProducts(options, similarities, references, remainder)
  const sums: Sums = {
    additive: new Float64Array(size * size),
    departure: new Float64Array(size * size),
    afters: new Float64Array(size * size),
    afterBefore: new Float64Array(size * references),
  }
  for (let i = 0; i < size; i++) {
    const row = reference[i]! * references
    for (let j = 0; j <= i; j++) sums.afters[i * size + j] = base[row + reference[j]!]!
    sums.afterBefore.set(base.subarray(row, row + references), i * references)
  }
  options.forEach((option, index) => {
    if (option.changed.length > 0) addOption(sums, option, reference, references, similarities[index]!, remainder)
  })
  const { additive, departure, afters, afterBefore } = sums
  const interaction = afters
  for (let i = 0; i < size; i++) {
    const own = reference[i]!
    for (let j = 0; j <= i; j++) {
      const other = reference[j]!
      interaction[i * size + j] =
        afters[i * size + j]! -
        afterBefore[i * references + other]! -
        afterBefore[j * references + own]! +
        base[own * references + other]!
    }
  }
  return { additive, interaction, departure }
}

interface Sums {
  readonly additive: Float64Array
  readonly departure: Float64Array
  /**
   * The interaction's products between what two subjects change to, and between that of a subject and each reference. They
   * start as those between the references and change by ratios, which is safe because no factor is below the remainder.
   */
  readonly afters: Float64Array
  readonly afterBefore: Float64Array
}

function addOption(
  { additive, departure, afters, afterBefore }: Sums,
  { places, before, changed, after }: PlacedOption,
  reference: Int32Array,
  references: number,
  similarity: Float64Array,
  remainder: number,
): void {
  const size = reference.length
  const width = places.length
  const factor = similarity.map(value => (1 - remainder) * value + remainder)
  const isNumber = Uint8Array.from(places, place => Number(typeof place === 'number'))
  const isChanged = new Uint8Array(size)
  for (let one = 0; one < changed.length; one++) isChanged[changed[one]!] = 1
  const ratio = new Float64Array(references)
  for (let one = 0; one < changed.length; one++) {
    const i = changed[one]!
    const place = before[reference[i]!]!
    const fromRow = place * width
    const toRow = after[one]! * width
    for (let other = 0; other < references; other++) {
      ratio[other] = factor[toRow + before[other]!]! / factor[fromRow + before[other]!]!
      afterBefore[i * references + other]! *= ratio[other]!
    }
    for (let j = 0; j < i; j++) if (isChanged[j] === 0) afters[i * size + j]! *= ratio[reference[j]!]!
    for (let j = i + 1; j < size; j++) if (isChanged[j] === 0) afters[j * size + i]! *= ratio[reference[j]!]!
    for (let other = 0; other <= one; other++) {
      const cell = i * size + changed[other]!
      const to = after[other]!
      const from = before[reference[changed[other]!]!]!
      afters[cell]! *= factor[toRow + to]! / factor[fromRow + from]!
      additive[cell]! +=
        similarity[toRow + to]! - similarity[toRow + from]! - similarity[fromRow + to]! + similarity[fromRow + from]!
      if (isNumber[place] === 1 && isNumber[from] === 1) {
        departure[cell]! += (1 - similarity[toRow + place]!) * (1 - similarity[to * width + from]!)
      }
    }
  }
}

function countOf(reference: Int32Array): number {
  return reference.reduce((most, index) => Math.max(most, index + 1), 0)
}

/** k_option between all distinct places; a number and a name have nothing in common. */
function placeSimilarities(places: readonly OptionValue[], length: number): Float64Array {
  const width = places.length
  const result = new Float64Array(width * width)
  for (let i = 0; i < width; i++) {
    const first = places[i]!
    for (let j = 0; j <= i; j++) {
      const second = places[j]!
      const numbers = typeof first === 'number' && typeof second === 'number'
      const value = numbers ? Math.exp(-0.5 * ((first - second) / length) ** 2) : i === j ? 1 : 0
      result[i * width + j] = value
      result[j * width + i] = value
    }
  }
  return result
}

/** The product over options between each two references. */
function referenceProducts(
  options: readonly PlacedOption[],
  similarities: readonly Float64Array[],
  references: number,
  remainder: number,
): Float64Array {
  const products = new Float64Array(references * references).fill(1)
  options.forEach(({ places, before }, index) => {
    if (before.every(place => place === before[0])) return
    const similarity = similarities[index]!
    for (let one = 0; one < references; one++) {
      const row = before[one]! * places.length
      for (let other = 0; other < references; other++) {
        products[one * references + other]! *= (1 - remainder) * similarity[row + before[other]!]! + remainder
      }
    }
  })
  return products
}
