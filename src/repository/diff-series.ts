/**
 * Unified diffs between many pairs of trees, in one call of git. They are taken like a single one, so they apply again;
 * but files may be left out, and a diff that is too long is not kept.
 */
import { diffText, form } from './diff-text.ts'
import { offline, startError, startGit, wordsOf } from './git.ts'
import type { TreePair } from './tree-changes.ts'

export interface SeriesOptions {
  /** Whether a file does not belong in a diff, by its path relative to the root. */
  leaveOut(path: string): boolean
  /** Files whose content git should not even look at, such as very large ones. */
  readonly unread: readonly string[]
  /** A longer diff is not kept. */
  readonly mostBytes: number
}

/** Null where a diff would be longer than is allowed. */
export type DiffOrNone = string | null

/** In the order of the pairs. */
export async function diffSeries(
  root: string,
  pairs: readonly TreePair[],
  options: SeriesOptions,
): Promise<readonly DiffOrNone[]> {
  if (pairs.length === 0) return []
  const series = new Series(pairs, options)
  const unread = options.unread.map(path => `:(top,exclude,literal)${path}`)
  const places = unread.length === 0 ? [] : ['--', ':(top)', ...unread]
  const child = startGit(root, [...form, '--stdin', ...places], offline)
  let stderr = ''
  child.stderr.on('data', (piece: Buffer) => {
    stderr += piece.toString('utf8')
  })
  child.stdin.on('error', () => {})
  child.stdin.end(pairs.map(({ from, to }) => `${from} ${to}\n`).join(''))
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', error => reject(startError(root, error)))
    child.on('close', code => resolve(code ?? 128))
  })
  child.stdout.on('data', (piece: Buffer) => series.add(piece))
  const code = await ended
  series.end()
  if (code !== 0 || series.found !== pairs.length) {
    throw new Error(
      `git cannot take the diffs of ${pairs.length} pairs of trees in ${root}: ${wordsOf(stderr) || `code ${code}`}`,
    )
  }
  const diffs: DiffOrNone[] = []
  for (const [index, content] of series.contents.entries()) {
    diffs.push(content === null ? null : (textOf(content) ?? (await asBinary(root, pairs[index]!, options))))
  }
  return diffs
}

/** Null when it is not UTF-8. */
function textOf(content: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
  } catch {
    return null
  }
}

/** A file in another encoding stands in a diff as git's binary patch; seldom enough to take such a pair by itself. */
async function asBinary(root: string, { from, to }: TreePair, options: SeriesOptions): Promise<DiffOrNone> {
  const whole = await diffText(root, from, to)
  const parts = whole.split(/^(?=diff --git )/m)
  const unread = new Set(options.unread)
  const left = parts.filter(part => {
    const path = pathOf(part.slice(0, part.indexOf('\n')))
    return path === null || !(unread.has(path) || options.leaveOut(path))
  })
  const diff = left.join('')
  return Buffer.byteLength(diff) > options.mostBytes ? null : diff
}

/** The path of a `diff --git a/PATH b/PATH` line; null where git quotes it. */
function pathOf(line: string): string | null {
  const before = 'diff --git a/'
  const length = (line.length - before.length - ' b/'.length) / 2
  const path = line.slice(before.length, before.length + length)
  return line === `${before}${path} b/${path}` ? path : null
}

/** Cuts git's output into the diffs of the pairs, line by line, since a diff may be longer than what is kept of it. */
class Series {
  readonly #pairs: readonly TreePair[]
  readonly #options: SeriesOptions
  /** Of the pairs so far, the last one's still growing. */
  readonly contents: (Buffer | null)[] = []
  #pieces: Buffer[] = []
  #bytes = 0
  #skips = false
  #rest: Buffer = Buffer.alloc(0)

  constructor(pairs: readonly TreePair[], options: SeriesOptions) {
    this.#pairs = pairs
    this.#options = options
  }

  get found(): number {
    return this.contents.length
  }

  add(piece: Buffer): void {
    const whole = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
    let start = 0
    for (let end = whole.indexOf(10); end >= 0; end = whole.indexOf(10, start)) {
      this.#line(whole.subarray(start, end + 1))
      start = end + 1
    }
    this.#rest = whole.subarray(start)
  }

  end(): void {
    if (this.#rest.length > 0) this.#line(this.#rest)
    this.#close()
  }

  /** A line of content begins with its mark, a line of a binary patch has no space: neither can be taken for a header. */
  #line(line: Buffer): void {
    if (line[0] !== 100 || !line.subarray(0, 11).equals(diffMark)) {
      if (this.#isHeader(line)) {
        this.#close()
        this.contents.push(null)
        this.#skips = false
        return
      }
    } else {
      const path = pathOf(line.toString('utf8').trimEnd())
      this.#skips = path !== null && this.#options.leaveOut(path)
    }
    if (this.#skips || this.contents.length === 0) return
    this.#bytes += line.length
    // A copy: what git sent is let go of as a whole.
    if (this.#bytes <= this.#options.mostBytes) this.#pieces.push(Buffer.from(line))
    else this.#pieces = []
  }

  #isHeader(line: Buffer): boolean {
    const next = this.#pairs[this.contents.length]
    return next !== undefined && line.equals(Buffer.from(`${next.from} ${next.to}\n`))
  }

  #close(): void {
    if (this.contents.length > 0 && this.#bytes <= this.#options.mostBytes) {
      this.contents[this.contents.length - 1] = Buffer.concat(this.#pieces)
    }
    this.#pieces = []
    this.#bytes = 0
  }
}

const diffMark = Buffer.from('diff --git ')
