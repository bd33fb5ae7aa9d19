/**
 * YAML as programs write it (PyYAML and Go's yaml: W&B's config.yaml, MLflow's meta.yaml), as JSON. Tags of Python are passed over
 * (`!!python/tuple` is a list); moments stay text.
 */
import { parseDocument } from 'yaml'
import type { Json } from '../experiment/json.ts'

const deepest = 50
/** Far more than any program writes about a run; the parser takes a second for each million. */
const mostCharacters = 4_000_000

/** Throws a sentence where the text is none. */
export function readProgramYaml(text: string): Json {
  if (text.length > mostCharacters) throw new Error(`it is longer than ${mostCharacters} characters`)
  const document = parseDocument(text.replace(/^\uFEFF/, ''), { intAsBigInt: true, logLevel: 'error' })
  const [error] = document.errors
  if (error) throw new Error(sentenceOf(error.message))
  try {
    return jsonOf(document.toJS({ mapAsMap: true, maxAliasCount: 100 }), 0)
  } catch (cause) {
    throw new Error(sentenceOf((cause as Error).message), { cause })
  }
}

/** The first line says what and where; the rest is a picture. */
function sentenceOf(message: string): string {
  return message.split('\n')[0]!.replace(/:$/, '')
}

/** An integer that a number cannot hold exactly stays text. */
function jsonOf(value: unknown, depth: number): Json {
  if (depth > deepest) throw new Error(`it is nested more than ${deepest} deep`)
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (Array.isArray(value)) return value.map(member => jsonOf(member, depth + 1))
  if (!(value instanceof Map)) return value as Json
  return Object.fromEntries(
    [...value].map(([key, member]) => {
      if (typeof key === 'object' && key !== null) throw new Error('one of its keys is no scalar')
      return [String(key ?? ''), jsonOf(member, depth + 1)]
    }),
  )
}
