/**
 * What differs between two trees, entry by entry, and whether the difference stays inside: the check behind every diff
 * that is taken or applied, made on what git really wrote and not on the diff's text.
 */
import { posix } from 'node:path'
import { fieldsOf, git, offline } from './git.ts'

export interface TreePair {
  readonly from: string
  readonly to: string
}

export interface TreeChange {
  readonly path: string
  /** Octal, as git writes it; `000000` where the path is absent. */
  readonly fromMode: string
  readonly toMode: string
  readonly fromObject: string
  readonly toObject: string
}

const link = '120000'
const submodule = '160000'

export async function treeChanges(root: string, from: string, to: string): Promise<readonly TreeChange[]> {
  const fields = fieldsOf(await git(root, ['diff-tree', '-r', '--raw', '--no-renames', '--no-abbrev', '-z', from, to]))
  const changes: TreeChange[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) changes.push(changeOf(fields[at]!, fields[at + 1]!))
  return changes
}

/** The same of many pairs in one call of git, in their order. */
export async function changesOfPairs(root: string, pairs: readonly TreePair[]): Promise<readonly TreeChange[][]> {
  if (pairs.length === 0) return []
  const input = pairs.map(({ from, to }) => `${from} ${to}\n`).join('')
  const parameters = ['diff-tree', '--stdin', '-r', '--raw', '--no-renames', '--no-abbrev', '-z']
  const output = await git(root, parameters, { input, variables: offline })
  // Each begins with its pair on a line; a change begins with a colon, and its path ends with a zero, whatever is in it.
  const found: TreeChange[][] = []
  for (let at = 0; at < output.length; ) {
    if (output[at] === ':') {
      const path = output.indexOf('\0', at) + 1
      const end = output.indexOf('\0', path)
      found.at(-1)!.push(changeOf(output.slice(at, path - 1), output.slice(path, end)))
      at = end + 1
    } else {
      found.push([])
      const end = output.indexOf('\n', at)
      at = end < 0 ? output.length : end + 1
    }
  }
  return found
}

/** `:100644 100644 HASH HASH M`. */
function changeOf(written: string, path: string): TreeChange {
  const [fromMode, toMode, fromObject, toObject] = written.slice(1).split(' ')
  return { path, fromMode: fromMode!, toMode: toMode!, fromObject: fromObject!, toObject: toObject! }
}

export function isSubmodule({ fromMode, toMode }: TreeChange): boolean {
  return fromMode === submodule || toMode === submodule
}

/** Throws a sentence for a changed submodule, a symbolic link that leads out, and anything of git's own. */
export async function refuseEscapes(root: string, changes: readonly TreeChange[]): Promise<void> {
  for (const change of changes) {
    if (isSubmodule(change)) throw new Error(`the diff changes the submodule ${change.path}; an experiment cannot`)
    if (change.path.split('/').some(part => part.toLowerCase() === '.git')) {
      throw new Error(`the diff changes ${change.path}, which is git's own`)
    }
    if (change.toMode !== link) continue
    const target = await git(root, ['cat-file', 'blob', change.toObject])
    if (leavesTree(change.path, target)) {
      throw new Error(`the diff makes ${change.path} a symbolic link to ${target}, which is outside the repository`)
    }
  }
}

/** Whether a symbolic link at a path of the tree leads out of the tree, or to git's own files. */
export function leavesTree(path: string, target: string): boolean {
  if (posix.isAbsolute(target)) return true
  const [first] = posix.join(posix.dirname(path), target).split('/')
  return first === '..' || first?.toLowerCase() === '.git'
}
