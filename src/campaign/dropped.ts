/** Why candidates were dropped, told briefly: hundreds may have been run before. */
import type { StoredRound } from '../ledger/rounds.ts'

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

/** How often each reason occurs, the commonest first; what differs from case to case is left out where there are several. */
export function tally(reasons: readonly string[]): { readonly reason: string; readonly count: number }[] {
  const alike = Map.groupBy(reasons, reason => reason.split(/ \(|:/)[0]!.replace(/\.$/, ''))
  return [...alike]
    .map(([kind, each]) => ({ reason: each.length === 1 ? each[0]! : kind, count: each.length }))
    .sort((a, b) => b.count - a.count)
}
