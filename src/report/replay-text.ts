/** A replay as text: the best gain so far at a few numbers of runs, the area under that curve beside the oracle's, and what that means. */
import { legend } from './evaluation-tables.ts'
import { countText, decimalsFor, percentText, signed } from './numbers.ts'
import { singleLine } from './outside-text.ts'
import { renderTable, type TableOptions } from './table.ts'
import { wrap } from './wrap.ts'

export interface ReplayedTable {
  readonly environment: string
  /** One sentence: of which metric gains are, and which way is good. */
  readonly gains: string
  readonly records: number
  readonly repeats: number
  readonly order: 'time' | 'random'
  readonly offered: number
  readonly chosen: number
  readonly rows: readonly {
    readonly name: string
    readonly curve: readonly number[]
    readonly naulc: number
    readonly spread: { readonly low: number; readonly high: number }
  }[]
  /** The flags that name it to another command, with a space before them. */
  readonly environmentFlags: string
}

export const oracleName = 'oracle'
export const atRandomName = 'at random'

/** Shares of all runs at which the curve is shown. */
const moments = [0.125, 0.25, 0.5, 1]

export function replayText(
  tables: readonly ReplayedTable[],
  options: TableOptions & { readonly sameFlags?: string },
): string {
  return tables.map(table => tableText(table, options)).join('\n\n\n')
}

function tableText(replayed: ReplayedTable, options: TableOptions & { readonly sameFlags?: string }): string {
  const { environment, gains, records, repeats, order, offered, chosen, rows } = replayed
  const runs = rows[0]!.curve.length
  const shown = [...new Set(moments.map(share => Math.max(1, Math.round(share * runs))))]
  const largest = Math.max(...rows.map(({ curve }) => curve.at(-1) ?? 0))
  const decimals = decimalsFor(largest / 10)
  const several = repeats > 1
  const table = renderTable(
    [
      { heading: 'chosen by', shrinkTo: 10 },
      ...shown.map(run => ({ heading: countText(run, 'run'), align: 'right' as const })),
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
  const heading = options.styling(
    'heading',
    `${singleLine(environment)}: ${countText(records, 'record')} ${how}, ${runs} run`,
  )
  return [
    `${heading}\n${wrap(`${gains}\nOf each ${offered} rows ${chosen} are run; the gains here are over the first reference.`, options.width)}`,
    table,
    legend(
      [
        ['after so many runs', 'the best gain so far; more is better'],
        ['nAULC', `area under that curve, where the ${oracleName}, which knows all results, has 100 %; more is better`],
        [atRandomName, 'what it takes no forecast to reach'],
      ],
      options,
    ),
    `${wrap(verdictText(rows), options.width)}\nNext: almanac evaluate${replayed.environmentFlags}${options.sameFlags ?? ''}`,
  ].join('\n\n')
}

/** Below this there is little left for a better choice to win. */
const littleToWin = 0.05

/** One history is one story: it says how far apart they came, and never which is better. */
function verdictText(rows: ReplayedTable['rows']): string {
  const random = rows.find(({ name }) => name === atRandomName)!
  const forecasters = rows.filter(({ name }) => name !== atRandomName && name !== oracleName)
  const best = forecasters.toSorted((first, second) => second.naulc - first.naulc)[0]
  if (best === undefined) return `Chance alone reaches ${percentText(random.naulc)} of the oracle.`
  if (1 - random.naulc < littleToWin) {
    return `Chance alone reaches ${percentText(random.naulc)} of the oracle here: there is little to win by choosing, and little to tell apart.`
  }
  const far = percentText(best.naulc)
  const names = forecasters.filter(({ naulc }) => percentText(naulc) === far).map(({ name }) => name)
  const chance = percentText(random.naulc)
  const found =
    best.naulc > random.naulc
      ? `${names.join(', ')} came furthest: ${far} of the oracle, where chance has ${chance}.`
      : `Nobody chose better than chance (${chance} of the oracle).`
  return `${found}\nOne history is one story: whether that was luck, evaluate says.`
}
