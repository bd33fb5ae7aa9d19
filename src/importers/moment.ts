/**
 * Moments as Python's `time.time()` has them.
 */

/** ISO 8601 in UTC, of seconds since 1970; null for what is no such number. */
export function momentOfSeconds(seconds: unknown): string | null {
  if (typeof seconds !== 'number') return null
  const moment = new Date(seconds * 1000)
  return Number.isNaN(moment.getTime()) ? null : moment.toISOString()
}
