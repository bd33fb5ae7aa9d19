/**
 * An evaluation as text: tables of figures with their intervals, what beats what, and a sentence of conclusion.
 */
import type { Difference } from '../forecast/differences.ts'
import type { Figure } from '../forecast/figures.ts'
import { type Estimate, intervalOf } from '../statistics/bootstrap.ts'
import { conclusion, differenceTable } from './difference-text.ts'
import { countText, dash, decimalsFor, percentText, plainDecimals } from './numbers.ts'
import { renderTable, type TableOptions } from './table.ts'

export interface FiguresRow {
  readonly name: string
  readonly figures: Partial<Readonly<Record<Figure, Estimate>>>
  /** Pools without equal forecasts, which rank correlations are of; null where there are no pools. */
  readonly ranked: number | null
  /** Forecasts that failed, so that those of `constant` stood in. */
  readonly stoodIn: number
}

export interface EvaluatedEnvironment {
  readonly name: string
  readonly metric: string
  readonly direction: string
  readonly records: number
  readonly withoutGain: number
  readonly tested: number
  readonly pools: number
  /** Of consecutive pools; null where there is no time order. */
  readonly blocks: number | null
  readonly dates: { readonly first: string; readonly last: string } | null
  /** Rank correlation of two seeds of one record, over all records. */
  readonly ceiling: Estimate
  /** What the truth would reach by the same, within the few that are ranked together. */
  readonly truth: { readonly together: number; readonly ranks: number }
  readonly rows: readonly FiguresRow[]
}

export interface Evaluation {
  readonly split: 'rolling' | 'halves'
  readonly environments: readonly EvaluatedEnvironment[]
  /** The mean over several environments; null where there is one. */
  readonly overall: readonly FiguresRow[] | null
  readonly differences: readonly Difference[]
  /** Those that look at no candidate. */
  readonly baselines: readonly string[]
  /** Entrants whose history was spoiled on purpose, and whose. */
  readonly controls: readonly { readonly name: string; readonly of: string }[]
  readonly models: readonly { readonly name: string; readonly knowledgeUntil: string | null }[]
}

export function evaluationText(evaluation: Evaluation, options: TableOptions): string {
  const { split, environments, overall, differences, baselines, models } = evaluation
  const sections = environments.flatMap(environment => [
    options.styling('heading', headline(environment)),
    figureTables(environment.rows, options),
    ...asides(environment, models),
  ])
  if (overall !== null) {
    sections.push(
      options.styling('heading', `Mean over ${environments.length} environments`),
      figureTables(overall, options),
    )
  }
  const pieces =
    split === 'rolling'
      ? 'signs of blocks of consecutive rows turned'
      : 'Student’s t with near-duplicate groups drawn again'
  const names = environments[0]!.rows.map(({ name }) => name)
  const evidence = environments.reduce((sum, { blocks }) => sum + (blocks ?? Number.POSITIVE_INFINITY), 0)
  sections.push(
    `${options.styling('heading', 'Paired differences')} (p by ${pieces}; Holm over the pairs of each measure)`,
    differenceTable(differences, options),
    [...controlLines(evaluation), conclusion(names, differences, baselines, evidence)].join('\n'),
  )
  return sections.join('\n\n')
}

function headline(environment: EvaluatedEnvironment): string {
  const { name, metric, direction, records, withoutGain, tested, pools, blocks, dates } = environment
  const when = dates === null ? '' : ` from ${dates.first} to ${dates.last}`
  const how =
    blocks === null
      ? 'random halves, each from the other'
      : `${tested} forecast from the rows before, in ${countText(pools, 'pool')} (${countText(blocks, 'block')})`
  return `${name} (${metric}, ${direction}): ${countText(records, 'record')}${when}, ${withoutGain} without a gain; ${how}`
}

