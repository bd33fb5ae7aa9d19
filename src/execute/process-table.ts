/**
 * The processes of this machine: who is whose child, in which group and session, and since when. From /proc on Linux,
 * from `ps` elsewhere. Leaves out Windows.
 *
 * A process id alone names nothing for long, because ids are used again; an id with a start time does.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

export interface ProcessIdentity {
  readonly pid: number
  /**
   * Opaque: equal for the same process, different for a later one with the same id, also after a restart of the
   * machine.
   */
  readonly startTime: string
}

export interface ProcessEntry extends ProcessIdentity {
  readonly parent: number
  readonly group: number
  readonly session: number
  /** Ended, but not yet collected by its parent: still in the table, and dead. */
  readonly dead: boolean
  /** Stopped by a signal: it does nothing until it is told to go on. */
  readonly stopped: boolean
}

export type ProcessTable = ReadonlyMap<number, ProcessEntry>

const onLinux = process.platform === 'linux'

export function processTable(): ProcessTable {
  return onLinux ? tableFromProc() : tableFromPs()
}

/** The identity of a living process; null when there is none of that id. */
export function identityOf(pid: number): ProcessIdentity | null {
  const entry = onLinux ? entryFromProc(pid) : tableFromPs([pid]).get(pid)
  return entry && !entry.dead ? { pid, startTime: entry.startTime } : null
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identityOf(identity.pid)?.startTime === identity.startTime
}

/**
 * Sum of the resident memory of the processes, in megabytes of 2^20 bytes. Pages that they share count once for each.
 */
export function residentMegabytes(pids: readonly number[]): number {
  if (pids.length === 0) return 0
  return (onLinux ? residentFromProc(pids) : residentFromPs(pids)) / 1024
}

export function tableFromProc(): ProcessTable {
  const table = new Map<number, ProcessEntry>()
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    const entry = Number.isInteger(pid) ? entryFromProc(pid) : null
    if (entry) table.set(pid, entry)
  }
  return table
}

/** Fields of proc(5): the name stands in parentheses and may hold anything, so count from the last one. */
function entryFromProc(pid: number): ProcessEntry | null {
  const text = readOrNull(`/proc/${pid}/stat`)
  if (text === null) return null
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, parent, group, session] = fields
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    dead: state === 'Z' || state === 'X',
    stopped: state === 'T' || state === 't',
    startTime: `${bootId()}/${fields[19]}`,
  }
}

let boot: string | undefined
/** Start times count from the boot, so two boots may give two processes the same id and start time. */
function bootId(): string {
  boot ??= readOrNull('/proc/sys/kernel/random/boot_id')?.trim() ?? 'unknown'
  return boot
}

function residentFromProc(pids: readonly number[]): number {
  let kilobytes = 0
  for (const pid of pids) {
    const resident = readOrNull(`/proc/${pid}/status`)?.match(/^VmRSS:\s*(\d+) kB/m)
    if (resident) kilobytes += Number(resident[1])
  }
  return kilobytes
}

/** A process may end between any two steps: then there is nothing to read (ENOENT, or ESRCH from an open file). */
function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return null
  }
}

/** `ps` as POSIX systems share it. A session is not among what they share, so the group stands in for it. */
export function tableFromPs(pids: readonly number[] = []): ProcessTable {
  const table = new Map<number, ProcessEntry>()
  for (const line of ps([...choose(pids), '-o', 'pid=,ppid=,pgid=,stat=,lstart='])) {
    const [pid, parent, group, state, ...started] = line.split(/\s+/)
    table.set(Number(pid), {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: Number(group),
      dead: state?.startsWith('Z') ?? false,
      stopped: state?.startsWith('T') ?? false,
      startTime: started.join(' '),
    })
  }
  return table
}

export function residentFromPs(pids: readonly number[]): number {
  return ps([...choose(pids), '-o', 'rss=']).reduce((sum, line) => sum + Number(line), 0)
}

function choose(pids: readonly number[]): string[] {
  return pids.length === 0 ? ['-A'] : ['-p', pids.join(',')]
}

function ps(parameters: string[]): string[] {
  const result = spawnSync('ps', parameters, {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
  })
  if (result.error) throw new Error(`cannot list processes with ps: ${result.error.message}`, { cause: result.error })
  return result.stdout
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
}
