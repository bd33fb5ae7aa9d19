/**
 * The covariance of gains between records and candidates, from all that is known of them: the difference kernel over
 * options, the words of the proposal, the mechanism tags, a mean, and how alike the environments are.
 */
import { objectiveOf } from '../experiment/environment.ts'
import type { Intervention } from '../experiment/intervention.ts'
import { dotsWith } from '../statistics/cosines.ts'
import { cosine, fitTfIdf } from '../text/tfidf.ts'
import { differenceRows, type PlacedOption, placeOption } from './difference-kernel.ts'
import { proposalWords } from './intervention-text.ts'
import { optionScale } from './option-scale.ts'
import { compareOptions, type OptionValue, type Subject } from './option-values.ts'

export interface KernelSubject extends Subject {
  readonly intervention: Intervention
}

/** Variances are in units of squared scaled gains, `length` in typical steps of an option. */
export interface KernelParameters {
  readonly additive: number
  readonly interaction: number
  readonly departure: number
  readonly words: number
  readonly tags: number
  readonly mean: number
  readonly length: number
  /** Share of the interaction that survives a changed option, in (0, 1). */
  readonly remainder: number
  /** Correlation of the same change in two families of one description, in (0, 1). */
  readonly family: number
}

export interface ComparedSubjects {
  readonly size: number
  readonly options: readonly PlacedOption[]
  readonly reference: Int32Array
  readonly family: Int32Array
  /** n × n, row-major and symmetric. */
  readonly words: Float64Array
  readonly tags: Float64Array
  /** How alike two families are described, 1 within a family: families × families. */
  readonly likeness: readonly (readonly number[])[]
}

/** Where options tell what is changed, words count for a quarter: they call raising and lowering by one name. */
const wordsBesideOptions = 0.5

/**
 * Compares all subjects with each other, once for all parameters. The first `known` are records: only they decide how
 * words are weighed and how options are scaled, so that a forecast does not depend on who else is a candidate.
 */
export function compareSubjects(subjects: readonly KernelSubject[], known: number): ComparedSubjects {
  const { options, reference } = compareOptions(subjects)
  const families = new Map<string, number>()
  const family = Int32Array.from(subjects, ({ environment }) => {
    const index = families.get(environment.familyId) ?? families.size
    families.set(environment.familyId, index)
    return index
  })
  return {
    size: subjects.length,
    options: options.map(option => {
      const steps = option.changed.flatMap((subject, index) => {
        const pair = [option.before[subject]!, option.after[index]!] as const
        return subject < known && isNumbers(pair) ? [pair] : []
      })
      const seen = [...option.before.filter((_, subject) => subject < known), ...steps.flat()]
      return placeOption(option, reference, optionScale([...new Set(seen)].filter(isNumber), steps))
    }),
    reference,
    family,
    words: wordCovariance(subjects, known),
    tags: tagCovariance(subjects),
    likeness: familyLikeness(subjects, family),
  }
}

/** n × n, row-major; the noise of measurements is not in it. */
export function gainCovariance(compared: ComparedSubjects, parameters: KernelParameters): Float64Array {
  const { size, reference, family, words, tags, likeness } = compared
  const differences = differenceRows(compared.options, reference, parameters)
  const { additive, interaction, departure } = differences
  const acrossFamilies = parameters.family
  // Words, tags and mean know nothing of the reference, so another version of the family lies half way.
  const acrossVersions = Math.sqrt(acrossFamilies)
  const result = new Float64Array(size * size)
  for (let i = 0; i < size; i++) {
    const alike = likeness[family[i]!]!
    differences.fill(i)
    for (let j = 0; j <= i; j++) {
      const cell = i * size + j
      const sameFamily = family[i] === family[j]
      const environments = sameFamily ? 1 : acrossFamilies * alike[family[j]!]!
      const versions = sameFamily ? (reference[i] === reference[j] ? 1 : acrossVersions) : environments
      const value =
        environments *
          (parameters.additive * additive[j]! +
            parameters.interaction * interaction[j]! +
            parameters.departure * departure[j]!) +
        versions * (parameters.words * words[cell]! + parameters.tags * tags[cell]! + parameters.mean)
      result[cell] = value
      result[j * size + i] = value
    }
  }
  return result
}

function wordCovariance(subjects: readonly KernelSubject[], known: number): Float64Array {
  const texts = subjects.map(({ intervention }) => proposalWords(intervention))
  const model = fitTfIdf(texts.slice(0, known), { bigrams: false })
  const vectors = texts.map(model.transform)
  const amplitudes = subjects.map(({ changes }) => (changes.length === 0 ? 1 : wordsBesideOptions))
  const dotsOf = dotsWith(vectors, model.size)
  const size = subjects.length
  const result = new Float64Array(size * size)
  vectors.forEach((vector, i) => {
    const dots = dotsOf(vector)
    for (let j = 0; j < size; j++) result[i * size + j] = amplitudes[i]! * amplitudes[j]! * dots[j]!
  })
  return result
}

function tagCovariance(subjects: readonly KernelSubject[]): Float64Array {
  const lists = new Map<string, number>()
  const distinct: (readonly string[])[] = []
  const list = Int32Array.from(subjects, ({ intervention: { tags } }) => {
    const key = JSON.stringify(tags)
    const index = lists.get(key) ?? distinct.push(tags) - 1
    lists.set(key, index)
    return index
  })
  const overlaps = distinct.map(first => Float64Array.from(distinct, second => tagOverlap(first, second)))
  const size = subjects.length
  const result = new Float64Array(size * size)
  for (let i = 0; i < size; i++) {
    const row = overlaps[list[i]!]!
    for (let j = 0; j < size; j++) result[i * size + j] = row[list[j]!]!
  }
  return result
}

/** Cosine of two sets; what has no tag is like nothing. */
function tagOverlap(first: readonly string[], second: readonly string[]): number {
  if (first.length === 0 || second.length === 0) return 0
  const common = first.filter(tag => second.includes(tag)).length
  return common / Math.sqrt(first.length * second.length)
}

/** Half for any environment, half for one that is described alike and measures the same objective. */
function familyLikeness(subjects: readonly KernelSubject[], family: Int32Array): number[][] {
  const texts: string[] = []
  subjects.forEach(({ environment }, subject) => {
    const { name, description } = environment.family
    const { name: metric, unit } = objectiveOf(environment.family)
    texts[family[subject]!] = [name, description, metric, unit ?? ''].join('\n')
  })
  const model = fitTfIdf(texts, { bigrams: false })
  const vectors = texts.map(model.transform)
  return vectors.map((first, i) => vectors.map((second, j) => (i === j ? 1 : 0.5 + 0.5 * cosine(first, second))))
}

function isNumber(value: OptionValue): value is number {
  return typeof value === 'number'
}

function isNumbers(pair: readonly [OptionValue, OptionValue]): pair is readonly [number, number] {
  return isNumber(pair[0]) && isNumber(pair[1])
}
