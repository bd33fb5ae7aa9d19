/** Reasons that differ only from case to case, counted. */

/** How often each reason occurs, the commonest first; what differs from case to case is left out where there are several. */
export function tally(reasons: readonly string[]): { readonly reason: string; readonly count: number }[] {
  const alike = Map.groupBy(reasons, reason => reason.split(/ \(|:/)[0]!.replace(/\.$/, ''))
  return [...alike]
    .map(([kind, each]) => ({ reason: each.length === 1 ? each[0]! : kind, count: each.length }))
    .sort((a, b) => b.count - a.count)
}
