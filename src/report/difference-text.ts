/**
 * What beats what, as text: the pairs whose difference is left after Holm's correction, and for the others one sentence, with how much
 * evidence it would take.
 */
import { betterFirst, blocksNeeded, type Difference } from '../forecast/differences.ts'
import { shownFrom } from './evaluation-advice.ts'
import { countText, plainDecimals } from './numbers.ts'
import { renderTable, type TableOptions } from './table.ts'
import { wrap } from './wrap.ts'

/** Not shown, and not far from it. */
const worthNaming = 0.25

/** Differences that are printed; `--json` has all. */
const mostDifferences = 12

export const measureWords = { pinball: 'pinball loss', regret: 'regret', spearman: 'rank correlation' } as const

/** `blocks`: how many pieces of evidence there are; infinite where the bootstrap decides. */
export function differencesText(differences: readonly Difference[], blocks: number, options: TableOptions): string {
  const all = differences.map(betterFirst).sort((a, b) => a.adjusted - b.adjusted || b.value - a.value)
  const shown = all.filter(({ adjusted }) => adjusted <= shownFrom)
  const tables = shown.length === 0 ? [] : [differenceTable(shown.slice(0, mostDifferences), options)]
  const lines: string[] = []
  if (shown.length > mostDifferences) {
    lines.push(`${countText(shown.length - mostDifferences, 'more pair')} (--json has all)`)
  }
  const clearest = all[shown.length]
  if (clearest !== undefined) {
    const { first, second, measure, adjusted } = clearest
    const which = shown.length === 0 ? 'None of the' : 'None of the other'
    lines.push(
      `${which} ${countText(all.length - shown.length, 'comparison')} shows anything (p ≤ ${shownFrom} is asked for, after Holm).`,
    )
    if (adjusted < worthNaming) {
      lines.push(`The clearest: ${first} before ${second} in ${measureWords[measure]}, p = ${chanceText(adjusted)}.`)
    }
  }
  const hopeless = [...Map.groupBy(differences, ({ measure }) => measure)].flatMap(([measure, { length }]) =>
    blocks < blocksNeeded(length)
      ? [`${measureWords[measure]} (${blocksNeeded(length)} for ${countText(length, 'pair')})`]
      : [],
  )
  if (hopeless.length > 0) {
    lines.push(`With ${countText(blocks, 'block')} nothing could be shown, however large, in ${hopeless.join(', ')}.`)
  }
  return [...tables, ...lines.map(line => wrap(line, options.width))].join('\n')
}

/** The better one first; all pairs of one measure share a correction. */
function differenceTable(shown: readonly Difference[], options: TableOptions): string {
  const several = shown.some(({ environments }) => environments > 1)
  return renderTable(
    [
      { heading: 'measure' },
      { heading: 'better', shrinkTo: 10 },
      { heading: 'than', shrinkTo: 10 },
      { heading: 'by', align: 'right' },
      { heading: 'p', align: 'right' },
      { heading: 'p (Holm)', align: 'right' },
      ...(several ? [{ heading: 'in', align: 'right' as const }] : []),
    ],
    shown.map(({ measure, first, second, value, low, high, p, adjusted, better, environments }) => [
      measureWords[measure],
      first,
      second,
      Number.isNaN(low)
        ? plainDecimals(value, 3)
        : `${plainDecimals(value, 3)} [${plainDecimals(low, 3)}, ${plainDecimals(high, 3)}]`,
      chanceText(p),
      { text: chanceText(adjusted), style: 'better' as const },
      ...(several ? [`${better} of ${environments}`] : []),
    ]),
    options,
  )
}

export function chanceText(p: number): string {
  return p < 0.001 ? '<0.001' : p.toFixed(3)
}
