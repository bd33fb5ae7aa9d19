/**
 * Adds the code to an imported history: the diff of each commit that git still has, against the commit of the row it was
 * tried on. What was discarded is usually gone from git; such rows stay text only, with the reason.
 */
import type { Repository } from '../repository/repository.ts'
import { withoutFiles } from './diff-files.ts'
import type { ImportedCode, ImportedHistory, ImportedRow } from './history.ts'
import { looksLikeHash } from './value.ts'

export interface CodeOptions {
  /** Files left out of every diff, relative to the repository's root: logs that say how it went. */
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
  repository: Repository,
  options: CodeOptions = {},
): Promise<{ readonly history: ImportedHistory; readonly missing: readonly MissingCode[] }> {
  const missing: MissingCode[] = []
  const codeOf = new Map<string, ImportedCode>()
  const without = (row: ImportedRow, reason: string) => missing.push({ place: row.place, commit: row.commit, reason })
  const ambiguous = ambiguousCommits(history.rows)
  for (const row of history.rows) {
    if (row.commit === null || !looksLikeHash(row.commit)) without(row, 'names no commit')
    else if (ambiguous.has(row.commit)) without(row, `commit ${row.commit} stands in rows that try different things`)
    else {
      const commit = await repository.resolveCommit(row.commit)
      if (commit === null) without(row, `git has no commit ${row.commit} any more`)
      else codeOf.set(row.key, { commit, tree: await repository.treeOf(commit), treeAfterDiff: null })
    }
  }
  await inferReferences(history.rows, codeOf, ambiguous, repository)
  const rows: ImportedRow[] = []
  for (const row of history.rows) rows.push(await withCode(row))
  return { history: { ...history, rows }, missing: missing.filter(({ place }) => !inferred(place)) }

  function inferred(place: string): boolean {
    return rows.some(row => row.place === place && row.code !== null)
  }

  async function withCode(row: ImportedRow): Promise<ImportedRow> {
    const code = codeOf.get(row.key) ?? null
    const base = row.against === null ? undefined : codeOf.get(row.against)
    if (row.role === 'reference' || code === null) return { ...row, code }
    if (base === undefined) {
      without(row, 'git does not have the commit it was tried on')
      return row.role === 'kept' ? { ...row, code } : row
    }
    const whole = await repository.diffBetween(base.commit, code.commit)
    const diff = withoutFiles(whole, options.exclude ?? [])
    if (diff === '') {
      without(row, `commit ${row.commit} has the same code as the one it was tried on`)
      return row
    }
    const treeAfterDiff = diff === whole ? code.tree : await repository.treeAfter(base.commit, diff)
    return { ...row, intervention: { ...row.intervention, diff }, code: { ...code, treeAfterDiff } }
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
  codeOf: Map<string, ImportedCode>,
  ambiguous: ReadonlySet<string>,
  repository: Repository,
): Promise<void> {
  const unclear = new Set(rows.flatMap(({ key, commit }) => (commit !== null && ambiguous.has(commit) ? [key] : [])))
  for (const { key, against, role } of rows) {
    const code = codeOf.get(key)
    if (code === undefined || against === null || role === 'reference') continue
    if (codeOf.has(against) || unclear.has(against)) continue
    const parent = (await repository.commitInfo(code.commit))?.parent ?? null
    if (parent === null || [...codeOf.values()].some(({ commit }) => commit === parent)) continue
    codeOf.set(against, { commit: parent, tree: await repository.treeOf(parent), treeAfterDiff: null })
  }
}
