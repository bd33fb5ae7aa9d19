/**
 * An evaluation as text: tables of figures with their intervals, what beats what, and a sentence of conclusion.
 */
import type { Difference } from '../forecast/differences.ts'
import type { Figure } from '../forecast/figures.ts'
import { type Estimate, intervalOf } from '../statistics/bootstrap.ts'
import { dash, decimalsFor, percentText, signed } from './numbers.ts'
import { renderTable, type TableOptions } from './table.ts'

export interface FiguresRow {
  readonly name: string
  readonly figures: Partial<Readonly<Record<Figure, Estimate>>>
}

/** `0.31 [−0.02, 0.60]`; a dash where it is not defined. */
export function estimateText(estimate: Estimate | undefined, decimals: number): string {
  if (estimate === undefined || !Number.isFinite(estimate.value)) return dash
  const { low, high } = intervalOf(estimate)
  const plain = (value: number) => signed(value, decimals).replace('+', '')
  return Number.isFinite(low) ? `${plain(estimate.value)} [${plain(low)}, ${plain(high)}]` : plain(estimate.value)
}

/** Order and choice; then size and honesty. */
export function figureTables(rows: readonly FiguresRow[], options: TableOptions): string {
  const number = (estimate: Estimate | undefined, decimals = 2) =>
    estimate === undefined || !Number.isFinite(estimate.value)
      ? dash
      : signed(estimate.value, decimals).replace('+', '')
  const scale = (figure: Figure) => {
    const values = rows.flatMap(({ figures }) => figures[figure]?.value ?? []).filter(Number.isFinite)
    return values.length === 0 ? 2 : decimalsFor(Math.min(...values.map(Math.abs).filter(value => value > 0), 1e9))
  }
  const inUnits = rows.some(({ figures }) => figures.error !== undefined)
  const right = (heading: string) => ({ heading, align: 'right' as const })
  const order = renderTable(
    [
      { heading: 'forecaster', shrinkTo: 12 },
      right('Spearman'),
      right('Kendall'),
      right('pairs right'),
      right('regret saved'),
      right('NDCG'),
      ...(inUnits ? [right('regret')] : []),
    ],
    rows.map(({ name, figures }) => [
      name,
      estimateText(figures.spearman, 2),
      number(figures.kendall),
      share(figures.pairs),
      estimateText(figures.regretSkill, 2),
      number(figures.ndcg),
      ...(inUnits ? [number(figures.regret, scale('regret'))] : []),
    ]),
    options,
  )
  const size = renderTable(
    [
      { heading: 'forecaster', shrinkTo: 12 },
      right('pinball skill'),
      right('80 % holds'),
      right('skill of P(gain > 0)'),
      right('skill of finishing'),
      ...(inUnits ? [right('error'), right('pinball')] : []),
    ],
    rows.map(({ name, figures }) => [
      name,
      estimateText(figures.pinballSkill, 2),
      share(figures.held),
      estimateText(figures.better, 2),
      number(figures.finishing),
      ...(inUnits ? [number(figures.error, scale('error')), number(figures.pinball, scale('pinball'))] : []),
    ]),
    options,
  )
  return `${order}\n\n${size}`
}

function share(estimate: Estimate | undefined): string {
  return estimate === undefined ? dash : percentText(estimate.value)
}

const measureWords = { pinball: 'pinball loss', regret: 'regret', spearman: 'rank correlation' } as const

/** The better one first; all pairs of one measure share a correction. */
export function differenceTable(differences: readonly Difference[], options: TableOptions): string {
  const rows = differences.map(betterFirst).sort((a, b) => a.adjusted - b.adjusted || b.value - a.value)
  const several = differences.some(({ environments }) => environments > 1)
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
    rows.map(({ measure, first, second, value, low, high, p, adjusted, better, environments }) => [
      measureWords[measure],
      first,
      second,
      `${signed(value, 3).replace('+', '')} [${signed(low, 3).replace('+', '')}, ${signed(high, 3).replace('+', '')}]`,
      chanceText(p),
      { text: chanceText(adjusted), style: adjusted <= 0.05 ? ('better' as const) : ('faint' as const) },
      ...(several ? [`${better} of ${environments}`] : []),
    ]),
    options,
  )
}

export function betterFirst(difference: Difference): Difference {
  const { first, second, value, low, high, better, worse } = difference
  if (value >= 0) return difference
  return {
    ...difference,
    first: second,
    second: first,
    value: -value,
    low: -high,
    high: -low,
    better: worse,
    worse: better,
  }
}

function chanceText(p: number): string {
  return p < 0.001 ? '<0.001' : p.toFixed(3)
}

/** What the differences allow to say, and no more. `baselines`: those that look at no candidate. */
export function conclusion(
  names: readonly string[],
  differences: readonly Difference[],
  baselines: readonly string[],
): string {
  const shown = differences.map(betterFirst).filter(({ adjusted }) => adjusted <= 0.05)
  const beats = (name: string, measure: Difference['measure']) =>
    shown.filter(each => each.first === name && each.measure === measure).map(({ second }) => second)
  const trusted = names.flatMap(name => {
    const said = (['pinball', 'regret', 'spearman'] as const).flatMap(measure => {
      const beaten = beats(name, measure)
      return beaten.length === 0 ? [] : [`${beaten.join(', ')} in ${measureWords[measure]}`]
    })
    return said.length === 0 ? [] : [`${name} beats ${said.join('; ')}.`]
  })
  const above = names.filter(
    name => !baselines.includes(name) && baselines.every(baseline => beats(name, 'pinball').includes(baseline)),
  )
  const closing =
    above.length > 0
      ? `Trust ${above.join(' or ')} above what looks at no candidate.`
      : 'No forecaster is shown to miss by less than those that look at no candidate; more records may tell.'
  return [...trusted, closing].join('\n')
}
