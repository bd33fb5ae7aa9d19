/**
 * Unified diffs as text: taken so that they apply again whatever the user's settings, and the paths that a diff names.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fieldsOf, git, runGit, wordsOf } from './git.ts'

/** The subcommand with what makes its output the same everywhere, and runs nothing that a repository names. */
export const form = [
  'diff-tree',
  '-r',
  '-p',
  '--binary',
  '--full-index',
  '--no-renames',
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--no-indent-heuristic',
  '--diff-algorithm=myers',
  '--unified=3',
  '--inter-hunk-context=0',
  '--ignore-submodules=all',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '-O/dev/null',
]

/**
 * The diff between two trees. Text must be UTF-8 to stand in a string, so a file in another encoding appears as git's
 * binary patch. Submodules are left out.
 */
export async function diffText(root: string, from: string, to: string): Promise<string> {
  const whole = await take(root, from, to, [])
  if (whole !== null) return whole
  const paths = fieldsOf(await git(root, ['diff-tree', '-r', '--name-only', '--no-renames', '-z', from, to]))
  const pieces: string[] = []
  for (const path of paths) {
    const piece = await take(root, from, to, ['--', `:(top,literal)${path}`])
    pieces.push(piece ?? (await takeAsBinary(root, from, to, path)))
  }
  return pieces.join('')
}

/** Null when it is not UTF-8. */
async function take(root: string, from: string, to: string, rest: readonly string[], settings: readonly string[] = []) {
  const { code, stdout, stderr } = await runGit(root, [...settings, ...form, from, to, ...rest])
  if (code !== 0) throw new Error(`git cannot take the diff from ${from} to ${to}: ${wordsOf(stderr)}`)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(stdout)
  } catch {
    return null
  }
}

async function takeAsBinary(root: string, from: string, to: string, path: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-attributes-'))
  try {
    const attributes = join(folder, 'attributes')
    writeFileSync(attributes, '* -diff\n')
    const rest = ['--', `:(top,literal)${path}`]
    const piece = await take(root, from, to, rest, ['-c', `core.attributesFile=${attributes}`])
    if (piece === null) throw new Error(`the diff of ${path} cannot be written as text: it is not UTF-8`)
    return piece
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Throws a sentence for a diff that names a path outside the tree. Git would refuse most of them too, in its own words.
 */
export function refuseOutsidePaths(diff: string): void {
  for (const path of pathsNamedIn(diff)) {
    if (path.startsWith('/'))
      throw new Error(`the diff names the absolute path ${path}; paths are relative to the root`)
    if (path.split('/').includes('..')) throw new Error(`the diff names the path ${path}, which leaves the repository`)
  }
}

/**
 * The paths of `---`, `+++`, `rename` and `copy` lines as they stand there. Within a hunk such a line is content, so
 * hunks are counted off.
 */
function* pathsNamedIn(diff: string): Generator<string> {
  let before = 0
  let after = 0
  for (const line of diff.split('\n')) {
    if (before > 0 || after > 0) {
      if (!line.startsWith('+') && !line.startsWith('\\')) before--
      if (!line.startsWith('-') && !line.startsWith('\\')) after--
      continue
    }
    const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line)
    if (hunk) {
      before = Number(hunk[1] ?? 1)
      after = Number(hunk[2] ?? 1)
      continue
    }
    const named = /^(?:---|\+\+\+|(?:rename|copy) (?:from|to)) "?([^\t"]+)/.exec(line)?.[1]
    if (named !== undefined && named !== '/dev/null') yield named.trimEnd()
  }
}
