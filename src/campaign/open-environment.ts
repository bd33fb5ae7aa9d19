/**
 * Finds and reads the environment file of a folder, and with it everything that decides the environment's identity:
 * the reference configuration, the commit, the code, the evaluator's files.
 */
import { existsSync, realpathSync, statSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Family, Metric, Reference } from '../experiment/environment.ts'
import { contentHash, isJsonObject, type Json } from '../experiment/json.ts'
import { resolveInside } from '../files/safe-path.ts'
import { openRepository, type Repository } from '../repository/repository.ts'
import { type EnvironmentFile, parseEnvironmentFile } from './environment-file.ts'

export const environmentFileNames = ['almanac.config.ts', 'almanac.config.js', 'almanac.config.json'] as const

export interface OpenEnvironment {
  /** The folder of the environment file; paths in it are relative to this folder. */
  readonly directory: string
  readonly path: string
  readonly file: EnvironmentFile
  readonly family: Family
  /** What the file names as the reference. After a promotion the ledger knows a newer one. */
  readonly configuredReference: Reference
  /** True when the file names a revision that moves by itself (HEAD): then it only says where to begin. */
  readonly referenceMoves: boolean
  /** Present where the reference has a commit. */
  readonly repository: Repository | null
}

/** The environment file at a path, in a folder, or in the nearest folder above it. */
export function findEnvironmentFile(start: string): string {
  const from = resolve(start)
  if (!existsSync(from)) throw new Error(`There is no folder ${from}; correct its name.`)
  if (statSync(from).isFile()) return from
  for (let folder = from; ; folder = dirname(folder)) {
    const found = environmentFileNames
      .map(name => join(folder, name))
      .find(path => statSync(path, { throwIfNoEntry: false })?.isFile())
    if (found) return found
    if (dirname(folder) === folder) break
  }
  throw new Error(
    `There is no ${environmentFileNames.join(' or ')} in ${from} or above it; run "almanac init" to write one.`,
  )
}

export async function openEnvironment(start: string): Promise<OpenEnvironment> {
  // Real paths: git answers with them, and a folder reached through a link is the same environment.
  const found = findEnvironmentFile(start)
  const directory = realpathSync(dirname(found))
  const path = join(directory, basename(found))
  const file = parseEnvironmentFile(await readEnvironmentValue(path), basename(path))
  const usesGit = file.reference.commit !== undefined
  if (!usesGit && file.reference.configuration === undefined && file.reference.code === undefined) {
    throw new Error(
      `${basename(path)}: reference is empty; expected "configuration" (a JSON file or an object), "commit" (a git revision such as "HEAD"), or "code" (files).`,
    )
  }
  const repository = usesGit ? await repositoryOf(directory, file.reference.commit!) : null
  return {
    directory,
    path,
    file,
    family: await familyOf(directory, file),
    configuredReference: await referenceOf(directory, file, repository),
    referenceMoves: file.reference.commit !== undefined && /^(HEAD|@)$/.test(file.reference.commit),
    repository,
  }
}

async function repositoryOf(directory: string, revision: string): Promise<Repository> {
  return openRepository(directory).catch(cause => {
    throw new Error(
      `reference.commit is "${revision}", but ${cause.message}; correct that, or give reference.configuration instead.`,
      {
        cause,
      },
    )
  })
}

async function readEnvironmentValue(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch(cause => {
    throw new Error(`${path} cannot be read (${(cause as NodeJS.ErrnoException).code}); check its permissions.`, {
      cause,
    })
  })
  if (path.endsWith('.json')) {
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw new Error(`${path} is not JSON: ${(cause as Error).message}`, { cause })
    }
  }
  try {
    // The query makes a changed file a new module: a long-lived process sees edits.
    const module = await import(`${pathToFileURL(path).href}?hash=${contentHash(text).slice(0, 12)}`)
    if (module.default === undefined) throw new Error('it has no default export')
    return module.default
  } catch (cause) {
    throw new Error(`${path} cannot be loaded: ${(cause as Error).message}`, { cause })
  }
}

async function familyOf(directory: string, file: EnvironmentFile): Promise<Family> {
  const metrics = file.metrics.map(({ name, direction, unit, file: source, path, pattern }): Metric => {
    const read = pattern === undefined ? { file: source!, path: path! } : { pattern }
    return { name, direction, ...(unit === undefined ? {} : { unit }), read }
  })
  const evaluator = await Promise.all(
    file.evaluator.map(
      async name => [name, await hashOfFiles(directory, [[name, resolveInside(directory, name)]])] as const,
    ),
  )
  return {
    name: file.name ?? basename(directory),
    description: file.description,
    metrics: metrics as [Metric, ...Metric[]],
    constraints: file.constraints as Family['constraints'],
    command: file.command,
    budget: file.budget as Family['budget'],
    evaluator: Object.fromEntries(evaluator),
    data: file.data,
    ...(file.hardware === undefined ? {} : { hardware: file.hardware }),
  }
}

async function referenceOf(
  directory: string,
  file: EnvironmentFile,
  repository: Repository | null,
): Promise<Reference> {
  const { configuration, commit: revision, code } = file.reference
  const commit = repository ? await repository.resolveCommit(revision!) : null
  if (repository && commit === null) {
    throw new Error(
      `reference.commit is "${revision}", which git does not know here; name a commit, a tag or a branch.`,
    )
  }
  return {
    configuration:
      typeof configuration === 'string' ? await readConfiguration(directory, configuration) : (configuration ?? null),
    commit,
    tree: repository && commit ? await repository.treeOf(commit) : null,
    code: code
      ? await hashOfFiles(
          directory,
          code.map(name => [name, resolve(directory, name)] as const),
        )
      : null,
  }
}

async function readConfiguration(directory: string, name: string): Promise<Json> {
  const path = resolveInside(directory, name)
  const text = await readFile(path, 'utf8').catch(cause => {
    throw new Error(`reference.configuration is "${name}", which cannot be read (${cause.code}); name a JSON file.`, {
      cause,
    })
  })
  let value: Json
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new Error(`reference.configuration is "${name}", which is not JSON: ${(cause as Error).message}`, { cause })
  }
  if (!isJsonObject(value)) throw new Error(`reference.configuration is "${name}"; expected a JSON object in it.`)
  return value
}

/** One hash over names and contents of files, and of all files below folders; tests, fixtures, hidden files and node_modules are left out. */
async function hashOfFiles(
  directory: string,
  places: readonly (readonly [name: string, path: string])[],
): Promise<string> {
  const contents: Record<string, string> = {}
  for (const [name, path] of places) {
    if (!existsSync(path))
      throw new Error(`"${name}" does not exist in ${directory}; correct its name in the environment file.`)
    const files = statSync(path).isDirectory() ? await filesBelow(path) : [path]
    for (const file of files) contents[relative(directory, file)] = contentHash(await readFile(file, 'base64'))
  }
  return contentHash(contents)
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  return entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => !/(^|\/)(\.[^/]+|node_modules|fixtures)(\/|$)|\.test\.ts$/.test(relative(folder, path)))
    .sort()
}
