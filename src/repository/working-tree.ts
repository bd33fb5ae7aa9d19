/**
 * The working tree as a diff against a commit: what is tracked and has changed, and the untracked files that look like
 * code. The user's index and files are only read.
 */
import { closeSync, lstatSync, openSync, readlinkSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { diffText } from './diff-text.ts'
import { fieldsOf, git } from './git.ts'
import { withCopyOfIndex } from './temporary-index.ts'
import { isSubmodule, leavesTree, refuseEscapes, type TreeChange, treeChanges } from './tree-changes.ts'

export interface WorkingTreeDiff {
  /** Unified diff from the commit to the working tree; empty when nothing differs. */
  readonly diff: string
  /** Hash of the tree after the diff. */
  readonly tree: string
  /** Untracked files that are in the diff. */
  readonly untracked: readonly string[]
  /** What differs but is left out, each with the reason: `data/big.bin (untracked, over 1 MB)`. */
  readonly skipped: readonly string[]
}

const largestUntrackedBytes = 2 ** 20
/** More than this is no change of code, but a folder that should be ignored. */
const mostUntracked = 1000

export async function workingTreeDiff(
  root: string,
  commit: string,
  exclude: readonly string[],
): Promise<WorkingTreeDiff> {
  return await withCopyOfIndex(root, async index => {
    const stages = fieldsOf(await git(root, ['ls-files', '--unmerged', '-z'], { index }))
    const unmerged = [...new Set(stages.map(stage => stage.slice(stage.indexOf('\t') + 1)))]
    if (unmerged.length > 0) throw new Error(`a merge is not finished: resolve ${unmerged.join(', ')} first`)
    await git(root, ['add', '--update'], { index })
    const { untracked, skipped } = await addUntracked(root, index, exclude)
    const whole = await git(root, ['write-tree'], { index })
    const { tree, submodules } = await leaveOut(root, index, commit, whole, exclude)
    await refuseEscapes(root, await treeChanges(root, commit, tree))
    const diff = tree === (await git(root, ['rev-parse', `${commit}^{tree}`])) ? '' : await diffText(root, commit, tree)
    return { diff, tree, untracked, skipped: [...skipped, ...submodules.map(path => `${path} (a submodule)`)] }
  })
}

async function addUntracked(root: string, index: string, exclude: readonly string[]) {
  const listed = fieldsOf(await git(root, ['ls-files', '--others', '--exclude-standard', '-z'], { index }))
  const candidates = listed.filter(path => !isWithin(path, exclude))
  if (candidates.length > mostUntracked) {
    throw new Error(
      `there are ${candidates.length} untracked files (${candidates[0]}, …): add what is not part of the change to .gitignore`,
    )
  }
  const untracked: string[] = []
  const skipped: string[] = []
  for (const path of candidates) {
    const reason = reasonToSkip(root, path)
    if (reason === null) untracked.push(path)
    else skipped.push(`${path} (untracked, ${reason})`)
  }
  // A file may be gone since it was listed: then --remove lets it be.
  await git(root, ['update-index', '--add', '--remove', '-z', '--stdin'], { index, input: untracked.join('\0') })
  return { untracked, skipped }
}

function reasonToSkip(root: string, path: string): string | null {
  if (path.endsWith('/')) return 'a repository of its own'
  const whole = join(root, path)
  const status = lstatSync(whole, { throwIfNoEntry: false })
  if (!status) return 'gone'
  if (status.isSymbolicLink()) return leavesTree(path, readlinkSync(whole)) ? 'a link that leads outside' : null
  if (!status.isFile()) return 'not a file'
  if (status.size > largestUntrackedBytes) return 'over 1 MB'
  return isBinary(whole) ? 'binary' : null
}

/** Git's own rule: a zero byte among the first eight thousand. */
function isBinary(path: string): boolean {
  const descriptor = openSync(path, 'r')
  try {
    const start = Buffer.alloc(8000)
    return start.subarray(0, readSync(descriptor, start)).includes(0)
  } finally {
    closeSync(descriptor)
  }
}

/** Puts excluded paths and submodules back to what the commit has. */
async function leaveOut(root: string, index: string, commit: string, tree: string, exclude: readonly string[]) {
  const changes = await treeChanges(root, commit, tree)
  const back = changes.filter(change => isSubmodule(change) || isWithin(change.path, exclude))
  if (back.length === 0) return { tree, submodules: [] }
  await git(root, ['update-index', '-z', '--index-info'], { index, input: back.map(entryBefore).join('') })
  const submodules = back.filter(change => isSubmodule(change) && !isWithin(change.path, exclude))
  return { tree: await git(root, ['write-tree'], { index }), submodules: submodules.map(({ path }) => path) }
}

/** A line for `update-index --index-info`; mode 0 takes the path out. */
function entryBefore({ fromMode, fromObject, path }: TreeChange): string {
  return `${fromMode === '000000' ? '0' : fromMode} ${fromObject}\t${path}\0`
}

/** Whether a path is one of the files and folders, or below one. */
function isWithin(path: string, places: readonly string[]): boolean {
  return places.some(place => {
    const clean = place.replace(/^(\.\/)+/, '').replace(/\/+$/, '')
    return path === clean || path.startsWith(`${clean}/`)
  })
}
