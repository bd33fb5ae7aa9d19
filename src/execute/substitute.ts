/**
 * Placeholders in a command: `{seed}`, `{config}`, `{out}` and whatever else the caller gives a value for.
 */

type Values = Readonly<Record<string, string>>

/**
 * The command with its values. In a string, which a shell will read, a value is quoted as its place asks (bare, in "…"
 * or in '…'); in a list it is inserted as it is. Left alone is what is not a plain name in single braces: `${VAR}`,
 * `{{name}}`, `{print $1}`, `{a,b}`. Throws one sentence for an unknown name.
 */
export function substitute(command: string, values: Values): string
export function substitute(command: readonly string[], values: Values): readonly string[]
export function substitute(command: string | readonly string[], values: Values): string | readonly string[]
export function substitute(command: string | readonly string[], values: Values): string | readonly string[] {
  if (typeof command !== 'string') return command.map(part => insert(part, values, value => value))
  return insert(command, values, (value, place) => quoteFor(quotesAt(command, place), value))
}

/** The names of the placeholders in a command, known or not, in order of appearance. */
export function placeholders(command: string | readonly string[]): readonly string[] {
  const parts = typeof command === 'string' ? [command] : command
  const names = parts.flatMap(part => [...part.matchAll(braces)].map(match => match[1]))
  return [...new Set(names.filter(name => name !== undefined))]
}

/** The first two alternatives take what is left alone; only the third has a name. */
const braces = /\{\{\w+\}\}|\$\{\w+\}|\{([A-Za-z_]\w*)\}/g

function insert(text: string, values: Values, write: (value: string, place: number) => string): string {
  return text.replace(braces, (whole: string, name: string | undefined, place: number) => {
    if (name === undefined) return whole
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value !== undefined) return write(value, place)
    const known = Object.keys(values).map(key => `{${key}}`)
    throw new Error(
      `the command has the unknown placeholder {${name}}; known here: ${known.join(', ') || 'none'} (write {{${name}}} to keep the braces)`,
    )
  })
}

type Quotes = 'none' | 'single' | 'double'

/** Which quotes are open at a place of a shell command. Does not follow quotes inside `"$(…)"`. */
function quotesAt(command: string, place: number): Quotes {
  let quotes: Quotes = 'none'
  for (let at = 0; at < place; at++) {
    const character = command[at]
    if (character === '\\' && quotes !== 'single') at++
    else if (character === "'" && quotes !== 'double') quotes = quotes === 'single' ? 'none' : 'single'
    else if (character === '"' && quotes !== 'single') quotes = quotes === 'double' ? 'none' : 'double'
  }
  return quotes
}

/** The value as a POSIX shell will read it back, whatever is in it. */
function quoteFor(quotes: Quotes, value: string): string {
  if (quotes === 'double') return value.replace(/[\\"$`]/g, '\\$&')
  const inside = value.replaceAll("'", `'\\''`)
  if (quotes === 'single') return inside
  return /^[\w\-+=:,./@%]+$/.test(value) ? value : `'${inside}'`
}
