/**
 * The lines of a log from its end, in bounded memory: logs are large, and what counts is printed last.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const blockBytes = 2 ** 20
/** Of a longer line only the end is kept. */
const longestLineBytes = 2 ** 14

/**
 * Batches of lines in order, the last batch first. A carriage return ends a line too (progress bars), and colours are
 * left out. No batch when there is no such file.
 */
export function* linesFromEnd(path: string): Generator<readonly string[]> {
  const descriptor = openOrNull(path)
  if (descriptor === null) return
  try {
    let rest: Buffer = Buffer.alloc(0)
    for (let end = fstatSync(descriptor).size; end > 0; ) {
      const start = Math.max(0, end - blockBytes)
      const block = Buffer.concat([read(descriptor, start, end), rest])
      // The first line of a block most likely begins in the block before; and UTF-8 can only be cut at an end of line.
      const cut = start === 0 ? 0 : firstLineEnd(block)
      rest = block.subarray(0, Math.min(cut, block.length))
      rest = rest.subarray(Math.max(0, rest.length - longestLineBytes))
      yield linesOf(block.subarray(cut))
      end = start
    }
  } finally {
    closeSync(descriptor)
  }
}

/** The last line that is not blank; null when there is none. */
export function lastLine(path: string): string | null {
  for (const lines of linesFromEnd(path)) {
    const line = lines.findLast(candidate => candidate.trim() !== '')
    if (line !== undefined) return line
  }
  return null
}

/** Of the end of a log of errors, the line that says what went wrong: the last that names an error, else the last there is. */
export function lastComplaint(path: string): string | null {
  for (const lines of linesFromEnd(path)) {
    // Node ends with its stack and its version, Python with the error itself.
    const named = lines
      .slice(-50)
      .findLast(line => /^\s*(Uncaught )?([\w.]*(Error|Exception)|error|fatal)\b/.test(line))
    if (named !== undefined) return named.trim()
    break
  }
  return lastLine(path)
}

function linesOf(block: Buffer): readonly string[] {
  return block
    .toString('utf8')
    .split(/\r\n|\n|\r/)
    .map(line => (line.includes('\x1b') ? line.replace(colours, '') : line).slice(-longestLineBytes))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are coloured with control characters
const colours = /\x1b\[[0-9;]*[A-Za-z]/g

function firstLineEnd(block: Buffer): number {
  const ends = [block.indexOf(10), block.indexOf(13)].filter(end => end >= 0)
  return ends.length === 0 ? block.length : Math.min(...ends)
}

function read(descriptor: number, start: number, end: number): Buffer {
  const buffer = Buffer.alloc(end - start)
  return buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, start))
}

function openOrNull(path: string): number | null {
  try {
    return openSync(path, 'r')
  } catch {
    return null
  }
}
