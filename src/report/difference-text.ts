/**
 * What beats what, as text: the pairs with their differences and chances, and a conclusion that says no more than is left after Holm's
 * correction.
 */
import { betterFirst, blocksNeeded, comparedMeasures, type Difference } from '../forecast/differences.ts'
import { countText, plainDecimals } from './numbers.ts'
import { renderTable, type TableOptions } from './table.ts'

/** Differences that are printed; `--json` has all. */
const mostDifferences = 12

export const measureWords = { pinball: 'pinball loss', regret: 'regret', spearman: 'rank correlation' } as const

/** The better one first; all pairs of one measure share a correction. */
export function differenceTable(differences: readonly Difference[], options: TableOptions): string {
  const rows = differences.map(betterFirst).sort((a, b) => a.adjusted - b.adjusted || b.value - a.value)
  const several = differences.some(({ environments }) => environments > 1)
  const shown = rows.slice(0, mostDifferences)
  const table = renderTable(
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
      { text: chanceText(adjusted), style: adjusted <= 0.05 ? ('better' as const) : ('faint' as const) },
      ...(several ? [`${better} of ${environments}`] : []),
    ]),
    options,
  )
  const hidden = rows.length - shown.length
  return hidden === 0 ? table : `${table}\n${countText(hidden, 'more pair')} (--json has all)`
}

export function chanceText(p: number): string {
  return p < 0.001 ? '<0.001' : p.toFixed(3)
}

/** `baselines`: those that look at no candidate. `blocks`: how many pieces of evidence there are; infinite where the bootstrap decides. */
export function conclusion(
  names: readonly string[],
  differences: readonly Difference[],
  baselines: readonly string[],
  blocks: number,
): string {
  const shown = differences.map(betterFirst).filter(({ adjusted }) => adjusted <= 0.05)
  const beaten = (name: string, measure: Difference['measure']) =>
    shown.filter(each => each.first === name && each.measure === measure).map(({ second }) => second)
  const lines = names.flatMap(name => {
    const said = comparedMeasures.flatMap(measure => {
      const others = beaten(name, measure)
      return others.length === 0 ? [] : [`${others.join(', ')} in ${measureWords[measure]}`]
    })
    return said.length === 0 ? [] : [`${name} beats ${said.join('; ')}.`]
  })
  const above = names.filter(
    name => !baselines.includes(name) && baselines.every(baseline => beaten(name, 'pinball').includes(baseline)),
  )
  lines.push(
    above.length > 0
      ? `Trust ${above.join(' or ')} above what looks at no candidate.`
      : 'No forecaster is shown to miss by less than constant and recent, which look at no candidate; more records may tell.',
  )
  const hopeless = [...Map.groupBy(differences, ({ measure }) => measure)].flatMap(([measure, { length }]) =>
    blocks < blocksNeeded(length)
      ? [`${measureWords[measure]} (for ${countText(length, 'pair')} it takes ${blocksNeeded(length)})`]
      : [],
  )
  if (hopeless.length > 0) {
    lines.push(`With ${countText(blocks, 'block')} nothing could be shown, however large, in ${hopeless.join(', ')}.`)
  }
  return lines.join('\n')
}
