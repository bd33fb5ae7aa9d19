/**
 * Links data and environment folders, which git does not carry, into a worktree.
 */

/**
 * Makes `worktree/path` a symbolic link to `root/path`, for each path. Throws a sentence for a path that leaves the root, does not
 * exist there, or is tracked in the worktree. A link that is there already is kept.
 */
export async function linkInto(worktree: string, root: string, paths: readonly string[]): Promise<void> {
  throw new Error(`linkInto is being written: ${worktree} ${root} ${paths}`)
}
