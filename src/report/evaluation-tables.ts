/** The figures of an evaluation as two tables, each with a legend: who orders and chooses well, and who says well how much. */
import type { Figure } from '../forecast/figures.ts'
import { type Estimate, intervalOf } from '../statistics/bootstrap.ts'
import { pad } from './display-width.ts'
import type { FiguresRow } from './evaluation.ts'
import { dash, decimalsFor, percentText, plainDecimals } from './numbers.ts'
import { renderTable, type TableOptions } from './table.ts'
import { wrap } from './wrap.ts'

/** A figure of fewer pools says nothing of the next one. */
export const leastPools = 3
const tooFew = 'too few'

export interface ShownTables {
  readonly rows: readonly FiguresRow[]
  /** Of the figures in units; null for a mean over environments, which has none. */
  readonly metric: string | null
  readonly withLegend: boolean
}

export function figureTables({ rows, metric, withLegend }: ShownTables, options: TableOptions): string {
  const plain = (estimate: Estimate | undefined, decimals = 2) =>
    estimate === undefined ? dash : plainDecimals(estimate.value, decimals)
  const share = (estimate: Estimate | undefined) => (estimate === undefined ? dash : percentText(estimate.value))
  const scale = (figure: Figure) => {
    const values = rows.flatMap(({ figures }) => figures[figure]?.value ?? []).filter(Number.isFinite)
    return values.length === 0 ? 2 : decimalsFor(Math.min(...values.map(Math.abs).filter(value => value > 0), 1e9))
  }
  const inPools = rows.some(({ ranked }) => ranked !== null)
  const right = (heading: string) => ({ heading, align: 'right' as const })
  const name = { heading: 'forecaster', shrinkTo: 24 }
  const order = renderTable(
    [
      name,
      right('Spearman'),
      ...(inPools ? [right('pools')] : []),
      right('Kendall'),
      right('pairs right'),
      right('regret saved'),
      right('NDCG'),
      ...(metric === null ? [] : [right('regret')]),
    ],
    rows.map(({ name, figures, ranked }) => {
      const isRanked = ranked === null || ranked === 0 || ranked >= leastPools
      return [
        name,
        isRanked ? intervalText(figures.spearman) : tooFew,
        ...(inPools ? [ranked === null ? dash : String(ranked)] : []),
        isRanked ? plain(figures.kendall) : tooFew,
        share(figures.pairs),
        intervalText(figures.regretSkill),
        plain(figures.ndcg),
        ...(metric === null ? [] : [plain(figures.regret, scale('regret'))]),
      ]
    }),
    options,
  )
  const size = renderTable(
    [
      name,
      right('pinball skill'),
      right('80 % holds'),
      right('P(gain > 0)'),
      right('finishing'),
      ...(metric === null ? [] : [right('error'), right('pinball')]),
    ],
    rows.map(({ name, figures }) => [
      name,
      intervalText(figures.pinballSkill),
      share(figures.held),
      intervalText(figures.better),
      plain(figures.finishing),
      ...(metric === null ? [] : [plain(figures.error, scale('error')), plain(figures.pinball, scale('pinball'))]),
    ]),
    options,
  )
  if (!withLegend) return `${order}\n\n${size}`
  return [
    order,
    legend(
      [
        ['Spearman, Kendall', 'order within a pool: 1 right, 0 as by chance, more is better; [95 % interval]'],
        ...(inPools ? [['pools', 'how many of them it ranks: equal forecasts rank nothing'] as const] : []),
        ['pairs right', 'of two rows, how often the better one first: 50 % is chance, more is better'],
        ['regret saved', 'by the choice of the best-looking: 1 the best, 0 as by chance, more is better'],
        ['NDCG', 'of the same choice: 1 the best one, more is better'],
        ...(metric === null
          ? []
          : [['regret', `how far that choice is below the best, in ${metric}; less is better`] as const]),
      ],
      options,
    ),
    size,
    legend(
      [
        ['pinball skill', 'size, order and honesty: 1 perfect, 0 as constant, below 0 worse than it'],
        ['80 % holds', 'how often the gain is in the 80 % interval: 80 % is right'],
        ['P(gain > 0), finishing', 'skill of these chances: 1 perfect, 0 as the same for all, more is better'],
        ...(metric === null
          ? []
          : [
              [
                'error, pinball',
                `mean miss of the median, and of all quantiles, in ${metric}; less is better`,
              ] as const,
            ]),
      ],
      options,
    ),
  ].join('\n\n')
}

/** A line for each word, its meaning behind it. */
export function legend(
  lines: readonly (readonly [word: string, meaning: string])[],
  { styling, width: columns }: TableOptions,
): string {
  const width = Math.max(...lines.map(([word]) => word.length))
  const indent = ' '.repeat(width + 4)
  return lines
    .flatMap(([word, meaning]) => {
      const [first, ...others] = wrap(`${indent}${meaning}`, columns, indent).split('\n')
      return [`  ${pad(word, width, 'left')}  ${first!.slice(indent.length)}`, ...others]
    })
    .map(line => styling('faint', line))
    .join('\n')
}

/** `0.31 [−0.02, 0.60]`; a dash where it is not defined. */
function intervalText(estimate: Estimate | undefined): string {
  if (estimate === undefined || !Number.isFinite(estimate.value)) return dash
  const { low, high } = intervalOf(estimate)
  const own = plainDecimals(estimate.value)
  return Number.isFinite(low) ? `${own} [${plainDecimals(low)}, ${plainDecimals(high)}]` : own
}
