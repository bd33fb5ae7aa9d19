/**
 * A user's git repository as experiments need it: trees, diffs and worktrees, without ever touching the user's own
 * index or files. New objects (trees, blobs) are added to its store; git collects those that nothing names.
 */
import { createHash } from 'node:crypto'
import { applyDiff } from './apply-diff.ts'
import { type CommitInfo, commitInfo, commitTree, resolveTo } from './commits.ts'
import { diffText } from './diff-text.ts'
import { git, runGit, wordsOf } from './git.ts'
import { type RepositoryState, stateOf } from './state.ts'
import { treeChanges } from './tree-changes.ts'
import { type WorkingTreeDiff, workingTreeDiff } from './working-tree.ts'
import { addWorktree, removeWorktree } from './worktree.ts'

export type { CommitInfo, RepositoryState, WorkingTreeDiff }

/** Every method throws one clear sentence when it cannot do what it says. Paths in git are relative to `root`. */
export interface Repository {
  /** Absolute path of the working tree's root. */
  readonly root: string
  /** The directory that was opened, relative to the root, with `/`; empty at the root. */
  readonly prefix: string
  /** The commit of the head; throws when there is none yet. */
  head(): Promise<string>
  /** The full commit hash, or null when the revision names no commit. */
  resolveCommit(revision: string): Promise<string | null>
  treeOf(commit: string): Promise<string>
  state(): Promise<RepositoryState>
  /**
   * `exclude`: files and folders (relative to the root) that are left as the commit has them: result files, linked
   * data.
   */
  diffOfWorkingTree(commit: string, options?: { readonly exclude?: readonly string[] }): Promise<WorkingTreeDiff>
  /** Unified diff between two commits or trees, fit for `treeAfter`; submodules are left out. */
  diffBetween(from: string, to: string): Promise<string>
  /** Paths of all files that differ between two commits or trees. */
  changedPaths(from: string, to: string): Promise<readonly string[]>
  /** Hash of the commit's tree after the diff. Throws when it does not apply, or would reach outside the tree. */
  treeAfter(commit: string, diff: string): Promise<string>
  /**
   * A detached worktree of the commit with the diff applied; its folder must not exist. Several processes may do this
   * at once.
   */
  addWorktree(path: string, commit: string, diff: string | null): Promise<void>
  /** Removes it with everything in it, also when it is half made or half gone; nothing happens when there is none. */
  removeWorktree(path: string): Promise<void>
  /**
   * Makes a commit of a tree and points `ref` (full name, `refs/…`) at it; the ref may only move forward. Returns the
   * commit.
   */
  commitTree(tree: string, parent: string, message: string, ref: string): Promise<string>
  commitInfo(revision: string): Promise<CommitInfo | null>
}

/** Opens the repository that contains the directory. Throws when there is none, it is bare, or git is missing. */
export async function openRepository(directory: string): Promise<Repository> {
  const { root, prefix } = await findRoot(directory)
  const hashOf = async (kind: 'commit' | 'tree', revision: string) => {
    const hash = await resolveTo(kind, root, revision)
    if (hash === null) throw new Error(`${revision} names no commit in ${root}`)
    return hash
  }
  const commitOf = async (revision: string) => (isHash(revision) ? revision : await hashOf('commit', revision))
  const treeOf = (commit: string) => hashOf('tree', commit)
  // A campaign asks for the same tree once a seed, and applying a diff starts git five times. The key names a commit by
  // its hash: a revision may move.
  const trees = new Map<string, Promise<string>>()
  const treeAfter = async (revision: string, diff: string) => {
    if (diff.trim() === '') return await treeOf(revision)
    const commit = await commitOf(revision)
    const key = createHash('sha256').update(`${commit}\0${diff}`).digest('hex')
    const known = trees.get(key) ?? applyDiff(root, commit, diff)
    trees.set(key, known)
    known.catch(() => trees.delete(key))
    return await known
  }
  return {
    root,
    prefix,
    head: async () => {
      const head = await resolveTo('commit', root, 'HEAD')
      if (head === null) throw new Error(`the repository ${root} has no commit yet; commit what experiments start from`)
      return head
    },
    resolveCommit: revision => resolveTo('commit', root, revision),
    treeOf,
    state: () => stateOf(root),
    diffOfWorkingTree: async (commit, { exclude = [] } = {}) => {
      await treeOf(commit)
      return await workingTreeDiff(root, commit, exclude)
    },
    diffBetween: async (from, to) => diffText(root, await treeOf(from), await treeOf(to)),
    changedPaths: async (from, to) => (await treeChanges(root, from, to)).map(({ path }) => path),
    treeAfter,
    addWorktree: async (path, revision, diff) => {
      const commit = await commitOf(revision)
      await addWorktree(root, path, commit, await treeAfter(commit, diff ?? ''))
    },
    removeWorktree: path => removeWorktree(root, path),
    commitTree: (tree, parent, message, ref) => commitTree(root, tree, parent, message, ref),
    commitInfo: revision => commitInfo(root, revision),
  }
}

function isHash(revision: string): boolean {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(revision)
}

async function findRoot(directory: string): Promise<{ root: string; prefix: string }> {
  const kind = await runGit(directory, ['rev-parse', '--is-bare-repository', '--is-inside-work-tree'])
  if (kind.code !== 0) {
    if (/not a git repository/i.test(kind.stderr)) throw new Error(`${directory} is not in a git repository`)
    throw new Error(`git cannot open ${directory}: ${wordsOf(kind.stderr)}`)
  }
  const [bare, inside] = kind.stdout.toString('utf8').split('\n')
  if (bare === 'true') throw new Error(`${directory} is a bare repository; experiments need one with a working tree`)
  if (inside !== 'true') throw new Error(`${directory} is inside git's own folder; go to the working tree`)
  const root = await git(directory, ['rev-parse', '--show-toplevel'])
  const prefix = await git(directory, ['rev-parse', '--show-prefix'])
  return { root, prefix: prefix.replace(/\/$/, '') }
}
