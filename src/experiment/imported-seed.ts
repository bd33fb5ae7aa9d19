/**
 * Seeds of runs that a log brought. They are below zero, so that they never stand for a seed that somebody asks for here: the same
 * number on another machine and at another time is another run.
 */

/** Far below any count of runs, and far above the least whole number that is exact. */
const known = 2 ** 40
const largest = 2 ** 52

/** `repeat` counts the runs of an intervention whose seed nobody knows (or had before), from 0. */
export function importedSeed(seed: number | null, repeat: number): number {
  if (seed === null || !Number.isSafeInteger(seed) || seed < 0 || seed > largest) return -1 - repeat
  return -known - seed
}

/** The seed as the log wrote it; null where it wrote none. Undefined for a run of our own. */
export function seedOfLog(stored: number): number | null | undefined {
  if (stored >= 0) return undefined
  return stored <= -known ? -known - stored : null
}

/** The repeat that comes behind this run of an intervention; 0 where it has a seed. */
export function repeatAfter(stored: number): number {
  return seedOfLog(stored) === null ? -stored : 0
}
