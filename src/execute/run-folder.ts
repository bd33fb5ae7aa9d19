/**
 * The files of a run's folder that say where it stands, and how they are read. Each is written whole and once:
 * `launch.json` what was asked for, `process.json` who has claimed the start, `command.json` the command's process,
 * `exit.json` how it ended; beside them `stdout.log` and `stderr.log`.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Exit } from './exit.ts'
import type { ProcessIdentity } from './process-table.ts'

/** What `launch.json` holds: the launch without the values of the variables. */
export interface LaunchFile {
  /** Tells it from an earlier launch in a folder that was emptied since. */
  readonly id: string
  readonly command: string | readonly string[]
  readonly workingDirectory: string
  readonly variableNames: readonly string[]
  readonly seconds: number | null
  readonly memoryMegabytes: number | null
  readonly graceSeconds: number
  readonly logMegabytes: number
}

/** What a wrapper is told on its standard input, because it must not be written to disk. */
export interface Order {
  readonly folder: string
  readonly variables: Readonly<Record<string, string>>
}

/** Who may start the command: a wrapper, or nobody, when the run was abandoned before one began. */
export type Claim = { readonly wrapper: ProcessIdentity } | { readonly abandoned: true }

export const fileNames = {
  launch: 'launch.json',
  claim: 'process.json',
  command: 'command.json',
  exit: 'exit.json',
  stdout: 'stdout.log',
  stderr: 'stderr.log',
} as const

export function pathOf(folder: string, file: keyof typeof fileNames): string {
  return join(folder, fileNames[file])
}

export function readLaunch(folder: string): LaunchFile | null {
  return readJson(pathOf(folder, 'launch')) as LaunchFile | null
}

export function readClaim(folder: string): Claim | null {
  return readJson(pathOf(folder, 'claim')) as Claim | null
}

export function readCommand(folder: string): ProcessIdentity | null {
  return readJson(pathOf(folder, 'command')) as ProcessIdentity | null
}

export function readExit(folder: string): Exit | null {
  return readJson(pathOf(folder, 'exit')) as Exit | null
}

/** Null when there is no such file. */
function readJson(path: string): unknown {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw new Error(`cannot read ${path}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${path} is damaged: it is not JSON; move the run's folder away to go on`, { cause: error })
  }
}
