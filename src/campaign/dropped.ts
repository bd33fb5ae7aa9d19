/** What a round does not run, and why: what ran before, what cannot run, what the gate holds back, what others were chosen before. */
import type { Quantiles } from '../experiment/record.ts'
import type { StoredRound } from '../ledger/rounds.ts'
import { scores } from './choose.ts'

type Round = Pick<StoredRound, 'candidates' | 'dropped'>

/** How the reason begins of what need not run again: nothing is wrong with it, and its record is known. */
export const ranBeforeReason = 'It was run before'

/** How many candidates of the round ran in an earlier one, or in another campaign. */
export function ranBefore({ dropped }: Pick<Round, 'dropped'>): number {
  return dropped.filter(({ why }) => why.startsWith(ranBeforeReason)).length
}

export interface Dropped {
  readonly sentence: string
  readonly reason: string
  /** By the gate: it could run. */
  readonly heldBack: boolean
}

/** What a round does not run for a reason, without what ran before. */
export function droppedOf({ candidates, dropped }: Round): Dropped[] {
  return [
    ...dropped
      .filter(({ why }) => !why.startsWith(ranBeforeReason))
      .map(({ intervention, why }) => ({ sentence: intervention.sentence, reason: why, heldBack: false })),
    ...candidates.flatMap(({ intervention, choice, gated }) =>
      gated !== null && choice === 'passed-over'
        ? [{ sentence: intervention.sentence, reason: gated, heldBack: true }]
        : [],
    ),
  ]
}

export interface Foreseen {
  readonly sentence: string
  readonly quantiles: Quantiles
  /** What the choice went by: the median gain weighed with the chance to finish (see `scores`). */
  readonly worth: number
}

/** What passed the gate, each with its worth, the best first: what was chosen for it, and what was not chosen. */
export function byWorth({ candidates }: Round): { readonly chosen: Foreseen[]; readonly notChosen: Foreseen[] } {
  const passed = candidates.flatMap(({ forecast, gated, choice, intervention }) =>
    gated === null && forecast !== null ? [{ forecast, choice, sentence: intervention.sentence }] : [],
  )
  const worth = scores(passed.map(({ forecast }) => forecast))
  const all = passed
    .map(({ forecast, choice, sentence }, index) => ({
      choice,
      it: { sentence, quantiles: forecast.quantiles, worth: worth[index]! },
    }))
    .sort((a, b) => b.it.worth - a.it.worth)
  const those = (wanted: string) => all.flatMap(({ choice, it }) => (choice === wanted ? [it] : []))
  return { chosen: those('exploited'), notChosen: those('passed-over') }
}
