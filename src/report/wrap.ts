/** Sentences in lines that fit the terminal, and that are no longer than one likes to read where it is wide or there is none. */
import { displayWidth } from './display-width.ts'

const widest = 100

/**
 * Broken at spaces; what has none stays whole, so that an address or a path can be copied. Line feeds stay. Further lines of what was one
 * begin with `indent`.
 */
export function wrap(text: string, columns: number, indent = ''): string {
  const room = Math.min(columns, widest)
  return text
    .split('\n')
    .map(line => wrapLine(line, room, indent))
    .join('\n')
}

function wrapLine(line: string, room: number, indent: string): string {
  const lines: string[] = []
  let current = /^ */.exec(line)![0]
  let isEmpty = true
  for (const word of line.trim().split(/ +/)) {
    if (!isEmpty && displayWidth(current) + 1 + displayWidth(word) > room) {
      lines.push(current)
      current = indent
      isEmpty = true
    }
    current += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, current].join('\n')
}
