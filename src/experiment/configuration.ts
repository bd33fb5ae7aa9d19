/**
 * Configurations as JSON values: applying overrides, and naming what differs.
 */
import type { ChangedOption } from './intervention.ts'
import { canonicalJson, isJsonObject, type Json } from './json.ts'

/** JSON merge patch, RFC 7396: null deletes, objects merge, all else replaces. Returns a new value. */
export function mergePatch(configuration: Json, patch: Json): Json {
  if (!isJsonObject(patch)) return patch
  const merged = new Map(isJsonObject(configuration) ? Object.entries(configuration) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key) ?? null, value))
  }
  // Not by assignment: a key may be called __proto__.
  return Object.fromEntries(merged)
}

/**
 * The options that differ, by dotted path, in the order of the first configuration and then of the second. Lists are
 * values; where one side has an object and the other something else, both sides' options are listed.
 */
export function diffConfigurations(a: Json, b: Json): ChangedOption[] {
  const before = leaves(a)
  const after = leaves(b)
  return [...new Set([...before.keys(), ...after.keys()])].flatMap(option => {
    const from = before.get(option)
    const to = after.get(option)
    const same = from !== undefined && to !== undefined && canonicalJson(from) === canonicalJson(to)
    return same ? [] : [{ option, from, to }]
  })
}

function leaves(value: Json, path = '', found = new Map<string, Json>()): Map<string, Json> {
  if (isJsonObject(value) && (path === '' || Object.keys(value).length > 0)) {
    for (const [key, member] of Object.entries(value)) {
      // A key with a dot of its own is quoted, so that two options never share a path.
      const segment = key === '' || /[."]/.test(key) ? JSON.stringify(key) : key
      leaves(member, path === '' ? segment : `${path}.${segment}`, found)
    }
  } else if (path !== '' || value !== null) found.set(path, value)
  return found
}
