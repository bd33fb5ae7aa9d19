/**
 * The course of the learning rate: a linear warm-up, then constant, cosine, linear or warm-up-stable-decay. A factor on the
 * peak learning rate, the same for every parameter group.
 */
import type { Configuration } from './options.ts'

export type Schedule = Pick<
  Configuration,
  'schedule' | 'warmupFraction' | 'decayFraction' | 'finalLearningRateFraction'
>

/** Steps before the learning rate is at its peak. */
export function warmupSteps({ warmupFraction }: Pick<Configuration, 'warmupFraction'>, steps: number): number {
  return Math.round(warmupFraction * steps)
}

/**
 * Factor on the peak learning rate in `step` (from 0) of `steps`. The last step of a schedule that decays has the final
 * fraction; the first step of a warm-up is already above zero, or it would be wasted.
 */
export function learningRateFactor(schedule: Schedule, step: number, steps: number): number {
  const peak = warmupSteps(schedule, steps)
  if (step < peak) return (step + 1) / (peak + 1)
  const final = schedule.finalLearningRateFraction
  const decay = (from: number) => Math.min(1, Math.max(0, (step - from) / Math.max(1, steps - 1 - from)))
  switch (schedule.schedule) {
    case 'constant':
      return 1
    case 'linear':
      return 1 - (1 - final) * decay(peak)
    case 'cosine':
      return final + ((1 - final) * (1 + Math.cos(Math.PI * decay(peak)))) / 2
    case 'warmup-stable-decay':
      return 1 - (1 - final) * decay(Math.max(peak, steps - 1 - Math.round(schedule.decayFraction * steps)))
  }
}
