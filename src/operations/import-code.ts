/** The code of imported rows, where the repository they stand in still has their commits. */
import { dirname } from 'node:path'
import { leftOut } from '../campaign/left-out.ts'
import type { OpenEnvironment } from '../campaign/open-environment.ts'
import { attachDiffs, type MissingCode } from '../importers/commit-diffs.ts'
import type { ImportedHistory } from '../importers/history.ts'
import type { Source } from '../importers/importer.ts'
import { openRepository } from '../repository/repository.ts'

export interface WithCode {
  readonly history: ImportedHistory
  /** Rows that come in as text only, and why git could not give their code. */
  readonly missing: readonly MissingCode[]
}

/** A tracker notes the commit that happened to be checked out; what it tried is in its configurations, so those are left as they are. */
export async function withCode(
  history: ImportedHistory,
  source: Source,
  opened: OpenEnvironment | null,
  ledger: string,
): Promise<WithCode> {
  const unchanged = { history, missing: [] }
  if (source.kind === 'address' || !history.rows.some(isAboutCommit)) return unchanged
  const folder = opened?.directory ?? (source.kind === 'folder' ? source.path : dirname(source.path))
  const repository = opened?.repository ?? (await openRepository(folder).catch(() => null))
  if (repository === null) return unchanged
  const exclude = opened === null ? [] : leftOut(opened, repository, ledger, [source.path])
  const attached = await attachDiffs(history, repository, { exclude })
  // A log of somebody else's that lies in a repository of the user's: none of its commits is there.
  if (opened === null && attached.history.rows.every(({ code }) => code === null)) return unchanged
  return attached
}

function isAboutCommit({ commit, code, intervention }: ImportedHistory['rows'][number]): boolean {
  return commit !== null && code === null && intervention.overrides === null && intervention.diff === null
}
