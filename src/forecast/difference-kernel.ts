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
import type { ComparedOption, ComparedOptions, OptionValue } from './option-values.ts'

export interface DifferenceCovariance {
  /** Sum over options, n × n, row-major and symmetric. */
  readonly additive: Float64Array
  readonly interaction: Float64Array
  readonly departure: Float64Array
}

/** An option with its values as places on its axis: a number, or a name compared for equality. */
export interface PlacedOption {
  /** Distinct places. */
  readonly places: readonly OptionValue[]
  /** Index into `places`: in the reference and after the change, one a subject. */
  readonly before: Int32Array
  readonly after: Int32Array
  readonly changed: readonly number[]
}

export function placeOption(option: ComparedOption, scale: OptionScale | null): PlacedOption {
  const indices = new Map<OptionValue, number>()
  const placeOf = (value: OptionValue): number => {
    // Without an axis a number is a name like any other.
    const place = typeof value === 'string' ? value : scale === null ? `${value}` : scale(value)
    const index = indices.get(place) ?? indices.size
    indices.set(place, index)
    return index
  }
  const before = Int32Array.from(option.before, placeOf)
  const after = Int32Array.from(before)
  option.changed.forEach((subject, index) => {
    after[subject] = placeOf(option.after[index]!)
  })
  return { places: [...indices.keys()], before, after, changed: option.changed }
}

/** `length` is the length-scale of numbers in units of their axis, `remainder` the r above, in (0, 1). */
export function differenceCovariance(
  options: readonly PlacedOption[],
  reference: ComparedOptions['reference'],
  { length, remainder }: { readonly length: number; readonly remainder: number },
): DifferenceCovariance {
  const size = reference.length
  const additive = new Float64Array(size * size)
  const departure = new Float64Array(size * size)
  // The interaction's products for each pair; that of the two references is where the others start. They change by ratios,
  // which is safe because no factor is below the remainder.
  const base = referenceProducts(options, reference, remainder, length)
  const afters = Float64Array.from(base)
  const afterBefore = Float64Array.from(base)
  for (const { places, before, after, changed } of options) {
    if (changed.length === 0) continue
    const similarity = placeSimilarities(places, length)
    const width = places.length
    const factor = similarity.map(value => (1 - remainder) * value + remainder)
    const isNumber = Uint8Array.from(places, place => Number(typeof place === 'number'))
    const isChanged = new Uint8Array(size)
    for (const subject of changed) isChanged[subject] = 1
    for (const i of changed) {
      const fromRow = before[i]! * width
      const toRow = after[i]! * width
      for (let j = 0; j < size; j++) {
        const from = before[j]!
        const toFrom = factor[toRow + from]! / factor[fromRow + from]!
        afterBefore[i * size + j]! *= toFrom
        if (!isChanged[j]) {
          afters[i * size + j]! *= toFrom
          afters[j * size + i]! *= toFrom
          continue
        }
        const to = after[j]!
        afters[i * size + j]! *= factor[toRow + to]! / factor[fromRow + from]!
        additive[i * size + j]! +=
          similarity[toRow + to]! - similarity[toRow + from]! - similarity[fromRow + to]! + similarity[fromRow + from]!
        if (isNumber[before[i]!] === 1 && isNumber[from] === 1) {
          departure[i * size + j]! += (1 - similarity[toRow + before[i]!]!) * (1 - similarity[to * width + from]!)
        }
      }
    }
  }
  const interaction = new Float64Array(size * size)
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      const there = i * size + j
      const back = j * size + i
      const value = afters[there]! - afterBefore[there]! - afterBefore[back]! + base[there]!
      interaction[there] = value
      interaction[back] = value
    }
  }
  return { additive, interaction, departure }
}

/** k_option between all distinct places; a number and a name have nothing in common. */
function placeSimilarities(places: readonly OptionValue[], length: number): Float64Array {
  const result = new Float64Array(places.length * places.length)
  places.forEach((first, i) => {
    for (let j = 0; j <= i; j++) {
      const second = places[j]!
      const numbers = typeof first === 'number' && typeof second === 'number'
      const value = numbers ? Math.exp(-0.5 * ((first - second) / length) ** 2) : i === j ? 1 : 0
      result[i * places.length + j] = value
      result[j * places.length + i] = value
    }
  })
  return result
}

/** The product over options between the references of each pair of subjects. */
function referenceProducts(
  options: readonly PlacedOption[],
  reference: Int32Array,
  remainder: number,
  length: number,
): Float64Array {
  const size = reference.length
  const versions = reference.reduce((first, second) => Math.max(first, second), -1) + 1
  const subjectOf = new Int32Array(versions)
  reference.forEach((version, subject) => {
    subjectOf[version] = subject
  })
  const table = new Float64Array(versions * versions).fill(1)
  for (const { places, before } of options) {
    const first = before[subjectOf[0]!]!
    if (subjectOf.every(subject => before[subject] === first)) continue
    const similarity = placeSimilarities(places, length)
    for (let one = 0; one < versions; one++) {
      const row = before[subjectOf[one]!]! * places.length
      for (let other = 0; other < versions; other++) {
        table[one * versions + other]! *= (1 - remainder) * similarity[row + before[subjectOf[other]!]!]! + remainder
      }
    }
  }
  const result = new Float64Array(size * size)
  for (let i = 0; i < size; i++) {
    const row = reference[i]! * versions
    for (let j = 0; j < size; j++) result[i * size + j] = table[row + reference[j]!]!
  }
  return result
}
