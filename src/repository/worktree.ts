/**
 * Worktrees: further working trees of one repository, each with its own files and index. Several processes may add and
 * remove them at once; git locks its records of them, and what meets a lock is tried again.
 */
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isInside } from '../files/safe-path.ts'
import { git, runGit, wordsOf } from './git.ts'

/**
 * A detached worktree whose head is the commit and whose index and files are the tree. Throws, and leaves nothing, when
 * it cannot be made or its folder exists.
 */
export async function addWorktree(root: string, path: string, commit: string, tree: string): Promise<void> {
  if (lstatSync(path, { throwIfNoEntry: false }))
    throw new Error(`cannot make a worktree at ${path}: it exists already`)
  try {
    // Twice `--force`: also where a worktree of that path is still on record but its folder is gone.
    await patiently(root, ['worktree', 'add', '--force', '--force', '--detach', '--no-checkout', path, commit])
    await git(path, ['read-tree', '--reset', '-u', tree])
  } catch (error) {
    await removeWorktree(root, path)
    throw new Error(`cannot make a worktree at ${path}: ${(error as Error).message}`, { cause: error })
  }
}

/**
 * Removes it with everything in it and git's record of it, also when either is half made or gone. Nothing happens when
 * neither is there. Throws for a folder that is no worktree of this repository, and for the main one.
 */
export async function removeWorktree(root: string, path: string): Promise<void> {
  const real = realPathOf(path)
  const [main, ...others] = await worktreesOf(root)
  if (real === main || isInside(real, root)) throw new Error(`${path} holds the repository itself and is not removed`)
  if (others.includes(real)) return await removeRecorded(root, real)
  if (!existsSync(real)) return
  if (!(await isLeftover(root, real))) throw new Error(`${path} is no worktree of ${root} and is not removed`)
  rmSync(real, { recursive: true, force: true })
}

async function removeRecorded(root: string, path: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { code, stderr } = await runGit(root, ['worktree', 'remove', '--force', '--force', path])
    // Git needs no folder to drop the record; and a damaged folder is one that only we can remove.
    rmSync(path, { recursive: true, force: true })
    if (code === 0 || !(await worktreesOf(root)).includes(path)) return
    if (attempt === mostAttempts) throw new Error(`cannot remove the worktree ${path}: ${wordsOf(stderr)}`)
    await pauseAfter(attempt)
  }
}

/** Absolute real paths, the main one first. */
async function worktreesOf(root: string): Promise<readonly string[]> {
  return (await worktreeRecords(root))
    .filter(line => line.startsWith('worktree '))
    .map(line => line.slice('worktree '.length))
}

/** Branches that are checked out somewhere, as full names. */
export async function checkedOutRefs(root: string): Promise<readonly string[]> {
  return (await worktreeRecords(root))
    .filter(line => line.startsWith('branch '))
    .map(line => line.slice('branch '.length))
}

async function worktreeRecords(root: string): Promise<readonly string[]> {
  return (await patiently(root, ['worktree', 'list', '--porcelain'])).split('\n')
}

/** Empty, or with a `.git` file that names a record of this repository. */
async function isLeftover(root: string, path: string): Promise<boolean> {
  if (!lstatSync(path).isDirectory()) return false
  if (readdirSync(path).length === 0) return true
  const records = resolve(root, await git(root, ['rev-parse', '--git-common-dir']), 'worktrees')
  const link = join(path, '.git')
  if (!lstatSync(link, { throwIfNoEntry: false })?.isFile()) return false
  const record = /^gitdir: (.*)$/m.exec(readFileSync(link, 'utf8'))?.[1]
  return record !== undefined && isInside(realPathOf(records), realPathOf(record))
}

/** Git records real paths; of one that is gone, its folder may still have one. */
function realPathOf(path: string): string {
  const whole = resolve(path)
  if (existsSync(whole)) return realpathSync(whole)
  const parent = dirname(whole)
  return parent === whole ? whole : join(realPathOf(parent), basename(whole))
}

const mostAttempts = 8

/** Another process may hold a lock, or remove its own record while git reads all of them. */
async function patiently(root: string, parameters: readonly string[]): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const { code, stdout, stderr } = await runGit(root, parameters)
    if (code === 0) return stdout.toString('utf8')
    if (attempt === mostAttempts) throw new Error(wordsOf(stderr))
    await pauseAfter(attempt)
  }
}

async function pauseAfter(attempt: number): Promise<void> {
  await sleep(10 * 2 ** attempt * (0.5 + Math.random()))
}
