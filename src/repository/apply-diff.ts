/**
 * The tree that a commit becomes with a diff, computed in an index of its own: the user's index and files are not
 * touched.
 */
import { refuseOutsidePaths } from './diff-text.ts'
import { git, runGit, wordsOf } from './git.ts'
import { withIndex } from './temporary-index.ts'
import { refuseEscapes, treeChanges } from './tree-changes.ts'

/**
 * Hash of the tree, which then is in the repository. Throws a sentence when the diff does not apply or reaches outside.
 */
export async function applyDiff(root: string, commit: string, diff: string): Promise<string> {
  refuseOutsidePaths(diff)
  const text = diff.endsWith('\n') ? diff : `${diff}\n`
  const tree = await withIndex(async index => {
    await git(root, ['read-tree', commit], { index })
    const applied = await runGit(root, ['apply', '--cached', '--whitespace=nowarn', '-'], { index, input: text })
    if (applied.code !== 0) {
      throw new Error(`the diff does not apply to ${commit.slice(0, 12)}: ${wordsOf(applied.stderr)}`)
    }
    return await git(root, ['write-tree'], { index })
  })
  await refuseEscapes(root, await treeChanges(root, commit, tree))
  return tree
}
