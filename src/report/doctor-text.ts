/** What the doctor found, as text: a line for each finding, a few cases of each, and what a gate would have saved. */
import type { GateSavings } from '../campaign/doctor/gate-savings.ts'
import { type KeptGain, sureEnough } from '../campaign/doctor/kept-gains.ts'
import type { RepeatedIdeas } from '../campaign/doctor/repeated-ideas.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { median } from '../statistics/summary.ts'
import { truncate } from './display-width.ts'
import { countText, gainText, percentText, plainNumber } from './numbers.ts'
import { singleLine } from './outside-text.ts'
import { candidateText } from './result-table.ts'
import { renderTable, type TableOptions } from './table.ts'

export interface Findings {
  readonly environment: string
  readonly records: number
  readonly runs: number
  readonly repeated: RepeatedIdeas
  readonly kept: readonly KeptGain[]
  /** References on which something was tried, and how many of them have one run or none. */
  readonly references: { readonly tried: number; readonly unrepeated: number }
  readonly gate: GateSavings
  /** Who guards the gate. */
  readonly forecaster: string
}

/** Cases of each finding that are printed; `--json` has all. */
const mostCases = 5

export function doctorText(findings: readonly Findings[], options: TableOptions): string {
  return findings
    .map(found =>
      [
        options.styling(
          'heading',
          `${found.environment}: ${countText(found.records, 'record')}, ${countText(found.runs, 'run')}`,
        ),
        repeatedText(found.repeated, found.records, options),
        keptText(found.kept),
        referencesText(found.references),
        gateText(found.gate, found.forecaster, options),
      ].join('\n\n'),
    )
    .join('\n\n\n')
}

function repeatedText({ groups, again }: RepeatedIdeas, records: number, options: TableOptions): string {
  const more = groups.reduce((sum, group) => sum + group.length - 1, 0)
  const name = (record: ExperimentRecord) =>
    truncate(singleLine(candidateText(record)), Math.max(30, options.width - 50))
  const lines = [
    groups.length === 0
      ? 'Every idea was tried once.'
      : `Ideas tried in several forms: ${groups.length}, with ${countText(more, 'record')} beyond the first (${percentText(more / records)} of all).`,
    ...groups.slice(0, mostCases).map(group => `  ${group.length} times: ${name(group[0]!)} (record ${group[0]!.id})`),
  ]
  if (again.length > 0) {
    const gained = again.filter(({ record }) => (record.measured?.gain ?? 0) > 0).length
    const same = again.filter(
      ({ record, after }) => record.environment.version.id === after.record.environment.version.id,
    )
    lines.push(
      `Tried again after something like it had failed or was worse: ${again.length}, ${same.length} of them against the same reference; ${gained} gained this time.`,
      ...again
        .slice(0, mostCases)
        .map(
          ({ record, after }) =>
            `  ${gainText(record.measured)}: ${name(record)} (record ${record.id}, after ${after.record.id})`,
        ),
    )
  }
  return lines.join('\n')
}

function keptText(kept: readonly KeptGain[]): string {
  if (kept.length === 0) return 'Nothing that was measured was kept as a reference.'
  const typical = `half of the kept gains are below ${plainNumber(median(kept.map(({ gain }) => gain)))}`
  const known = kept.filter(({ probabilityBetter }) => probabilityBetter !== null)
  if (known.length === 0) {
    return `Kept: ${kept.length}; ${typical}. How many of them are luck cannot be said: nothing was repeated. Repeat the reference, or say --noise.`
  }
  const doubtful = known.filter(({ probabilityBetter }) => probabilityBetter! < sureEnough)
  return `Kept: ${kept.length}; ${typical}. Below the noise (less than ${percentText(sureEnough)} sure to be gains): ${doubtful.length} of the ${known.length} whose noise is known.`
}

function referencesText({ tried, unrepeated }: Findings['references']): string {
  if (unrepeated === 0) return `References: ${tried}, all measured more than once.`
  return `References measured only once or never: ${unrepeated} of ${tried}. Their luck is in every gain against them.`
}

function gateText({ asked, gains, kept, savings }: GateSavings, forecaster: string, options: TableOptions): string {
  const table = renderTable(
    [
      { heading: 'gate: chance of a gain below', align: 'right' },
      { heading: 'runs saved', align: 'right' },
      { heading: 'gains lost', align: 'right' },
      { heading: 'kept lost', align: 'right' },
      { heading: kept > 0 ? 'of what was kept' : 'of all gains', align: 'right' },
    ],
    savings.map(({ threshold, saved, gainsLost, keptLost, gainShareLost }) => [
      percentText(threshold),
      `${saved} (${percentText(saved / asked)})`,
      `${gainsLost} of ${gains}`,
      `${keptLost} of ${kept}`,
      percentText(gainShareLost),
    ]),
    options,
  )
  return `What a gate of ${forecaster} would have saved, of ${asked} forecast from the rows before them (a gate that knows nothing loses as large a share of gains as it saves of runs):\n${table}`
}
