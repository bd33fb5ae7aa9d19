/** What happens while runs are measured, told as it happens. The ledger keeps the truth; these only inform. */
import type { Outcome } from '../experiment/intervention.ts'
import type { MeasuredGain, Quantiles, Verdict } from '../experiment/record.ts'
import type { Dropped, Foreseen } from './dropped.ts'

export interface RunName {
  /** What runs: the intervention's sentence, or `reference`. */
  readonly what: string
  readonly seed: number
  /** Round of a campaign; null outside one and for the reference. */
  readonly round: number | null
}

export type CampaignEvent =
  | { readonly type: 'note'; readonly text: string }
  /** How many are left to do. */
  | {
      readonly type: 'runs-planned'
      readonly runs: number
      readonly round: number | 'reference' | null
      readonly rounds: number | null
    }
  /** `adopted` says whose it was, for a run that was going on already. */
  | ({ readonly type: 'run-started'; readonly adopted: 'still running' | 'runs in another process' | null } & RunName)
  | ({ readonly type: 'run-ended'; readonly outcome: Outcome } & RunName)
  | {
      readonly type: 'round-chosen'
      readonly round: number
      readonly rounds: number
      readonly considered: number
      readonly ranBefore: number
      /** What cannot run, and what the gate held back. */
      readonly dropped: readonly Dropped[]
      /** What passed the gate, the best first, and the worth of the last that was chosen before it; null where none was. */
      readonly notChosen: readonly Foreseen[]
      readonly leastWorth: number | null
      readonly chosen: readonly {
        readonly sentence: string
        readonly quantiles: Quantiles
        readonly explored: boolean
        /** Why the gate would have held it back, where exploration drew it all the same. */
        readonly gated: string | null
      }[]
    }
  | {
      readonly type: 'record-measured'
      readonly sentence: string
      readonly measured: MeasuredGain | null
      readonly verdict: Verdict | null
      /** It runs again before it is called so. */
      readonly again: boolean
      /** Best gain above zero that this campaign has measured so far. */
      readonly best: { readonly measured: MeasuredGain; readonly sentence: string } | null
    }
