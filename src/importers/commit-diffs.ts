/**
 * Adds the code to an imported history: the diff of each commit that git still has, against the commit of the row it was
 * tried on. What was discarded is usually gone from git; such rows stay text only, with the reason. As with a git history, a few calls of
 * git do for all rows.
 */
import { commitsNamed, type NamedCommit } from '../repository/commits.ts'
import { objectSizes, openObjects } from '../repository/object-reader.ts'
import type { Repository } from '../repository/repository.ts'
import { changesOfPairs } from '../repository/tree-changes.ts'
import { type CodeDiff, codeDiffs, isNothing, longestDiff, unreadPaths } from './git-code.ts'
import type { ImportedHistory, ImportedRow } from './history.ts'
import { looksLikeHash } from './value.ts'

export interface CodeOptions {
  /** Files and folders left out of every diff, relative to the repository's root: logs that say how it went. */
  readonly exclude?: readonly string[]
}

export interface MissingCode {
  /** As in ImportedRow. */
  readonly place: string
  readonly commit: string | null
  readonly reason: string
}

export async function attachDiffs(
  history: ImportedHistory,
  { root }: Pick<Repository, 'root'>,
  { exclude = [] }: CodeOptions = {},
): Promise<{ readonly history: ImportedHistory; readonly missing: readonly MissingCode[] }> {
  const { rows } = history
  const ambiguous = ambiguousCommits(rows)
  const missing = new Map<ImportedRow, string>()
  const named = rows.filter(row => {
    if (row.commit === null || !looksLikeHash(row.commit)) missing.set(row, 'names no commit')
    else if (ambiguous.has(row.commit))
      missing.set(row, `commit ${row.commit} stands in rows that try different things`)
    return !missing.has(row)
  })
  const codeOf = new Map<string, NamedCommit>()
  for (const [index, code] of (await commitsNamed(root, named.map(commitOf))).entries()) {
    const row = named[index]!
    if (code === null) missing.set(row, `git has no commit ${row.commit} any more`)
    else codeOf.set(row.key, code)
  }
  await inferReferences(rows, codeOf, ambiguous, root)
  for (const row of rows) if (codeOf.has(row.key)) missing.delete(row)

  const tried = rows.filter(({ key, role, against }) => {
    return role !== 'reference' && codeOf.has(key) && against !== null && codeOf.has(against)
  })
  const diffs = await diffsOf(
    root,
    tried.map(({ key, against }) => ({ from: codeOf.get(against!)!.tree, to: codeOf.get(key)!.tree })),
    exclude,
  )
  const diffOf = new Map(tried.map(({ key }, index) => [key, diffs[index]!]))
  const withCode = rows.map((row): ImportedRow => {
    const code = codeOf.get(row.key)
    if (code === undefined) return row
    const known = { ...row, code: { ...code, treeAfterDiff: null } }
    if (row.role === 'reference') return known
    const found = diffOf.get(row.key)
    if (found?.diff) return { ...withDiff(row, found.diff), code: { ...code, treeAfterDiff: found.treeAfterDiff } }
    if (found?.diff === '') {
      missing.set(row, `commit ${row.commit} has the same code as the one it was tried on`)
      return row
    }
    missing.set(
      row,
      found === undefined
        ? 'git does not have the commit it was tried on'
        : `the diff of commit ${row.commit} is longer than ${longestDiff / 1024} KiB`,
    )
    return row.role === 'kept' ? known : row
  })
  return {
    history: { ...history, rows: withCode },
    missing: rows.flatMap(row => {
      const reason = missing.get(row)
      return reason === undefined ? [] : [{ place: row.place, commit: row.commit, reason }]
    }),
  }
}

function commitOf({ commit }: ImportedRow): string {
  return commit!
}

function withDiff(row: ImportedRow, diff: string): ImportedRow {
  return { ...row, intervention: { ...row.intervention, diff } }
}

/** In the order of the pairs. */
async function diffsOf(
  root: string,
  pairs: readonly { readonly from: string; readonly to: string }[],
  exclude: readonly string[],
): Promise<readonly CodeDiff[]> {
  if (pairs.length === 0) return []
  const changes = await changesOfPairs(root, pairs)
  const all = changes.flat()
  const named = new Set(all.flatMap(({ fromObject, toObject }) => [fromObject, toObject]))
  const sizes = await objectSizes(
    root,
    [...named].filter(object => !isNothing(object)),
  )
  const unread = unreadPaths(all, sizes)
  const excluded = exclude.map(path => path.replace(/^\.\//, '').replace(/\/+$/, ''))
  const isBeside = (path: string) =>
    unread.has(path) || excluded.some(each => path === each || path.startsWith(`${each}/`))
  const objects = openObjects(root)
  try {
    const whole = pairs.map((pair, index) => ({ ...pair, changes: changes[index]! }))
    return await codeDiffs(root, whole, sizes, isBeside, objects)
  } finally {
    await objects.close()
  }
}

/** Commits that do not tell what was tried: several rows name them and say different things. */
function ambiguousCommits(rows: readonly ImportedRow[]): Set<string> {
  const sentences = new Map<string, string>()
  const ambiguous = new Set<string>()
  for (const { commit, intervention } of rows) {
    if (commit === null) continue
    const sentence = sentences.get(commit)
    if (sentence === undefined) sentences.set(commit, intervention.sentence)
    else if (sentence !== intervention.sentence) ambiguous.add(commit)
  }
  return ambiguous
}

/**
 * The first row of a log often has the word `baseline` for a commit. Its code is what the first commit on it was made from,
 * unless that is the code of another row.
 */
async function inferReferences(
  rows: readonly ImportedRow[],
  codeOf: Map<string, NamedCommit>,
  ambiguous: ReadonlySet<string>,
  root: string,
): Promise<void> {
  const unclear = new Set(rows.flatMap(({ key, commit }) => (commit !== null && ambiguous.has(commit) ? [key] : [])))
  const onNameless = rows.filter(
    ({ key, against, role }) =>
      codeOf.has(key) && against !== null && role !== 'reference' && !codeOf.has(against) && !unclear.has(against),
  )
  const parents = await commitsNamed(
    root,
    onNameless.map(({ key }) => `${codeOf.get(key)!.commit}^`),
  )
  const taken = new Set(codeOf.values().map(({ commit }) => commit))
  for (const [index, { against }] of onNameless.entries()) {
    const parent = parents[index]!
    if (parent === null || codeOf.has(against!) || taken.has(parent.commit)) continue
    codeOf.set(against!, parent)
    taken.add(parent.commit)
  }
}
