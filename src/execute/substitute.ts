/**
 * Placeholders in a command: `{seed}`, `{config}`, `{out}` and whatever else the caller gives a value for.
 */

/**
 * The command with its values. In a string, which a shell will read, a value is quoted for the shell; in a list it is inserted as it
 * is. Braces around anything but a plain name (`${VAR}`, `{{`, `{print $1}`, `{a,b}`) are left alone. Throws one sentence for an unknown name.
 */
export function substitute(command: string, values: Readonly<Record<string, string>>): string
export function substitute(command: readonly string[], values: Readonly<Record<string, string>>): readonly string[]
export function substitute(
  command: string | readonly string[],
  values: Readonly<Record<string, string>>,
): string | readonly string[]
export function substitute(
  command: string | readonly string[],
  values: Readonly<Record<string, string>>,
): string | readonly string[] {
  if (typeof command === 'string') return insert(command, values, quoteForShell)
  return command.map(part => insert(part, values, value => value))
}

/** The names of the placeholders in a command, known or not, in order of appearance. */
export function placeholders(command: string | readonly string[]): readonly string[] {
  const text = typeof command === 'string' ? [command] : command
  return [...new Set(text.flatMap(part => [...part.matchAll(placeholder)].map(match => match[1]!)))]
}

const placeholder = /(?<![${])\{([A-Za-z_][A-Za-z0-9_]*)\}(?!\})/g

function insert(text: string, values: Readonly<Record<string, string>>, write: (value: string) => string): string {
  return text.replace(placeholder, (_, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value !== undefined) return write(value)
    const known = Object.keys(values).map(key => `{${key}}`)
    throw new Error(`the command has the unknown placeholder {${name}}; known here: ${known.join(', ') || 'none'}`)
  })
}

/** One word for a POSIX shell, whatever is in it. */
function quoteForShell(value: string): string {
  return /^[A-Za-z0-9_\-+=:,./@%]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`
}
