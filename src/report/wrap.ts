/** Sentences in lines that fit the terminal, and that are no longer than one likes to read where it is wide or there is none. */
import { displayWidth } from './display-width.ts'
import { singleLine } from './outside-text.ts'

/** Columns of a line that is read with ease. */
export const widest = 100

/**
 * Broken at spaces; what has none stays whole, so that an address or a path can be copied. Line feeds stay. Further lines of what was one
 * begin with `indent`.
 */
export function wrap(text: string, columns: number, indent = ''): string {
  const room = Math.min(columns, widest)
  return text
    .split('\n')
    .flatMap(line => filled(/^ */.exec(line)![0], line.trim(), indent, room))
    .join('\n')
}

/** A text beside its label, which stays as it is, padding and all; further lines stand below the beginning of the text. */
export function hanging(label: string, text: string): string[] {
  return filled(label, singleLine(text), ' '.repeat(displayWidth(label)), widest)
}

function filled(beginning: string, text: string, indent: string, room: number): string[] {
  const lines: string[] = []
  let current = beginning
  let isEmpty = true
  for (const word of text.split(/ +/)) {
    if (!isEmpty && displayWidth(current) + 1 + displayWidth(word) > room) {
      lines.push(current)
      current = indent
      isEmpty = true
    }
    current += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, current]
}
