/** What is never part of a change: files that say how it went, or how it is run, and not what is tried. */
import { dirname, join, relative } from 'node:path'
import { isInside } from '../files/safe-path.ts'
import type { Repository } from '../repository/repository.ts'
import type { OpenEnvironment } from './open-environment.ts'

/** Relative to the repository's root: the environment file, its results, candidates, links and ignored files, the ledger and what stands beside it. */
export function leftOut(
  { directory, path, file }: OpenEnvironment,
  { root }: Repository,
  ledger: string,
  others: readonly string[] = [],
): string[] {
  const named = [...(file.results ? [file.results] : []), ...candidateFiles(file), ...file.ignore, ...file.link].map(
    name => join(directory, name),
  )
  const beside = ['runs', 'campaigns', 'report.html'].map(name => join(dirname(ledger), name))
  const written = [join(directory, '.almanac'), ledger, `${ledger}-wal`, `${ledger}-shm`, ...beside]
  return [path, ...named, ...written, ...others].filter(each => isInside(root, each)).map(each => relative(root, each))
}

function candidateFiles({ candidates }: OpenEnvironment['file']): readonly string[] {
  if (candidates === undefined || 'program' in candidates) return []
  if ('file' in candidates) return [candidates.file]
  return typeof candidates.cards === 'string' ? [candidates.cards] : []
}
