/**
 * A user's git repository as experiments need it: trees, diffs and worktrees, without ever touching the user's own index or files.
 */

export interface CommitInfo {
  readonly commit: string
  /** The first parent; null for a root commit. */
  readonly parent: string | null
  readonly subject: string
  /** ISO 8601 with zone, when it was committed. */
  readonly date: string
}

/** What `git status` would say. Paths are relative to the root, with `/`. */
export interface RepositoryState {
  /** Null on a detached head. */
  readonly branch: string | null
  readonly head: string
  /** Tracked files that differ from the head, staged or not. */
  readonly dirty: readonly string[]
  /** Not ignored, not tracked; a folder of them ends in `/`. */
  readonly untracked: readonly string[]
  readonly unmerged: readonly string[]
  readonly submodules: readonly string[]
}

export interface WorkingTreeDiff {
  /** Unified diff from the commit to the working tree; empty when nothing differs. */
  readonly diff: string
  /** Hash of the tree after the diff. */
  readonly tree: string
  /** Untracked files that are in the diff. */
  readonly untracked: readonly string[]
  /** What differs but is left out, each with the reason: `data/big.bin (untracked and over 1 MB)`. */
  readonly skipped: readonly string[]
}

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
  /** `exclude`: files and folders (relative to the root) that are left as the commit has them: result files, linked data. */
  diffOfWorkingTree(commit: string, options?: { readonly exclude?: readonly string[] }): Promise<WorkingTreeDiff>
  /** Unified diff between two commits or trees, fit for `treeAfter`. */
  diffBetween(from: string, to: string): Promise<string>
  /** Hash of the commit's tree after the diff. Throws when it does not apply, or would reach outside the tree. */
  treeAfter(commit: string, diff: string): Promise<string>
  /** A detached worktree of the commit with the diff applied; its folder must not exist. Several processes may do this at once. */
  addWorktree(path: string, commit: string, diff: string | null): Promise<void>
  /** Removes it with everything in it, also when it is half made or half gone; nothing happens when there is none. */
  removeWorktree(path: string): Promise<void>
  /** Makes a commit of a tree and points `ref` (full name, `refs/…`) at it; the ref may only move forward. Returns the commit. */
  commitTree(tree: string, parent: string, message: string, ref: string): Promise<string>
  commitInfo(revision: string): Promise<CommitInfo | null>
}

/** Opens the repository that contains the directory. Throws when there is none, it is bare, or git is missing. */
export async function openRepository(directory: string): Promise<Repository> {
  throw new Error(`openRepository is being written: ${directory}`)
}
