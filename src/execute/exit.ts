/**
 * How a run's process ended, as its wrapper writes it in `exit.json`. It says what happened to the process, not what
 * that means for the experiment: `outcomeOf` does.
 */

export type ExitKind = 'exited' | 'timed-out' | 'out-of-memory' | 'cancelled' | 'not-started'

/**
 * `exited`: the program ended by itself, or a signal from elsewhere ended it. `timed-out`, `out-of-memory`,
 * `cancelled`: it was ended for that. `not-started`: the command or its folder cannot be used; `reason` says why.
 */
export interface Exit {
  readonly kind: ExitKind
  /** Null when a signal ended it or it never started. */
  readonly exitCode: number | null
  /** `SIGKILL` and the like; null when it exited. */
  readonly signal: string | null
  /** One sentence for everything but `exited`. */
  readonly reason: string | null
  /** ISO 8601, UTC. */
  readonly startedAt: string
  readonly finishedAt: string
  /** Wall clock between the two. */
  readonly seconds: number
  /**
   * The largest sum of resident memory over the run's processes that was seen; null when it ended before the first
   * look.
   */
  readonly peakMegabytes: number | null
}

/** Where a run stands. `unstarted`: nothing has claimed it (yet). `lost`: it ended without a word, or was abandoned. */
export type RunState =
  | { readonly state: 'unstarted' }
  | { readonly state: 'running'; readonly pid: number }
  | { readonly state: 'exited'; readonly exit: Exit }
  | { readonly state: 'lost' }
