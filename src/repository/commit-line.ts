/**
 * The line of commits that leads to a revision along first parents, with what each changed, in one call of git. What
 * came in by a merge counts as the merge's own change.
 */
import { offline, runGit, wordsOf } from './git.ts'
import type { TreeChange } from './tree-changes.ts'

export interface LineCommit {
  readonly commit: string
  readonly tree: string
  /** None for a root; more than one for a merge. */
  readonly parents: readonly string[]
  /** ISO 8601 with zone, when it was committed. */
  readonly date: string
  /** In UTF-8, whatever it was written in. */
  readonly message: string
  /** Against the first parent; of a root, all of its files. */
  readonly changes: readonly TreeChange[]
}

export interface CommitLine {
  /** The oldest first. */
  readonly commits: readonly LineCommit[]
  /** Whether there are older ones, left out because they are more than `most`. */
  readonly isCut: boolean
}

/** `revisions`: what git calls a revision or a range, such as `main` or `v1..HEAD`. Throws a sentence when it is none. */
export async function commitLine(root: string, revisions: string, most: number): Promise<CommitLine> {
  // It may come from a file: it is never an option of git's.
  if (revisions.trim() === '' || revisions.startsWith('-') || /[\0\n]/.test(revisions)) {
    throw new Error(`"${revisions}" is no revision and no range of revisions; give one such as main, or v1..HEAD`)
  }
  const parameters = [
    'log',
    '--first-parent',
    '--diff-merges=first-parent',
    '--reverse',
    `--max-count=${most + 1}`,
    '--raw',
    '--root',
    '--no-abbrev',
    '--no-renames',
    '--no-ext-diff',
    '--no-textconv',
    '--no-show-signature',
    '--no-mailmap',
    '--no-decorate',
    '--no-color',
    '--encoding=UTF-8',
    '-O/dev/null',
    '-z',
    '--format=%x01%H%x00%T%x00%P%x00%cI%x00%B%x00',
    revisions,
    '--',
  ]
  const { code, stdout, stderr } = await runGit(root, parameters, { variables: offline })
  if (code !== 0) throw new Error(`git cannot list the commits of ${revisions} in ${root}: ${wordsOf(stderr)}`)
  const commits = parsed(stdout.toString('utf8').split('\0'))
  return { commits: commits.slice(-most), isCut: commits.length > most }
}

/** By position, since a message or a path may look like anything. */
function parsed(fields: readonly string[]): LineCommit[] {
  const commits: LineCommit[] = []
  let changes: TreeChange[] = []
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at]!.replace(/^\n/, '')
    if (field.startsWith('\x01')) {
      const [tree, parents, date, message] = fields.slice(at + 1, at + 5)
      changes = []
      commits.push({
        commit: field.slice(1),
        tree: tree!,
        parents: parents!.split(' ').filter(parent => parent !== ''),
        date: date!,
        message: message!.trimEnd(),
        changes,
      })
      at += 4
    } else if (field.startsWith(':')) {
      const [fromMode, toMode, fromObject, toObject] = field.slice(1).split(' ')
      at++
      const path = fields[at]!
      changes.push({ path, fromMode: fromMode!, toMode: toMode!, fromObject: fromObject!, toObject: toObject! })
    }
  }
  return commits
}
