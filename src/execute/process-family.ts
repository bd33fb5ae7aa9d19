/**
 * All processes that belong to one command, and how to end them: its group, its session (a shell with job control makes
 * further groups in it), their descendants, and whoever was seen among these before. Leaves out a process that left the
 * session and lost its parent between two looks: nothing on the system still ties that one to the command.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive, type ProcessEntry, type ProcessIdentity, type ProcessTable, processTable } from './process-table.ts'

/** Nobody changes it: waiting for that is how a thread sleeps without letting anything else happen. */
const clock = new Int32Array(new SharedArrayBuffer(4))

export class ProcessFamily {
  readonly #leader: ProcessIdentity
  readonly #seen = new Map<number, string>()

  /** The leader was started as the head of a session and group of its own. */
  constructor(leader: ProcessIdentity) {
    this.#leader = leader
  }

  /** The living members now. */
  members(table: ProcessTable = processTable()): readonly ProcessEntry[] {
    const members = membersOf(this.#leader, this.#seen, table)
    for (const { pid, startTime } of members) this.#seen.set(pid, startTime)
    return members
  }

  /**
   * SIGTERM to all, and SIGKILL to what still lives after the grace. Resolves when none is left, false if some would
   * not die.
   */
  async end(graceSeconds: number): Promise<boolean> {
    if (this.members().length === 0) return true
    this.#signal('SIGTERM')
    // A stopped process takes SIGTERM only once it goes on.
    this.#signal('SIGCONT')
    if (await this.#gone(graceSeconds * 1000)) return true
    // Again and again: a member may fork while it is being ended. What hangs in the kernel cannot be killed: give up on
    // it.
    for (let attempt = 0; attempt < 50; attempt++) {
      this.#signal('SIGKILL')
      if (await this.#gone(100)) return true
    }
    return false
  }

  /**
   * Does something while no member runs, so that none of them writes meanwhile. Who does not stop within some milliseconds
   * (it hangs in the kernel) is not waited for.
   */
  whilePaused(action: () => void): void {
    this.#signal('SIGSTOP')
    try {
      for (let look = 0; look < 20 && this.members().some(({ stopped }) => !stopped); look++)
        Atomics.wait(clock, 0, 0, 1)
      action()
    } finally {
      this.#signal('SIGCONT')
    }
  }

  #signal(signal: NodeJS.Signals): void {
    const members = this.members()
    if (members.some(({ group }) => group === this.#leader.pid)) send(-this.#leader.pid, signal)
    for (const { pid, group } of members) if (group !== this.#leader.pid) send(pid, signal)
  }

  async #gone(milliseconds: number): Promise<boolean> {
    const until = performance.now() + milliseconds
    for (let pause = 2; ; pause = Math.min(pause * 1.5, 50)) {
      if (this.members().length === 0) return true
      const left = until - performance.now()
      if (left <= 0) return false
      await sleep(Math.min(pause, left))
    }
  }
}

function membersOf(
  leader: ProcessIdentity,
  seen: ReadonlyMap<number, string>,
  table: ProcessTable,
): readonly ProcessEntry[] {
  // While any member lives, the system gives its group's id to no new process. So another process with the leader's id
  // means that all of that group are gone.
  const first = table.get(leader.pid)
  const reused = first !== undefined && first.startTime !== leader.startTime
  const belongs = new Set<number>()
  for (const entry of table.values()) {
    const bound = !reused && (entry.group === leader.pid || entry.session === leader.pid)
    if (bound || seen.get(entry.pid) === entry.startTime) belongs.add(entry.pid)
  }
  for (let before = -1; before !== belongs.size; ) {
    before = belongs.size
    for (const entry of table.values()) if (belongs.has(entry.parent)) belongs.add(entry.pid)
  }
  return [...belongs].map(pid => table.get(pid)!).filter(entry => !entry.dead)
}

function send(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal)
  } catch {
    // It ended by itself meanwhile; or it changed its user, and then we may not.
  }
}

/** SIGTERM to one process, if it is still the one that is meant. */
export function askToEnd(identity: ProcessIdentity): void {
  if (isAlive(identity)) send(identity.pid, 'SIGTERM')
}
