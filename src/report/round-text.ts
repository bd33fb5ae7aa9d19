/** A round of a campaign in lines: how many candidates went where, each of those that do not run with what decided it, and the chosen. */
import type { Quantiles } from '../experiment/record.ts'
import { tally } from '../text/tally.ts'
import { truncate } from './display-width.ts'
import { countText, forecastText, gainText } from './numbers.ts'
import { singleLine } from './outside-text.ts'

export interface LeftOut {
  readonly dropped: readonly { readonly sentence: string; readonly reason: string; readonly heldBack: boolean }[]
  readonly notChosen: readonly { readonly sentence: string; readonly worth: number }[]
  readonly leastWorth: number | null
}

export interface RoundShown extends LeftOut {
  readonly round: number
  readonly rounds: number
  readonly considered: number
  /** In an earlier round: of no further interest here. */
  readonly ranBefore: number
  readonly chosen: readonly {
    readonly sentence: string
    readonly quantiles: Quantiles
    readonly explored: boolean
    readonly gated: string | null
  }[]
}

/** Of each kind; the ledger has them all. */
const mostNamed = 8
const mostNotChosen = 3

export function roundLines(shown: RoundShown, columns: number): string[] {
  const { round, rounds, considered, ranBefore, dropped, notChosen, chosen } = shown
  const held = dropped.filter(({ heldBack }) => heldBack).length
  const counts = [
    ...(ranBefore > 0 ? [`${ranBefore} ran before`] : []),
    ...(dropped.length > held ? [`${dropped.length - held} dropped`] : []),
    ...(held > 0 ? [`${held} held back by the gate`] : []),
    ...(notChosen.length > 0 ? [`${notChosen.length} not chosen`] : []),
    `${chosen.length} chosen`,
  ]
  const lines = [
    `round ${round} of ${rounds}: ${countText(considered, 'candidate')}: ${counts.join(', ')}`,
    ...leftOutLines(shown, columns),
  ]
  if (chosen.length > 0) lines.push('  chosen, with the forecast of the gain:')
  for (const { sentence, quantiles, explored, gated } of chosen.slice(0, mostNamed)) {
    const drawn = !explored ? '' : gated === null ? ' (exploration)' : ' (exploration of what the gate holds back)'
    lines.push(`  ${forecastText(quantiles)}  ${shortened(sentence, columns - 30 - drawn.length)}${drawn}`)
  }
  if (chosen.length > mostNamed) lines.push(`  and ${chosen.length - mostNamed} more`)
  return lines
}

/** What a round did not run, by name, with the reason, or with its worth beside that of the last that was chosen. */
export function leftOutLines({ dropped, notChosen, leastWorth }: LeftOut, columns: number): string[] {
  const lines: string[] = []
  for (const [word, heldBack] of [
    ['dropped', false],
    ['held back', true],
  ] as const) {
    const items = dropped.filter(each => each.heldBack === heldBack)
    for (const { sentence, reason } of items.slice(0, mostNamed)) {
      const why = singleLine(reason)
      lines.push(`  ${word}: ${shortened(sentence, columns - why.length - word.length - 6)}: ${why}`)
    }
    for (const { reason, count } of tally(items.slice(mostNamed).map(each => each.reason))) {
      lines.push(`  ${word}, ${count} more: ${reason}`)
    }
  }
  for (const { sentence, worth } of notChosen.slice(0, mostNotChosen)) {
    const beside = leastWorth === null ? '' : `, and the last chosen ${worthText(leastWorth)}`
    lines.push(`  not chosen: ${shortened(sentence, columns - 60)}: worth ${worthText(worth)}${beside}`)
  }
  const rest = notChosen.length - mostNotChosen
  if (rest > 0) lines.push(`  not chosen, ${rest} more: worth no more than that`)
  if (notChosen.length > 0) lines.push('  (worth: the median of the gain, weighed with the chance to finish)')
  return lines
}

function shortened(sentence: string, columns: number): string {
  return truncate(singleLine(sentence), Math.max(24, columns))
}

function worthText(worth: number): string {
  return gainText({ gain: worth, standardError: null })
}
