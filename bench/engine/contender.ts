/**
 * A process that does the same work as others in this comparison, a block at a time: started once for each comparison, told when
 * it is its turn, silent otherwise. Its peak memory is therefore its own.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Profile } from './profile.ts'
import type { Size } from './sizes.ts'

export interface Options extends Size {
  readonly task: 'train' | 'sample' | 'transformers'
  readonly vocabulary: number
  readonly feedForwardWidth: number
  readonly rows: number
  /** Of a row in training, of a prompt in sampling. */
  readonly positions: number
  /** 0 in training. */
  readonly newTokens: number
  readonly threads: number
  /** Steps before anything is measured; fewer where they take more than ten seconds together. */
  readonly warmUp: number
  /** Of PyTorch. */
  readonly compile: boolean
  /** Of the embedded engine. */
  readonly profile: boolean
}

export interface Ready {
  readonly version: string
  readonly parameters: number
  /** Before a model was made: what the language and its libraries take. */
  readonly idleMebibytes: number
  /** Of the last step of the warm-up. */
  readonly stepSeconds: number
}

export interface Block {
  /** Of each step. */
  readonly seconds: readonly number[]
  /** Of all threads; a thread that waits in a loop counts as working. */
  readonly processorSeconds: readonly number[]
  readonly peakMebibytes: number
  readonly profile?: Profile
}

export interface Contender {
  readonly ready: Ready
  /** Steps for that many seconds, one at least. */
  block(seconds: number): Promise<Block>
  end(): void
}

/** Throws with what the process said when it ends before it is ready. */
export async function startContender(command: readonly string[], options: Options): Promise<Contender> {
  const [program, ...parts] = command
  const child = spawn(program!, [...parts, JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'pipe'] })
  let complaint = ''
  child.stderr.on('data', (data: Buffer) => {
    complaint = (complaint + data.toString()).slice(-2000)
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answer = async () => {
    const next = await lines.next()
    if (next.done) throw new Error(`${parts.join(' ')} ended: ${complaint.trim() || `code ${await exitCode(child)}`}`)
    return JSON.parse(next.value) as unknown
  }
  const ready = (await answer()) as Ready
  return {
    ready,
    async block(seconds) {
      child.stdin.write(`${seconds}\n`)
      return (await answer()) as Block
    },
    end: () => child.stdin.end(),
  }
}

async function exitCode(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'exit')
  return child.exitCode
}
