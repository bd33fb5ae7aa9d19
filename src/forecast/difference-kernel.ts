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

/** An option with its values as places on its axis: a number, or a name compared for equality. */
export interface PlacedOption {
  /** Distinct places. */
  readonly places: readonly OptionValue[]
  /** Index into `places`: in each reference. */
  readonly before: Int32Array
  /** Ascending indices of the subjects that change it, and the places they change it from and to. */
  readonly changed: Int32Array
  readonly from: Int32Array
  readonly to: Int32Array
  /** 1 where the place it is changed from is a number. */
  readonly departs: Uint8Array
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
  const before = new Int32Array(referenceCount(reference))
  reference.forEach((index, subject) => {
    before[index] = placeOf(option.before[subject]!)
  })
  const changed = Int32Array.from(option.changed)
  const from = changed.map(subject => before[reference[subject]!]!)
  const to = Int32Array.from(option.after, placeOf)
  const places = [...indices.keys()]
  const departs = Uint8Array.from(from, place => Number(typeof places[place] === 'number'))
  return { places, before, changed, from, to, departs }
}

/** The subjects' covariance in its parts, a row at a time. */
export interface DifferenceRows {
  /** Fills in row i of the lower triangles, up to the diagonal. */
  fill(i: number): void
  /** Of the row that was filled in last; `additive` is a sum over options. */
  readonly additive: Float64Array
  readonly interaction: Float64Array
  readonly departure: Float64Array
}

/**
 * `length` is the length-scale of numbers in units of their axis, `remainder` the r above, in (0, 1).
 *
 * The interaction's products start as those between the references and change by ratios of factors, which is safe because no
 * factor is below the remainder: for each change alone, and once more where two subjects change the same option.
 */
export function differenceRows(
  options: readonly PlacedOption[],
  reference: Int32Array,
  { length, remainder }: { readonly length: number; readonly remainder: number },
): DifferenceRows {
  const size = reference.length
  const references = referenceCount(reference)
  const similarities = options.map(({ places }) => placeSimilarities(places, length))
  const factor = (similarity: number) => (1 - remainder) * similarity + remainder
  const base = referenceProducts(options, similarities, references, factor)
  // By subject and reference: the product between what the subject changes to and that reference, beside that of the references.
  const ratios = new Float64Array(size * references).fill(1)
  const changesOf = Array.from({ length: size }, (): { readonly option: number; readonly nth: number }[] => [])
  options.forEach(({ places, before, changed, from, to }, option) => {
    const similarity = similarities[option]!
    for (let nth = 0; nth < changed.length; nth++) {
      changesOf[changed[nth]!]!.push({ option, nth })
      const row = changed[nth]! * references
      const fromRow = from[nth]! * places.length
      const toRow = to[nth]! * places.length
      for (let other = 0; other < references; other++) {
        const place = before[other]!
        ratios[row + other]! *= factor(similarity[toRow + place]!) / factor(similarity[fromRow + place]!)
      }
    }
  })
  const additive = new Float64Array(size)
  const departure = new Float64Array(size)
  const interaction = new Float64Array(size)
  const both = new Float64Array(size)

  function fill(i: number): void {
    additive.fill(0, 0, i + 1)
    departure.fill(0, 0, i + 1)
    both.fill(1, 0, i + 1)
    for (const { option, nth } of changesOf[i]!) {
      const { places, changed, from, to, departs } = options[option]!
      const similarity = similarities[option]!
      const width = places.length
      const fromRow = from[nth]! * width
      const toRow = to[nth]! * width
      for (let other = 0; other <= nth; other++) {
        const j = changed[other]!
        const toTo = similarity[toRow + to[other]!]!
        const toFrom = similarity[toRow + from[other]!]!
        const fromTo = similarity[fromRow + to[other]!]!
        const fromFrom = similarity[fromRow + from[other]!]!
        additive[j]! += toTo - toFrom - fromTo + fromFrom
        both[j]! *= (factor(toTo) * factor(fromFrom)) / (factor(toFrom) * factor(fromTo))
        if (departs[nth]! + departs[other]! === 2) {
          departure[j]! += (1 - similarity[toRow + from[nth]!]!) * (1 - similarity[to[other]! * width + from[other]!]!)
        }
      }
    }
    const own = reference[i]!
    for (let j = 0; j <= i; j++) {
      const other = reference[j]!
      const one = ratios[i * references + other]!
      const another = ratios[j * references + own]!
      interaction[j] = base[own * references + other]! * (one * another * both[j]! - one - another + 1)
    }
  }
  return { fill, additive, interaction, departure }
}

function referenceCount(reference: Int32Array): number {
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
  factor: (similarity: number) => number,
): Float64Array {
  const products = new Float64Array(references * references).fill(1)
  options.forEach(({ places, before }, index) => {
    if (before.every(place => place === before[0])) return
    const similarity = similarities[index]!
    for (let one = 0; one < references; one++) {
      const row = before[one]! * places.length
      for (let other = 0; other < references; other++) {
        products[one * references + other]! *= factor(similarity[row + before[other]!]!)
      }
    }
  })
  return products
}
