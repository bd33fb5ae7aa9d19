/**
 * The code of commits: what it is beside results and documents, whether two commits have the same, and the diffs between them.
 */
import { createHash } from 'node:crypto'
import type { LineCommit } from '../repository/commit-line.ts'
import { diffSeries } from '../repository/diff-series.ts'
import { treeEditor } from '../repository/edited-tree.ts'
import type { ObjectReader } from '../repository/object-reader.ts'
import { isSubmodule, type TreeChange } from '../repository/tree-changes.ts'

/** Longer ones are made by programs: nobody would read them, and no forecast should. */
export const longestDiff = 256 * 1024

export interface CodeDiff {
  /** Null where it is longer than `longestDiff`. */
  readonly diff: string | null
  /** What the earlier tree becomes with it; null without a diff. */
  readonly treeAfterDiff: string | null
}

/**
 * A name for the code after each commit, equal where all files that are not beside it are equal. Digests of what is there are
 * added and taken away as commits change it, so a line of any length is read once.
 */
export function codeNames(commits: readonly LineCommit[], isBeside: (path: string) => boolean): string[] {
  const sum = Buffer.alloc(20)
  const mix = (path: string, mode: string, object: string) => {
    if (mode === '000000') return
    const digest = createHash('sha1').update(`${mode} ${object} ${path}`).digest()
    for (let at = 0; at < sum.length; at++) sum[at]! ^= digest[at]!
  }
  return commits.map(({ changes }) => {
    for (const change of changes) {
      if (isBeside(change.path)) continue
      mix(change.path, change.fromMode, change.fromObject)
      mix(change.path, change.toMode, change.toObject)
    }
    return sum.toString('hex')
  })
}

/**
 * Files that are never in a diff: other repositories, what is too large to be anything that somebody wrote, and what the
 * repository lacks (a clone may be partial), where git would give up on the whole diff.
 */
export function unreadPaths(changes: Iterable<TreeChange>, sizes: ReadonlyMap<string, number>): Set<string> {
  const isRead = (object: string) =>
    isNothing(object) || (sizes.get(object) ?? Number.POSITIVE_INFINITY) <= 4 * longestDiff
  const unread = new Set<string>()
  for (const change of changes) {
    if (isSubmodule(change) || !isRead(change.fromObject) || !isRead(change.toObject)) unread.add(change.path)
  }
  return unread
}

/** What git writes for a file that is not there. */
export function isNothing(object: string): boolean {
  return /^0+$/.test(object)
}

/** Two trees, and all that differs on the way from one to the other. */
export interface CodePair {
  readonly from: string
  readonly to: string
  readonly changes: readonly TreeChange[]
}

/** Of each pair the later code against the earlier. `sizes` as for `unreadPaths`. */
export async function codeDiffs(
  root: string,
  pairs: readonly CodePair[],
  sizes: ReadonlyMap<string, number>,
  isBeside: (path: string) => boolean,
  objects: ObjectReader,
): Promise<CodeDiff[]> {
  const unread = largestFirst(pairs, sizes, isBeside).slice(0, mostUnread)
  const diffs = await diffSeries(root, pairs, { leaveOut: isBeside, unread, mostBytes: longestDiff })
  const editor = treeEditor(objects)
  const results: CodeDiff[] = []
  for (const [index, diff] of diffs.entries()) {
    const { from, to, changes } = pairs[index]!
    const leftOut = [...new Set(changes.map(({ path }) => path))].filter(isBeside)
    const entries = new Map<string, Awaited<ReturnType<typeof editor.entryAt>>>()
    if (diff !== null) for (const path of leftOut) entries.set(path, await editor.entryAt(from, path))
    results.push({ diff, treeAfterDiff: diff === null ? null : await editor.withEntries(to, entries) })
  }
  return results
}

/** They are named to git one by one, so that it does not compare them; the rest is left out of what it answers. */
const mostUnread = 500

/** The files that are left out, those of which most bytes changed first; what the repository lacks before all others. */
function largestFirst(
  pairs: readonly CodePair[],
  sizes: ReadonlyMap<string, number>,
  isBeside: (path: string) => boolean,
): string[] {
  const largest = new Map<string, number>()
  for (const { changes } of pairs) {
    for (const { path, fromObject, toObject } of changes) {
      if (!isBeside(path)) continue
      const size = [fromObject, toObject].map(each => (isNothing(each) ? 0 : (sizes.get(each) ?? Number.MAX_VALUE)))
      largest.set(path, Math.max(largest.get(path) ?? 0, ...size))
    }
  }
  return [...largest].sort((a, b) => b[1] - a[1]).map(([path]) => path)
}
