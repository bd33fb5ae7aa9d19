/**
 * Finds a name that an object of a JSON text has twice: `JSON.parse` keeps the last and says nothing.
 */

/** The first name that is repeated within one object, at any depth, or null. The text must be valid JSON. */
export function repeatedKey(json: string): string | null {
  /** Of the objects (and null for arrays) around the place, outermost first. */
  const around: (Set<string> | null)[] = []
  let lastText = ''
  for (let place = 0; place < json.length; place++) {
    const character = json[place]
    if (character === '{') around.push(new Set())
    else if (character === '[') around.push(null)
    else if (character === '}' || character === ']') around.pop()
    else if (character === '"') {
      const start = place
      for (place++; json[place] !== '"'; place++) if (json[place] === '\\') place++
      lastText = json.slice(start, place + 1)
    } else if (character === ':') {
      // Escapes can write one name in two ways.
      const key = JSON.parse(lastText) as string
      const keys = around.at(-1)!
      if (keys.has(key)) return key
      keys.add(key)
    }
  }
  return null
}
