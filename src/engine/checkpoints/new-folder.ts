/**
 * A folder that is there whole or not at all, as atomic.ts of the files has it for one file. What a kill in the middle leaves
 * stands beside it, under a name that ends in .tmp.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Creates the folder (and those above it) with what `write` puts into the one it is given. Throws one sentence, and leaves nothing,
 * where something of that name is there or writing fails. `write` must bring its files through to the disk.
 */
export function writeNewFolder(folder: string, write: (temporary: string) => void): void {
  if (typeof folder !== 'string' || folder === '' || folder.includes('\0'))
    throw new Error(`cannot write a folder: its path is ${JSON.stringify(folder)}`)
  const refuse = (reason: string, cause?: unknown) =>
    new Error(`cannot write the folder ${folder}: ${reason}; nothing was changed`, cause === undefined ? {} : { cause })
  if (existsSync(folder)) throw refuse('it is already there, and is never replaced')
  // Without a slash at its end, so that what is beside it is not in it.
  const place = resolve(folder)
  const temporary = `${place}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`
  try {
    mkdirSync(dirname(place), { recursive: true })
    mkdirSync(temporary)
    write(temporary)
    renameSync(temporary, place)
  } catch (error) {
    // Not force: a name that is too long would make an error of its own.
    if (existsSync(temporary)) rmSync(temporary, { recursive: true })
    throw refuse((error as Error).message, error)
  }
}
