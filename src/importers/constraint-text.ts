/** Constraints as people write them on a command line: `val_bpb >= 0.9`, `bytes <= 16_000_000`, `val_loss <= 1.25x` of the reference. */
import type { Constraint } from '../experiment/environment.ts'

/** Throws a sentence that shows how one is written. */
export function constraintIn(text: string): Constraint {
  const match = /^\s*(.+?)\s*(<=|>=|≤|≥)\s*([-+]?[\d_.]+(?:e[-+]?\d+)?)\s*(x|×)?\s*$/i.exec(text)
  const bound = match ? Number(match[3]!.replaceAll('_', '')) : Number.NaN
  if (!match || !Number.isFinite(bound)) {
    throw new Error(
      `"${text}" is no constraint; write a metric, <= or >=, and a number, such as "val_bpb >= 0.9" (an x behind the number: that many times the reference's)`,
    )
  }
  return {
    metric: match[1]!,
    ...(match[2] === '<=' || match[2] === '≤' ? { atMost: bound } : { atLeast: bound }),
    ...(match[4] === undefined ? {} : { relativeTo: 'reference' }),
  }
}

export function constraintText({ metric, atMost, atLeast, relativeTo }: Constraint): string {
  const of = relativeTo === undefined ? '' : " times the reference's"
  const bounds = [
    ...(atLeast === undefined ? [] : [`at least ${atLeast}${of}`]),
    ...(atMost === undefined ? [] : [`at most ${atMost}${of}`]),
  ]
  return `${metric} ${bounds.join(' and ')}`
}
