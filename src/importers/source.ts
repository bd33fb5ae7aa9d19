/** What a user names as the source of an import: a file, a folder, or an address on the web. */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import type { Source } from './importer.ts'

/** `folder` is where relative names start from. Throws a sentence where nothing is there. */
export function sourceOf(given: string, folder: string): Source {
  if (/^https?:\/\//i.test(given)) {
    const url = URL.parse(given)
    if (url === null) throw new Error(`${given} is not an address`)
    const name = `${url.host}${url.pathname === '/' ? '' : url.pathname.replace(/\/+$/, '')}`
    return { kind: 'address', url, name }
  }
  const path = resolve(folder, given)
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) throw new Error(`There is no file ${path}; correct its name.`)
  if (found.isDirectory()) return { kind: 'folder', path, name: basename(path) }
  if (found.isFile()) return { kind: 'file', path, name: basename(path) }
  throw new Error(`${path} is neither a file nor a folder; name one that can be read.`)
}

const beginning = 65_536

/** The beginning of a file, as text; empty for what is not a file. Throws a sentence where it cannot be read. */
export function beginningOf(source: Source): string {
  if (source.kind !== 'file') return ''
  let file: number | null = null
  try {
    file = openSync(source.path, 'r')
    const buffer = Buffer.alloc(beginning)
    return decoded(buffer.subarray(0, readSync(file, buffer, 0, beginning, 0)))
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new Error(`${source.path} cannot be read (${code}); name a file that can.`, { cause })
  } finally {
    if (file !== null) closeSync(file)
  }
}

/** A text longer than this does not fit into one string. */
const longestText = 500_000_000

/** Without its byte-order mark, which also tells UTF-16: some shells and spreadsheets write that. */
function decoded(bytes: Buffer): string {
  const mark = bytes.toString('latin1', 0, 2)
  if (mark === '\xff\xfe') return new TextDecoder('utf-16le').decode(bytes)
  if (mark === '\xfe\xff') return new TextDecoder('utf-16be').decode(bytes)
  return bytes.toString('utf8').replace(/^\uFEFF/, '')
}

/** The whole text of a file, without its byte-order mark. Throws a sentence for what is none, or too long. */
export async function textOf(source: Source): Promise<string> {
  if (source.kind !== 'file') throw new Error(`${source.name} is no file; name the file that holds the log`)
  const { size } = statSync(source.path)
  if (size > longestText) {
    throw new Error(
      `${source.name} has ${size} bytes; at most ${longestText} can be read at once: split it and import the parts`,
    )
  }
  try {
    return decoded(await readFile(source.path))
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new Error(`${source.path} cannot be read (${code}); name a file that can.`, { cause })
  }
}