function asides({ ceiling, truth, rows, dates }: EvaluatedEnvironment, models: Evaluation['models']): string[] {
  const lines: string[] = []
  if (Number.isFinite(ceiling.value)) {
    const reached = Number.isNaN(truth.ranks)
      ? ''
      : `; the truth itself would rank ${truth.together} of them with ${plainDecimals(truth.ranks)}, and less where these lie closer together`
    lines.push(`Two seeds of one record rank alike with ${plainDecimals(ceiling.value)} over all records${reached}.`)
  }
  for (const { name, stoodIn } of rows) {
    if (stoodIn > 0) lines.push(`${name}: ${countText(stoodIn, 'forecast')} failed; constant stood in.`)
  }
  for (const { name, knowledgeUntil } of models) {
    const records =
      dates === null ? 'when the records are from is not known' : `the records are from ${dates.first} to ${dates.last}`
    lines.push(
      knowledgeUntil === null
        ? `${name}: when its knowledge ends is not known ("knowledgeUntil" of "language" says it); ${records}.`
        : `${name}: its knowledge ends ${knowledgeUntil}; ${records}${dates !== null && dates.first <= knowledgeUntil ? ', so it may have read some of them' : ''}.`,
    )
  }
  return lines.length === 0 ? [] : [lines.join('\n')]
}

/** `0.31 [−0.02, 0.60]`; a dash where it is not defined. */
function estimateText(estimate: Estimate | undefined, decimals: number): string {
  if (estimate === undefined || !Number.isFinite(estimate.value)) return dash
  const { low, high } = intervalOf(estimate)
  const own = plainDecimals(estimate.value, decimals)
  return Number.isFinite(low) ? `${own} [${plainDecimals(low, decimals)}, ${plainDecimals(high, decimals)}]` : own
}

/** Order and choice; then size and honesty. */
function figureTables(rows: readonly FiguresRow[], options: TableOptions): string {
  const plain = (estimate: Estimate | undefined, decimals = 2) =>
    estimate === undefined ? dash : plainDecimals(estimate.value, decimals)
  const scale = (figure: Figure) => {
    const values = rows.flatMap(({ figures }) => figures[figure]?.value ?? []).filter(Number.isFinite)
    return values.length === 0 ? 2 : decimalsFor(Math.min(...values.map(Math.abs).filter(value => value > 0), 1e9))
  }
  const inUnits = rows.some(({ figures }) => figures.error !== undefined)
  const inPools = rows.some(({ ranked }) => ranked !== null)
  const right = (heading: string) => ({ heading, align: 'right' as const })
  const order = renderTable(
    [
      { heading: 'forecaster', shrinkTo: 12 },
      right('Spearman'),
      ...(inPools ? [right('pools ranked')] : []),
      right('Kendall'),
      right('pairs right'),
      right('regret saved'),
      right('NDCG'),
      ...(inUnits ? [right('regret')] : []),
    ],
    rows.map(({ name, figures, ranked }) => [
      name,
      estimateText(figures.spearman, 2),
      ...(inPools ? [ranked === null ? dash : String(ranked)] : []),
      plain(figures.kendall),
      share(figures.pairs),
      estimateText(figures.regretSkill, 2),
      plain(figures.ndcg),
      ...(inUnits ? [plain(figures.regret, scale('regret'))] : []),
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
      plain(figures.finishing),
      ...(inUnits ? [plain(figures.error, scale('error')), plain(figures.pinball, scale('pinball'))] : []),
    ]),
    options,
  )
  return `${order}\n\n${size}`
}

function share(estimate: Estimate | undefined): string {
  return estimate === undefined ? dash : percentText(estimate.value)
}

/** Who learns from the records ranks worse with outcomes shuffled, and as well with options renamed. */
function controlLines({ environments, overall, controls }: Evaluation): string[] {
  const rows = overall ?? environments[0]!.rows
  const ranks = (name: string) =>
    plainDecimals(rows.find(row => row.name === name)?.figures.spearman?.value ?? Number.NaN)
  return [...Map.groupBy(controls, ({ of }) => of)].map(([name, own]) => {
    const spoiled = own.map(control => `${ranks(control.name)} with ${control.name.slice(name.length + 2)}`)
    return `${name} ranks with ${ranks(name)}; ${spoiled.join(', ')}.`
  })
}
