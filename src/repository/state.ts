/**
 * What `git status` knows, as a value.
 */
import { fieldsOf, git } from './git.ts'

/** Paths are relative to the root, with `/`. */
export interface RepositoryState {
  /** Null on a detached head. */
  readonly branch: string | null
  /** Null while there is no commit. */
  readonly head: string | null
  /** Tracked files that differ from the head, staged or not. */
  readonly dirty: readonly string[]
  /** Not ignored, not tracked; a folder of them ends in `/`. */
  readonly untracked: readonly string[]
  readonly unmerged: readonly string[]
  readonly submodules: readonly string[]
}

export async function stateOf(root: string): Promise<RepositoryState> {
  const [status, submodules] = await Promise.all([
    git(root, [
      'status',
      '--porcelain=v2',
      '--branch',
      '-z',
      '--untracked-files=normal',
      '--ignore-submodules=dirty',
      '--no-renames',
    ]),
    submodulesOf(root),
  ])
  const entries = fieldsOf(status)
  const header = (name: string) => entries.find(entry => entry.startsWith(`# ${name} `))?.slice(name.length + 3)
  // Each entry is a letter, a fixed number of fields, and a path that may hold spaces.
  const paths = (letter: string, fields: number) =>
    entries.filter(entry => entry.startsWith(`${letter} `)).map(entry => entry.split(' ').slice(fields).join(' '))
  const branch = header('branch.head')
  const head = header('branch.oid')
  return {
    branch: branch === undefined || branch === '(detached)' ? null : branch,
    head: head === undefined || head === '(initial)' ? null : head,
    dirty: [...paths('1', 8), ...paths('u', 10)],
    untracked: paths('?', 1),
    unmerged: paths('u', 10),
    submodules,
  }
}

/** Entries of the index with the mode of a commit in another repository. */
async function submodulesOf(root: string): Promise<readonly string[]> {
  const entries = fieldsOf(await git(root, ['ls-files', '--stage', '-z']))
  return entries.filter(entry => entry.startsWith('160000 ')).map(entry => entry.slice(entry.indexOf('\t') + 1))
}
