/** Places of a source in a sentence. */
import { singleLine } from '../report/outside-text.ts'

/** `line 3, 5, 9`: the word once where all are lines. */
export function placeList(places: readonly string[]): string {
  const short = places.length <= 8 ? places : [...places.slice(0, 7), `… ${places.at(-1)}`]
  const text = singleLine(short.join(', '))
  return places.every(place => place.startsWith('line ')) ? `line ${text.replaceAll('line ', '')}` : text
}
