/**
 * What differs between two trees, entry by entry, and whether the difference stays inside: the check behind every diff
 * that is taken or applied, made on what git really wrote and not on the diff's text.
 */
import { posix } from 'node:path'
import { fieldsOf, git } from './git.ts'

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
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [fromMode, toMode, fromObject, toObject] = fields[at]!.slice(1).split(' ')
    changes.push({
      path: fields[at + 1]!,
      fromMode: fromMode!,
      toMode: toMode!,
      fromObject: fromObject!,
      toObject: toObject!,
    })
  }
  return changes
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
