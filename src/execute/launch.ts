/**
 * Starts a run in a process of its own that outlives us.
 */

export interface Launch {
  /** The run's own folder, absolute; it must exist. `launch.json`, `process.json`, `exit.json` and the two logs appear in it. */
  readonly folder: string
  /** A string goes to `/bin/sh -c`; a list is a program and its arguments. */
  readonly command: string | readonly string[]
  readonly workingDirectory: string
  /** The whole environment of the command. Values are handed over in memory and never written to disk: they may be secrets. */
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

/** Resolves once the wrapper process exists. Throws a sentence when the folder cannot be written or no process can be made. */
export async function launch(launch: Launch): Promise<void> {
  throw new Error(`launch is being written: ${launch.folder}`)
}
