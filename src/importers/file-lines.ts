/**
 * Text files of other programs, read a piece at a time: however large a file is, little of it is in memory.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { StringDecoder } from 'node:string_decoder'

const pieceBytes = 65_536

/** What is longer is no line that a program writes. */
const longestLine = 2 ** 20

/** Its lines without their ends, each cut after a million characters; a last line that nothing ends is a line as well. */
export function* linesOf(path: string): Generator<string> {
  const file = openFile(path)
  try {
    const decoder = new StringDecoder('utf8')
    const piece = Buffer.alloc(pieceBytes)
    let open = ''
    for (let bytes = readSync(file, piece); bytes > 0; bytes = readSync(file, piece)) {
      const [first, ...others] = decoder.write(piece.subarray(0, bytes)).split('\n')
      open += first!.slice(0, longestLine - open.length)
      for (const next of others) {
        yield open.replace(/\r$/, '')
        open = next
      }
    }
    open += decoder.end()
    if (open !== '') yield open
  } finally {
    closeSync(file)
  }
}

/** The whole text of a small file, or as much of a large one; without a line end at its end. */
export function startOf(path: string, mostBytes = pieceBytes): string {
  const file = openFile(path)
  try {
    const piece = Buffer.alloc(Math.min(mostBytes, fstatSync(file).size))
    const bytes = piece.length === 0 ? 0 : readSync(file, piece)
    return new StringDecoder('utf8').write(piece.subarray(0, bytes)).replace(/\r?\n$/, '')
  } finally {
    closeSync(file)
  }
}

/** Throws a sentence for a pipe or a device, which might keep us waiting for ever. */
function openFile(path: string): number {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  if (fstatSync(file).isFile()) return file
  closeSync(file)
  throw new Error(`${basename(path)} is not a file`)
}
