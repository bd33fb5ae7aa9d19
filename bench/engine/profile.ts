/**
 * Where the time of the embedded engine goes, by the profiler of ONNX Runtime: every session that is created afterwards writes
 * its kernels' times, and calls of `run` are timed, so that what happens outside of them is known too. Measuring kernels
 * makes small ones slower: shares, not speeds.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InferenceSession } from 'onnxruntime-node'

interface TraceEvent {
  readonly cat: string
  /** Microseconds. */
  readonly dur: number
  readonly name: string
  readonly args?: { readonly op_name?: string }
}

export interface Profile {
  /** Share of the time in all kernels since `profiled`, by operator. */
  readonly byOperator: Readonly<Record<string, number>>
  /** Seconds in calls of the runtime since `restart`, as their caller sees them. */
  readonly inRun: number
}

export function profiled(): { restart(): void; end(): Profile } {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-profile-'))
  const sessions: InferenceSession[] = []
  let inRun = 0
  const create = InferenceSession.create as (model: Uint8Array, options: object) => Promise<InferenceSession>
  const creating = async (model: Uint8Array, options: object) => {
    const profileFilePrefix = join(folder, String(sessions.length))
    const session = await create.call(InferenceSession, model, { ...options, enableProfiling: true, profileFilePrefix })
    const run = session.run.bind(session) as (feeds: InferenceSession.FeedsType) => Promise<InferenceSession.ReturnType>
    session.run = (async (feeds: InferenceSession.FeedsType) => {
      const start = performance.now()
      const result = await run(feeds)
      inRun += (performance.now() - start) / 1000
      return result
    }) as typeof session.run
    sessions.push(session)
    return session
  }
  InferenceSession.create = creating as typeof InferenceSession.create
  return {
    restart() {
      inRun = 0
    },
    end() {
      for (const session of sessions) session.endProfiling()
      const byOperator: Record<string, number> = {}
      for (const file of readdirSync(folder))
        for (const event of JSON.parse(readFileSync(join(folder, file), 'utf8')) as TraceEvent[]) {
          const operator = event.args?.op_name
          // A loop's own time is that of the operators inside it, which are listed too.
          if (event.cat !== 'Node' || !operator || operator === 'Loop' || !event.name.endsWith('_kernel_time')) continue
          byOperator[operator] = (byOperator[operator] ?? 0) + event.dur / 1e6
        }
      rmSync(folder, { recursive: true })
      const total = Object.values(byOperator).reduce((sum, seconds) => sum + seconds, 0)
      for (const operator of Object.keys(byOperator)) byOperator[operator]! /= total
      return { byOperator, inRun }
    },
  }
}
