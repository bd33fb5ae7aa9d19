/** Why candidates were dropped, told briefly: hundreds may have been run before. */
import type { StoredRound } from '../ledger/rounds.ts'

export { tally } from '../text/tally.ts'

/** What a round does not run for a reason: what cannot or need not run, and what the gate holds back. */
export function droppedOf({
  candidates,
  dropped,
}: Pick<StoredRound, 'candidates' | 'dropped'>): { readonly sentence: string; readonly reason: string }[] {
  return [
    ...dropped.map(({ intervention, why }) => ({ sentence: intervention.sentence, reason: why })),
    ...candidates.flatMap(({ intervention, choice, gated }) =>
      gated !== null && choice === 'passed-over' ? [{ sentence: intervention.sentence, reason: gated }] : [],
    ),
  ]
}
