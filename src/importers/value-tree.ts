/**
 * Values by path that a log changes one at a time, a million times over: changed in place, and a JSON object when the log is at its end.
 */
import { isJsonObject, type Json, type JsonObject } from '../experiment/json.ts'

type Branch = Map<string, Branch | Exclude<Json, JsonObject>>

export class ValueTree {
  readonly #root: Branch = new Map()

  /** Objects on the way are made; what stood in the way of one is gone. */
  set(path: readonly string[], value: Json): void {
    const branch = this.#branchOf(path, true)
    const key = path.at(-1)
    if (branch && key !== undefined) branch.set(key, grown(value))
  }

  remove(path: readonly string[]): void {
    const key = path.at(-1)
    if (key !== undefined) this.#branchOf(path, false)?.delete(key)
  }

  toJson(): JsonObject {
    return cut(this.#root)
  }

  #branchOf(path: readonly string[], makes: boolean): Branch | null {
    let branch = this.#root
    for (const key of path.slice(0, -1)) {
      let next = branch.get(key)
      if (!(next instanceof Map)) {
        if (!makes) return null
        next = new Map()
        branch.set(key, next)
      }
      branch = next
    }
    return branch
  }
}

function grown(value: Json): Branch | Exclude<Json, JsonObject> {
  if (!isJsonObject(value)) return value as Exclude<Json, JsonObject>
  return new Map(Object.entries(value).map(([key, member]) => [key, grown(member)]))
}

/** Not by assignment: a key may be called __proto__. */
function cut(branch: Branch): JsonObject {
  return Object.fromEntries(
    [...branch].map(([key, member]): [string, Json] => [key, member instanceof Map ? cut(member) : member]),
  )
}
