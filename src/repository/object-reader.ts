/**
 * Reads objects of a repository by their hash: their sizes in one call of git, their content one after another from one
 * process that stays. Content comes as it is stored, without filters and conversions.
 */
import { once } from 'node:events'
import { offline, runGit, startError, startGit, wordsOf } from './git.ts'

export interface ObjectReader {
  /** Null where the repository does not have it (a clone may be partial). */
  read(object: string): Promise<Buffer | null>
  /** Lets go of the process; what is asked for after that is refused. */
  close(): Promise<void>
}

/** Bytes of each object that the repository has. */
export async function objectSizes(root: string, objects: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (objects.length === 0) return new Map()
  const input = `${objects.map(hashOnly).join('\n')}\n`
  const { code, stdout, stderr } = await runGit(root, ['cat-file', '--batch-check', '--buffer'], {
    input,
    variables: offline,
  })
  if (code !== 0) throw new Error(`git cannot read objects in ${root}: ${wordsOf(stderr)}`)
  const sizes = new Map<string, number>()
  for (const line of stdout.toString('utf8').split('\n')) {
    const [object, kind, size] = line.split(' ')
    if (kind !== 'missing' && size !== undefined) sizes.set(object!, Number(size))
  }
  return sizes
}

export function openObjects(root: string): ObjectReader {
  const child = startGit(root, ['cat-file', '--batch'], offline)
  const waiting: { resolve(content: Buffer | null): void; reject(error: Error): void }[] = []
  let pieces: Buffer[] = []
  let available = 0
  let expected: number | null = null
  let stderr = ''
  let failure: Error | null = null

  child.stdout.on('data', (piece: Buffer) => {
    pieces.push(piece)
    available += piece.length
    while (advance()) {}
  })
  child.stderr.on('data', (piece: Buffer) => {
    stderr += piece.toString('utf8')
  })
  child.stdin.on('error', () => {})
  child.on('error', error => fail(startError(root, error)))
  child.on('close', code =>
    fail(new Error(`git stopped reading objects in ${root}: ${wordsOf(stderr) || `code ${code}`}`)),
  )

  return {
    read: object =>
      new Promise((resolve, reject) => {
        if (failure !== null) return reject(failure)
        waiting.push({ resolve, reject })
        child.stdin.write(`${hashOnly(object)}\n`)
      }),
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const closed = once(child, 'close')
      child.stdin.end()
      await closed
    },
  }

  function fail(error: Error): void {
    failure ??= error
    for (const { reject } of waiting.splice(0)) reject(failure)
  }

  /** Takes one header or one content off what has arrived; false when it is not whole yet. */
  function advance(): boolean {
    if (expected !== null) {
      // The content is followed by a line's end.
      if (available < expected + 1) return false
      const content = take(expected + 1).subarray(0, expected)
      expected = null
      waiting.shift()?.resolve(content)
      return true
    }
    const whole = joined()
    const end = whole.indexOf(10)
    if (end < 0) return false
    const [, kind, size] = take(end + 1)
      .toString('utf8')
      .trimEnd()
      .split(' ')
    if (kind === 'missing' || size === undefined) waiting.shift()?.resolve(null)
    else expected = Number(size)
    return true
  }

  function joined(): Buffer {
    const whole = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
    pieces = [whole]
    return whole
  }

  function take(length: number): Buffer {
    const whole = joined()
    pieces = [whole.subarray(length)]
    available -= length
    return whole.subarray(0, length)
  }
}

/** Anything else could name another object, or be two questions. */
function hashOnly(object: string): string {
  if (/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(object)) return object
  throw new Error(`${JSON.stringify(object)} is not the whole hash of an object`)
}
