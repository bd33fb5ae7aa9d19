/**
 * Starts a run in a process of its own that outlives us: a wrapper, which starts the command, holds it to its limits,
 * and writes down how it ended. Nothing is kept here; the run's folder says everything to whoever looks (`inspect`,
 * `waitForExit`).
 */
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { Writable } from 'node:stream'
import { createExclusively } from '../files/atomic.ts'
import { abandon } from './inspect.ts'
import { type LaunchFile, type Order, pathOf, readLaunch } from './run-folder.ts'
import { takeWrapper } from './spare-wrapper.ts'

export interface Launch {
  /**
   * The run's own folder, absolute; it must exist. `launch.json`, `process.json`, `exit.json` and the two logs appear
   * in it.
   */
  readonly folder: string
  /** A string goes to `/bin/sh -c`; a list is a program and its arguments. */
  readonly command: string | readonly string[]
  readonly workingDirectory: string
  /**
   * The whole environment of the command. Values are handed over in memory and never written to disk: they may be
   * secrets.
   */
  readonly variables: Readonly<Record<string, string>>
  /** Wall clock, or null for no limit. */
  readonly seconds: number | null
  /** Resident memory, summed over the run's processes, or null for no limit. */
  readonly memoryMegabytes: number | null
  /** Between SIGTERM and SIGKILL; 5 by default. */
  readonly graceSeconds?: number
  /** What each log keeps at most: its first and its latest part; 64 by default. */
  readonly logMegabytes?: number
}

/**
 * Resolves once a wrapper process has the order. Throws a sentence when a run was launched in the folder before, when
 * it cannot be written, or when no process can be made.
 */
export async function launch({ folder, command, workingDirectory, variables, ...rest }: Launch): Promise<void> {
  for (const path of [folder, workingDirectory]) {
    if (!isAbsolute(path)) throw new Error(`launch needs absolute paths, not ${path}`)
  }
  const file: LaunchFile = {
    id: randomUUID(),
    command,
    workingDirectory,
    variableNames: Object.keys(variables),
    seconds: rest.seconds,
    memoryMegabytes: rest.memoryMegabytes,
    graceSeconds: rest.graceSeconds ?? 5,
    logMegabytes: rest.logMegabytes ?? 64,
  }
  if (!createExclusively(pathOf(folder, 'launch'), JSON.stringify(file))) {
    throw new Error(`a run was launched in ${folder} before; give each run a folder of its own`)
  }
  const wrapper = await takeWrapper().catch(error => {
    abandon(folder)
    throw new Error(`cannot make a process for the run in ${folder}: ${error.message}`, { cause: error })
  })
  // One that ends without a claim will not make one; say so at once, instead of when the waiting ends. By then the folder may be another
  // launch's, whose wrapper has yet to claim it.
  wrapper.once('exit', () => {
    try {
      if (readLaunch(folder)?.id === file.id && !existsSync(pathOf(folder, 'claim'))) abandon(folder)
    } catch {}
  })
  handOver(wrapper, { folder, variables })
}

/** Small enough for the pipe to take it at once, so that it is with the wrapper even if we die now. */
function handOver(wrapper: ChildProcess, order: Order): void {
  const input = wrapper.stdin as Writable
  input.on('error', () => {})
  input.end(JSON.stringify(order))
}
