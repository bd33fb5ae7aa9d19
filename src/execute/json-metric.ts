/**
 * Numbers in the JSON files of a run, by path. Reads the JSON of Python too, which has `NaN` and `Infinity` where JSON
 * has no word.
 */
import { readFileSync, statSync } from 'node:fs'
import { resolveInside } from '../files/safe-path.ts'
import { numberIn } from './number-word.ts'
import type { Reading } from './read-metrics.ts'

const largestMegabytes = 64

/** Each file is read once, however many metrics are in it. */
export class JsonFiles {
  readonly #folder: string
  readonly #since: Date | null
  readonly #files = new Map<string, { readonly value: unknown } | { readonly why: string }>()

  /** With `since`, a file that was last written before then is as good as none. */
  constructor(folder: string, since: Date | null = null) {
    this.#folder = folder
    this.#since = since
  }

  /**
   * The path is dotted, `curve.0.loss`; a number counts in a list, from the end when negative (`curve.-1.loss`). Where
   * no key `a` leads on, the key `a.b` is tried. `null` counts as not finite, because that is what JavaScript and many
   * others write for NaN.
   */
  read(file: string, path: string): Reading {
    let content = this.#files.get(file)
    if (!content) {
      content = readJson(this.#folder, file, this.#since)
      this.#files.set(file, content)
    }
    if ('why' in content) return { kind: 'missing', why: content.why }
    const value = follow(content.value, path === '' ? [] : path.split('.'))
    if (value === undefined) return { kind: 'missing', why: `${file} has nothing at ${path}` }
    if (value === null) return { kind: 'not finite', text: 'null' }
    const number = typeof value === 'number' ? value : typeof value === 'string' ? numberIn(value) : null
    if (number !== null) {
      return Number.isFinite(number) ? { kind: 'number', value: number } : { kind: 'not finite', text: String(number) }
    }
    const text = JSON.stringify(value).slice(0, 80)
    return { kind: 'missing', why: `${file} has ${text} at ${path}, which is not a number` }
  }
}

function readJson(
  folder: string,
  file: string,
  since: Date | null,
): { readonly value: unknown } | { readonly why: string } {
  let text: string
  try {
    const path = resolveInside(folder, file)
    const status = statSync(path, { throwIfNoEntry: false })
    if (!status || (since !== null && status.mtime < since)) return { why: `the run wrote no ${file}` }
    if (!status.isFile()) return { why: `${file} is not a file` }
    if (status.size > largestMegabytes * 2 ** 20) return { why: `${file} is larger than ${largestMegabytes} MB` }
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    return { why: `${file} cannot be read: ${(error as Error).message}` }
  }
  try {
    return { value: JSON.parse(text) }
  } catch {}
  try {
    return { value: JSON.parse(quoteSpecials(text)) }
  } catch (error) {
    return { why: `${file} is not JSON: ${(error as Error).message}` }
  }
}

/** `NaN` and the infinities outside strings, as strings: they are read as not finite. */
function quoteSpecials(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g, word => (word.startsWith('"') ? word : `"${word}"`))
}

function follow(value: unknown, path: readonly string[]): unknown {
  if (path.length === 0) return value
  if (Array.isArray(value)) {
    const index = Number(path[0])
    return Number.isInteger(index) ? follow(value.at(index), path.slice(1)) : undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  for (let length = 1; length <= path.length; length++) {
    const key = path.slice(0, length).join('.')
    const found = Object.hasOwn(value, key)
      ? follow((value as Record<string, unknown>)[key], path.slice(length))
      : undefined
    if (found !== undefined) return found
  }
  return undefined
}
