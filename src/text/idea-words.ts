/**
 * What a sentence proposes, for whoever claims that two sentences propose one idea: its words without numbers, without words that only
 * hold it together, and without remarks in brackets; and which way a value goes. Strict, since "embedding LR" and "matrix LR" differ in
 * one word and are two ideas.
 */
import { words } from './words.ts'

export interface ProposedIdea {
  /** Lower case; empty where the sentence says nothing but numbers. */
  readonly about: ReadonlySet<string>
  /** The one value that it changes, as in `0.6 to 0.8`, or the one number in it; null where there is none, or several. */
  readonly change: { readonly from: number | null; readonly to: number } | null
  /** Up, down, or not told: by the value it changes, else by a word such as `raise`. */
  readonly way: 1 | -1 | 0
  /** All numbers in it, where they are several and nobody knows which is which; else empty. */
  readonly numbers: string
}

const holdingTogether = new Set(
  'a an the to from of in on for with by at as and or into than via per is are be it its this that'.split(' '),
)
/** Trying an idea once more makes no other idea of it. */
const onceMore = new Set('again retest retry rerun repeat repeated'.split(' '))
const upwards =
  /^(?:increas(?:e|es|ed|ing)|rais(?:e|es|ed|ing)|higher|more|longer|larger|bigger|doubl(?:e|ed|ing)|triple)$/
const downwards =
  /^(?:decreas(?:e|es|ed|ing)|reduc(?:e|es|ed|ing)|lower(?:ed|ing)?|less|fewer|shorter|smaller|halv(?:e|ed|ing))$/

/** A number with its unit (`3600s`, `0.5x`, `17.2MB`, `5 %`), which begins no longer word; `2d` says what it is, and not how much. */
const quantity =
  /(?<![\p{L}\p{N}_.])(?![1-4]d(?![\p{L}\p{N}_]))[-+~≈]?\d[\d.,_]*(?:e[-+]?\d+)?(?:\s?%|[\p{L}]{0,3})(?![\p{L}\p{N}_])/giu

const valueChange =
  /(?<![\p{L}\p{N}_.])([-+]?\d[\d.,_]*(?:e[-+]?\d+)?)([km]?)\p{L}{0,2}\s*(?:to|->|-->|=>|→)\s*([-+]?\d[\d.,_]*(?:e[-+]?\d+)?)([km]?)/giu

const singleValue = /(?<![\p{L}\p{N}_.])(-?\d[\d.,_]*(?:e[-+]?\d+)?)([km]?)/giu

export function proposedIdea(sentence: string): ProposedIdea {
  const plain = sentence.replace(/\([^()]*\)|\[[^[\]]*\]/g, ' ')
  const without = contentOf(plain)
  const { about, up, down } = without.about.size > 0 ? without : contentOf(sentence)
  const [pair, ...pairs] = [...plain.matchAll(valueChange)].flatMap(([, from, fromUnit, to, toUnit]) => {
    const change = { from: numberOf(from!, fromUnit!), to: numberOf(to!, toUnit!) }
    return Number.isNaN(change.from + change.to) ? [] : [change]
  })
  if (pair !== undefined && pairs.length === 0) {
    return { about, change: pair, way: Math.sign(pair.to - pair.from) as ProposedIdea['way'], numbers: '' }
  }
  const numbers = [...plain.matchAll(singleValue)].map(([, digits, unit]) => numberOf(digits!, unit!))
  const [only] = numbers
  return {
    about,
    change: numbers.length === 1 && !Number.isNaN(only) ? { from: null, to: only! } : null,
    way: pair === undefined ? ((Number(up) - Number(down)) as ProposedIdea['way']) : 0,
    numbers: numbers.length > 1 ? numbers.join(' ') : '',
  }
}

/** Whether two sentences are about the same things: one word more makes another idea, as `with dropout` does. */
export function isAboutTheSame(first: ReadonlySet<string>, second: ReadonlySet<string>): boolean {
  return first.size > 0 && first.size === second.size && first.isSubsetOf(second)
}

function contentOf(text: string): { about: Set<string>; up: boolean; down: boolean } {
  const all = words(text.replace(quantity, ' '))
  return {
    about: new Set(
      all.filter(
        word =>
          !(holdingTogether.has(word) || onceMore.has(word) || upwards.test(word) || downwards.test(word)) &&
          !/^\d(?!d$)/.test(word),
      ),
    ),
    up: all.some(word => upwards.test(word)),
    down: all.some(word => downwards.test(word)),
  }
}

/** `10K` is 10000; a comma parts thousands. */
function numberOf(digits: string, unit: string): number {
  const factor = { k: 1e3, m: 1e6 }[unit.toLowerCase()] ?? 1
  return factor * Number(digits.replace(/[.,]$/, '').replaceAll(/[,_]/g, ''))
}
