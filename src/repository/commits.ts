/**
 * Commits: found by a revision, described, and made from a tree.
 */
import { git, offline, runGit, wordsOf } from './git.ts'
import { checkedOutRefs } from './worktree.ts'

export interface CommitInfo {
  readonly commit: string
  /** The first parent; null for a root commit. */
  readonly parent: string | null
  readonly subject: string
  /** ISO 8601 with zone, when it was committed. */
  readonly date: string
}

export interface NamedCommit {
  readonly commit: string
  readonly tree: string
}

/** The full hash of what a revision names, peeled to a `commit` or `tree`; null when it names none. */
export async function resolveTo(kind: 'commit' | 'tree', root: string, revision: string): Promise<string | null> {
  if (!isRevision(revision)) return null
  const { code, stdout } = await runGit(root, ['rev-parse', '--verify', '--quiet', `${revision}^{${kind}}`])
  return code === 0 ? stdout.toString('utf8').trim() : null
}

/** What each revision names, all in one call of git; null where it names no commit, or several. */
export async function commitsNamed(root: string, revisions: readonly string[]): Promise<(NamedCommit | null)[]> {
  const asked = revisions.filter(isRevision)
  if (asked.length === 0) return revisions.map(() => null)
  const input = asked.map(revision => `${revision}^{commit}\n${revision}^{tree}\n`).join('')
  const form = '--batch-check=%(objecttype) %(objectname)'
  const { code, stdout, stderr } = await runGit(root, ['cat-file', form, '--buffer'], { input, variables: offline })
  if (code !== 0) throw new Error(`git cannot look up commits in ${root}: ${wordsOf(stderr)}`)
  // A line for each question; of what is not there the question itself.
  const hashes = stdout
    .toString('utf8')
    .split('\n')
    .map(line => /^(?:commit|tree) ([0-9a-f]{40,64})$/.exec(line)?.[1] ?? null)
  const found = asked.map((_, index): NamedCommit | null => {
    const [commit, tree] = hashes.slice(2 * index, 2 * index + 2)
    return commit && tree ? { commit, tree } : null
  })
  return revisions.map(revision => (isRevision(revision) ? found.shift()! : null))
}

/** It may come from a file: it is never an option of git's, nor two questions. */
function isRevision(text: string): boolean {
  return text.trim() !== '' && !text.startsWith('-') && !/[\0\n]/.test(text)
}

export async function commitInfo(root: string, revision: string): Promise<CommitInfo | null> {
  const commit = await resolveTo('commit', root, revision)
  if (commit === null) return null
  const form = '--format=%P%x00%cI%x00%s'
  const text = await git(root, [
    'log',
    '-1',
    '--no-show-signature',
    '--no-color',
    '--encoding=UTF-8',
    form,
    commit,
    '--',
  ])
  const [parents, date, ...subject] = text.split('\0')
  return { commit, parent: parents!.split(' ')[0] || null, date: date!, subject: subject.join('') }
}

/**
 * Makes a commit and points the ref at it. A ref that exists must be an ancestor of the new commit, and must not be
 * checked out: its worktree would seem to undo the commit.
 */
export async function commitTree(
  root: string,
  tree: string,
  parent: string,
  message: string,
  ref: string,
): Promise<string> {
  if ((await runGit(root, ['check-ref-format', ref])).code !== 0 || !ref.startsWith('refs/')) {
    throw new Error(`${ref} is not a full name of a ref, such as refs/heads/name`)
  }
  const before = await resolveTo('commit', root, ref)
  if ((await checkedOutRefs(root)).includes(ref)) {
    throw new Error(`${ref} is checked out, so it is left where it is; choose another name`)
  }
  const variables = await identityVariables(root)
  const commit = await git(root, ['commit-tree', tree, '-p', parent], { input: message, variables })
  if (before !== null && (await runGit(root, ['merge-base', '--is-ancestor', before, commit])).code !== 0) {
    throw new Error(`${ref} is at ${before.slice(0, 12)}, which is not before the new commit; it is left where it is`)
  }
  // With the value from before, so that a ref that another process moved meanwhile stays there. Zeros: it must not
  // exist.
  await git(root, ['update-ref', '-m', 'almanac: new reference', ref, commit, before ?? '0'.repeat(commit.length)])
  return commit
}

/** Only where the user has told git no name: git refuses to commit without one. */
async function identityVariables(root: string): Promise<Record<string, string>> {
  const known = await Promise.all(['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT'].map(name => runGit(root, ['var', name])))
  if (known.every(({ code }) => code === 0)) return {}
  const name = 'Almanac'
  const email = 'almanac@localhost'
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email }
}
