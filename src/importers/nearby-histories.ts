/**
 * Histories that lie in a folder, found by what importers recognise. Quick and harmless: names of folders and beginnings of files are
 * read, a few levels deep and so many of them at most; no link is followed, nothing is executed, and nothing outside is looked at.
 */
import { type Dirent, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { importers } from './formats.ts'
import type { Importer, Source } from './importer.ts'

export interface NearbyHistory {
  /** Relative to the folder, with `/`. */
  readonly path: string
  /** What `--format` calls it. */
  readonly format: string
}

const deepest = 3
const mostFolders = 500
const mostFiles = 200
const mostFound = 8
/** Of a table, which is recognised by reading all of it. */
const longestTable = 4 * 2 ** 20

/** Folders of code and data of others; of hidden ones, `.auto` alone is where an agent keeps a log. */
const skipped =
  /^(node_modules|venv|env|virtualenv|__pycache__|site-packages|vendor|dist|build|target|artifacts)$|^\.(?!auto$)/
const trackerFolders = new Set(['mlruns', 'wandb', 'openevolve_output', 'records'])
const mayHoldRuns = /\.(db|sqlite3?|wandb|jsonl|ndjson|json|log|csv|tsv|md)$/i
/** By its name alone any such file is a table: what it is called has to say that it holds results. */
const tables = new Set(['tsv', 'csv', 'jsonl'])
const namedForResults = /result|experiment|trial|sweep|ablation|autoresearch/i

/** The nearest first. */
export async function nearbyHistories(folder: string): Promise<NearbyHistory[]> {
  const found: NearbyHistory[] = []
  const waiting = [{ path: '', depth: 0 }]
  let files = 0
  for (let at = 0; at < Math.min(waiting.length, mostFolders) && found.length < mostFound; at++) {
    const { path, depth } = waiting[at]!
    for (const entry of entriesOf(join(folder, path))) {
      const inside = path === '' ? entry.name : `${path}/${entry.name}`
      const isFolder = entry.isDirectory()
      if (isFolder ? skipped.test(entry.name) : !entry.isFile() || !mayHoldRuns.test(entry.name)) continue
      if (!isFolder && ++files > mostFiles) continue
      const source: Source = { kind: isFolder ? 'folder' : 'file', path: join(folder, inside), name: entry.name }
      const format = isFolder && !trackerFolders.has(entry.name) ? null : await formatOf(source)
      if (format !== null) found.push({ path: inside, format })
      else if (isFolder && depth + 1 < deepest) waiting.push({ path: inside, depth: depth + 1 })
    }
  }
  return found.slice(0, mostFound)
}

/** Sorted; a folder that may not be read has nothing for us. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}

async function formatOf(source: Source): Promise<string | null> {
  for (const importer of importers) {
    if (importer.name !== 'git' && (await recognises(importer, source))) {
      return !tables.has(importer.name) || (await holdsRows(importer, source)) ? importer.name : null
    }
  }
  return null
}

/** What cannot be read is nothing to point to. */
async function recognises(importer: Importer, source: Source): Promise<boolean> {
  try {
    return await importer.recognises(source)
  } catch {
    return false
  }
}

async function holdsRows(importer: Importer, source: Source): Promise<boolean> {
  if (source.kind !== 'file' || !namedForResults.test(source.name)) return false
  if (statSync(source.path).size > longestTable) return true
  try {
    const histories = await importer.read(source, {})
    return histories.some(({ rows }) => rows.length > 1)
  } catch {
    return false
  }
}
