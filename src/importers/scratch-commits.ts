/**
 * A real repository made from a list of commits in one call of git, and what an import says of it, for tests. Nothing is
 * checked out.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { gitIn, scratchFolder } from '../repository/scratch-repository.ts'
import { gitHistory } from './git-history.ts'
import type { ImportedHistory } from './history.ts'
import type { ImportOptions } from './importer.ts'

export interface ScratchCommit {
  readonly message: string
  /** What changes: content; null for what goes; in a list the target of a symbolic link, or the commit of a submodule. */
  readonly files?: Readonly<Record<string, string | Buffer | null | readonly ['->' | 'submodule', string]>>
  /** Index of the commit it is made from; the one before it otherwise. */
  readonly on?: number
  /** Index of the commit that it merges. */
  readonly merges?: number
}

/** `hashes` in the order of the list; the last commit is the head of `main`. */
export function scratchCommits(commits: readonly ScratchCommit[]): { root: string; hashes: readonly string[] } {
  const root = join(scratchFolder(), 'trials')
  mkdirSync(root)
  gitIn(root, 'init', '--quiet', '--initial-branch=main')
  const pieces: Buffer[] = []
  const write = (text: string) => pieces.push(Buffer.from(text))
  const data = (content: string | Buffer) => {
    const bytes = Buffer.from(content)
    write(`data ${bytes.length}\n`)
    pieces.push(bytes)
    write('\n')
  }
  for (const [at, { message, files = {}, on = at - 1, merges }] of commits.entries()) {
    write(`commit refs/heads/main\nmark :${at + 1}\n`)
    write(`author Ada Lovelace <ada@example.org> ${1_700_000_000 + 60 * at} +0200\n`)
    write(`committer Ada Lovelace <ada@example.org> ${1_700_000_000 + 60 * at} +0200\n`)
    data(message)
    if (on >= 0) write(`from :${on + 1}\n`)
    if (merges !== undefined) write(`merge :${merges + 1}\n`)
    for (const [path, content] of Object.entries(files)) {
      if (content === null) write(`D ${path}\n`)
      else if (typeof content === 'string' || Buffer.isBuffer(content)) {
        write(`M 100644 inline ${path}\n`)
        data(content)
      } else if (content[0] === 'submodule') write(`M 160000 ${content[1]} ${path}\n`)
      else {
        write(`M 120000 inline ${path}\n`)
        data(content[1]!)
      }
    }
  }
  const marks = join(root, '..', 'marks')
  execFileSync('git', ['fast-import', '--quiet', `--export-marks=${marks}`], {
    cwd: root,
    input: Buffer.concat(pieces),
  })
  const hashes = execFileSync('sort', ['-t:', '-k2n', marks], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(line => line.split(' ')[1]!)
  return { root, hashes }
}

/** A program with two settings. */
export const code = (rate: string, depth = 4) => ({ 'train.py': `RATE = ${rate}\nDEPTH = ${depth}\n` })

/** A file of results with the metric that the program is about. */
export const results = (loss: number) => ({ 'results.json': JSON.stringify({ val_loss: loss, seconds: 300 }) })

export interface ReadCommits {
  readonly root: string
  readonly hashes: readonly string[]
  readonly history: ImportedHistory
}

export async function read(commits: readonly ScratchCommit[], options: ImportOptions = {}): Promise<ReadCommits> {
  const { root, hashes } = scratchCommits(commits)
  const [history] = await gitHistory.read({ kind: 'folder', path: root, name: 'trials' }, options)
  return { root, hashes, history: history! }
}

/** A line a row, commits by their place in the list: which one, its role, the one it was tried on, its metric or how it ended. */
export function lines({ history, hashes }: ReadCommits): string[] {
  const byKey = new Map(history.rows.map(row => [row.key, row]))
  return history.rows.map(({ commit, role, against, outcome }) => {
    const on = against === null ? '' : ` on ${hashes.indexOf(byKey.get(against)!.commit!)}`
    return `${hashes.indexOf(commit!)} ${role}${on}: ${outcome.metrics[history.metrics[0].name] ?? outcome.kind}`
  })
}

/** A line a commit that is no row, with the reason. */
export function leftOut({ history, hashes }: ReadCommits): string[] {
  const step = (hash: string) => String(hashes.findIndex(each => each.startsWith(hash)))
  return history.unusable.map(({ place, reason }) => `${place}: ${reason}`.replace(/\b[0-9a-f]{7}\b/g, step))
}
