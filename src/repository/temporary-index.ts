/**
 * An index of our own for a moment, beside which the user's stays as it is.
 */
import { copyFileSync, mkdtempSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { git } from './git.ts'

/** Calls with the path of an index file that does not exist yet, and removes it afterwards. */
export async function withIndex<Result>(use: (index: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-index-'))
  try {
    return await use(join(folder, 'index'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Calls with a copy of the user's index, which knows what is tracked and which files have not changed since. */
export async function withCopyOfIndex<Result>(root: string, use: (index: string) => Promise<Result>): Promise<Result> {
  const original = resolve(root, await git(root, ['rev-parse', '--git-path', 'index']))
  return await withIndex(async index => {
    const status = statSync(original, { throwIfNoEntry: false })
    if (status) {
      copyFileSync(original, index)
      // Git trusts that a file older than its index has not changed since. A copy with a later time would make it miss
      // a change that was made in the same instant in which the original was written.
      utimesSync(index, status.atime, Math.floor(status.mtimeMs) / 1000)
    }
    return await use(index)
  })
}
