/**
 * Links data and environment folders, which git does not carry, into a worktree.
 */
import { existsSync, lstatSync, mkdirSync, readlinkSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { resolveInside } from '../files/safe-path.ts'
import { git } from './git.ts'

/**
 * Makes `worktree/path` a symbolic link to `root/path`, for each path. Throws a sentence for a path that leaves the
 * root, does not exist there, or is in the worktree already, tracked above all; the same link is kept. The last part
 * may itself be a link to anywhere, because data often lives on another disk.
 */
export async function linkInto(worktree: string, root: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const target = placeOf(root, path)
    const place = placeOf(worktree, path)
    if (!existsSync(target)) throw new Error(`cannot link ${path}: there is no ${target}`)
    const there = lstatSync(place, { throwIfNoEntry: false })
    if (there?.isSymbolicLink() && readlinkSync(place) === target) continue
    if (there) throw new Error(`cannot link ${path}: ${await reasonItIsThere(worktree, path, place)}`)
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(target, place)
  }
}

function placeOf(folder: string, path: string): string {
  const name = basename(path)
  if (['', '.', '..'].includes(name) || path.split('/').includes('.git')) {
    throw new Error(`cannot link ${path}: name a file or folder below the root`)
  }
  return join(resolveInside(folder, dirname(path)), name)
}

async function reasonItIsThere(worktree: string, path: string, place: string): Promise<string> {
  const tracked = await git(worktree, ['ls-files', '--', `:(top,literal)${path.replace(/\/+$/, '')}`])
  if (tracked === '') return `${place} exists already`
  return 'git carries it, or files in it, so it is in the worktree already; take it off the list, or link what is not tracked in it'
}
