/** A replay as text: the best gain so far at a few numbers of runs, and the area under that curve beside the oracle's. */
import { countText, decimalsFor, percentText, signed } from './numbers.ts'
import { renderTable, type TableOptions } from './table.ts'

export interface ReplayedTable {
  readonly environment: string
  readonly records: number
  readonly repeats: number
  readonly order: 'time' | 'random'
  readonly rows: readonly {
    readonly name: string
    readonly curve: readonly number[]
    readonly naulc: number
    readonly spread: { readonly low: number; readonly high: number }
  }[]
}

/** Shares of all runs at which the curve is shown. */
const moments = [0.125, 0.25, 0.5, 1]

export function replayText(tables: readonly ReplayedTable[], options: TableOptions): string {
  return tables.map(table => tableText(table, options)).join('\n\n')
}

function tableText({ environment, records, repeats, order, rows }: ReplayedTable, options: TableOptions): string {
  const runs = rows[0]!.curve.length
  const shown = [...new Set(moments.map(share => Math.max(1, Math.round(share * runs))))]
  const largest = Math.max(...rows.map(({ curve }) => curve.at(-1) ?? 0))
  const decimals = decimalsFor(largest / 10)
  const several = repeats > 1
  const table = renderTable(
    [
      { heading: 'chosen by', shrinkTo: 10 },
      ...shown.map(run => ({ heading: `best after ${countText(run, 'run')}`, align: 'right' as const })),
      { heading: 'nAULC', align: 'right' },
      ...(several ? [{ heading: 'over repeats', align: 'right' as const }] : []),
    ],
    rows.map(({ name, curve, naulc, spread }) => [
      name,
      ...shown.map(run => signed(curve[run - 1] ?? 0, decimals)),
      percentText(naulc),
      ...(several ? [`${percentText(spread.low)} to ${percentText(spread.high)}`] : []),
    ]),
    options,
  )
  const how = `${order === 'time' ? 'in time order' : 'in random order'}, ${countText(repeats, 'repeat')}`
  return `${options.styling('heading', `${environment}: ${countText(records, 'record')} ${how}, ${runs} run`)}\n${table}`
}
