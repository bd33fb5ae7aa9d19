/**
 * Starts a command, holds it to its time and memory, and ends all that belongs to it: the wrapper's work, from the
 * claim to the exit.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { writeAtomically } from '../files/atomic.ts'
import { CappedLogs } from './capped-log.ts'
import type { Exit } from './exit.ts'
import { Limits } from './limits.ts'
import { obstacleTo } from './obstacle.ts'
import { ProcessFamily } from './process-family.ts'
import { identityOf } from './process-table.ts'
import { type LaunchFile, pathOf } from './run-folder.ts'

/**
 * The command waits for a line on descriptor 3 before it becomes the program. Were we killed after making the process
 * and before noting who it is, nobody could find it; so it goes on only once it is on record, and ends by itself when
 * we are gone.
 */
const gate = 'IFS= read -r go <&3 || exit 125; exec "$@" 3<&-'

export async function supervise(
  folder: string,
  launch: LaunchFile,
  variables: Readonly<Record<string, string>>,
  cancelled: AbortSignal,
): Promise<Exit> {
  const startedAt = new Date()
  if (cancelled.aborted) return neverStarted('cancelled', 'cancelled before it began', startedAt)
  const obstacle = obstacleTo(launch.command, launch.workingDirectory, variables['PATH'])
  if (obstacle !== null) return neverStarted('not-started', obstacle, startedAt)
  let start: { child: ChildProcess; family: ProcessFamily; logs: CappedLogs }
  try {
    const logs = new CappedLogs([pathOf(folder, 'stdout'), pathOf(folder, 'stderr')], launch.logMegabytes * 2 ** 20)
    const child = await spawnAtGate(launch, variables, logs.descriptors)
    const identity = identityOf(child.pid!)
    if (!identity) throw new Error('its process ended before it could begin')
    writeAtomically(pathOf(folder, 'command'), JSON.stringify(identity))
    start = { child, family: new ProcessFamily(identity), logs }
  } catch (error) {
    // What waits at the gate ends when we do.
    return neverStarted('not-started', `the command cannot be started: ${(error as Error).message}`, startedAt)
  }
  return await seeThrough(launch, start.child, start.family, start.logs, cancelled)
}

async function seeThrough(
  launch: LaunchFile,
  child: ChildProcess,
  family: ProcessFamily,
  logs: CappedLogs,
  cancelled: AbortSignal,
): Promise<Exit> {
  const startedAt = new Date()
  const start = performance.now()
  const over = new AbortController()
  const exit = once(child, 'exit').then(([exitCode, signal]: (number | string | null)[]) => {
    over.abort()
    return {
      exitCode,
      signal,
      finishedAt: new Date().toISOString(),
      seconds: (performance.now() - start) / 1000,
    } as Pick<Exit, 'exitCode' | 'signal' | 'finishedAt' | 'seconds'>
  })
  const limits = new Limits(launch, family)
  openGate(child)
  logs.start(action => family.whilePaused(action))
  const reached = await limits.reached(AbortSignal.any([over.signal, cancelled]))
  const ending = reached ?? (over.signal.aborted ? null : ({ kind: 'cancelled', reason: 'cancelled' } as const))
  // Also after an exit of its own: the program may have left children behind.
  await family.end(launch.graceSeconds)
  const ended = await exit
  logs.stop()
  return {
    kind: ending?.kind ?? 'exited',
    reason: ending?.reason ?? null,
    startedAt: startedAt.toISOString(),
    ...ended,
    peakMegabytes: limits.peakMegabytes,
  }
}

async function spawnAtGate(
  { command, workingDirectory }: LaunchFile,
  variables: Readonly<Record<string, string>>,
  [stdout, stderr]: readonly [number, number],
): Promise<ChildProcess> {
  const words = typeof command === 'string' ? ['/bin/sh', '-c', command] : command
  const child = spawn('/bin/sh', ['-c', gate, 'almanac', ...words], {
    cwd: workingDirectory,
    env: variables,
    detached: true,
    stdio: ['ignore', stdout, stderr, 'pipe'],
  })
  await once(child, 'spawn')
  return child
}

function openGate(child: ChildProcess): void {
  const gate = child.stdio[3] as Writable
  // Killed from outside while it waited: its exit tells.
  gate.on('error', () => {})
  gate.end('go\n')
}

function neverStarted(kind: 'cancelled' | 'not-started', reason: string, at: Date): Exit {
  const startedAt = at.toISOString()
  return {
    kind,
    reason,
    startedAt,
    exitCode: null,
    signal: null,
    finishedAt: startedAt,
    seconds: 0,
    peakMegabytes: null,
  }
}
