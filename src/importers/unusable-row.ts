/**
 * A run of a tracker that cannot be used, with the reason: nothing is left out in silence.
 */
import { contentHash } from '../experiment/json.ts'
import type { UnusableRow } from './history.ts'

const longestText = 200

/** `place` tells it from the others of its environment, so it decides the key. */
export function unusableRow(place: string, reason: string, text: string): UnusableRow {
  const shortened = text.length > longestText ? `${text.slice(0, longestText)}…` : text
  return { key: contentHash({ place, text }), place, reason, text: shortened }
}
