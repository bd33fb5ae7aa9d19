/**
 * A ledger that may not be written, read without touching it: it is copied as it is at this moment, and the copy, which has no name any
 * more, goes when it is closed. Copied because SQLite would put files beside it, because an older one is brought to the newest schema
 * before it is read, and because its owner may write meanwhile.
 */
import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { inSentences, openFile } from './sqlite.ts'

/** Throws a sentence where it cannot even be read. */
export async function copyOf(path: string): Promise<DatabaseSync> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-looked-at-'))
  const copy = join(folder, 'ledger.db')
  try {
    accessSync(path, constants.R_OK)
    // SQLite's own files lie beside the file that a link leads to.
    const real = realpathSync(path)
    // Where nobody has it open nobody holds it still either: who opened and changed it meanwhile has the copy made again.
    let before: string
    do before = stampOf(real)
    while ((await copyTo(copy, real, path)) === 'as it lay' && before !== stampOf(real))
    const file = openFile(copy)
    // A journal in memory: beside a file without a name there is no place for one.
    inSentences(path, () => file.exec('pragma journal_mode = memory'))
    return file
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EACCES' || code === 'EPERM') {
      throw new Error(`The ledger ${path} cannot be read (${code}): ask its owner for the permission to.`, {
        cause: error,
      })
    }
    throw error
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function stampOf(path: string): string {
  const { mtimeNs, size } = statSync(path, { bigint: true })
  return `${mtimeNs} ${size}`
}

async function copyTo(copy: string, real: string, path: string): Promise<'as of one moment' | 'as it lay'> {
  const isOpen = existsSync(`${real}-wal`) && existsSync(`${real}-shm`)
  if (isOpen || !hasWritesLeft(real)) {
    await copyBySqlite(copy, real, path, isOpen)
    return isOpen ? 'as of one moment' : 'as it lay'
  }
  // It was copied like this, or its last writer stopped in the middle: SQLite completes the copy.
  for (const suffix of ['', '-wal']) {
    copyFileSync(`${real}${suffix}`, `${copy}${suffix}`)
    // A copy begins as read-only as what it was copied from.
    chmodSync(`${copy}${suffix}`, 0o600)
  }
  return 'as it lay'
}

/** One moment of it, whoever writes meanwhile; of one that nobody has open, as long as it stays as it is. */
async function copyBySqlite(copy: string, real: string, path: string, isOpen: boolean): Promise<void> {
  const address = pathToFileURL(real)
  // Otherwise SQLite would want to put the files there that everybody shares who has it open.
  if (!isOpen) address.searchParams.set('immutable', '1')
  using file = inSentences(path, () => new DatabaseSync(address, { readOnly: true }))
  inSentences(path, () => {
    file.exec('begin')
    file.prepare('select count(*) from sqlite_schema').get()
  })
  try {
    await backup(file, copy, { rate: 5_000 })
  } catch (cause) {
    const { message, errcode } = cause as Error & { errcode?: number }
    if (errcode === undefined || (errcode & 0xff) !== 13) throw cause
    throw new Error(
      `The ledger ${path} may not be written, and for the copy that is looked at there is no room in ${tmpdir()} (${message}): free some space there, or set TMPDIR to another folder.`,
      { cause },
    )
  }
}

/** Whether what was written last lies beside the file still. */
function hasWritesLeft(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
}
