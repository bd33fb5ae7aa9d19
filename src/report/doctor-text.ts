/** What the doctor found, as text: a line for each finding, a few cases of each, and what a gate would have saved. */
import type { GateSavings } from '../campaign/doctor/gate-savings.ts'
import { type KeptGain, sureEnough } from '../campaign/doctor/kept-gains.ts'
import type { IdeaGroup, RepeatedIdeas } from '../campaign/doctor/repeated-ideas.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { median } from '../statistics/summary.ts'
import { truncate } from './display-width.ts'
import { countText, dash, gainText, percentText, plainNumber } from './numbers.ts'
import { singleLine } from './outside-text.ts'
import { candidateText, verdictText } from './result-table.ts'
import { renderTable, type TableOptions } from './table.ts'
import { wrap } from './wrap.ts'

export interface Findings {
  readonly environment: string
  /** One sentence: of which metric gains are, and which way is good. */
  readonly gains: string
  readonly metric: string
  readonly records: number
  readonly runs: number
  readonly repeated: RepeatedIdeas
  readonly kept: readonly KeptGain[]
  /** References on which something was tried, and how many of them have one run or none. */
  readonly references: { readonly tried: number; readonly unrepeated: number }
  readonly gate: GateSavings
  /** Who guards the gate. */
  readonly forecaster: string
  /** Whether it is that of the folder, where more can be run. */
  readonly canRun: boolean
  /** The flags that name it to another command, with a space before them. */
  readonly environmentFlags: string
}

/** Cases of each finding, and forms of each idea, that are printed; `--json` has all. */
const mostCases = 5

export function doctorText(
  findings: readonly Findings[],
  options: TableOptions & { readonly sameFlags?: string },
): string {
  return findings
    .map(found =>
      [
        headingText(found, options),
        groupsText(found.repeated, found.records, options),
        ...againText(found.repeated, options),
        wrap(keptText(found), options.width),
        wrap(referencesText(found.references), options.width),
        gateText(found, options),
      ].join('\n\n'),
    )
    .join('\n\n\n')
}

function headingText({ environment, records, runs, gains }: Findings, { styling, width }: TableOptions): string {
  const heading = `${singleLine(environment)}: ${countText(records, 'record')}, ${countText(runs, 'run')}`
  return `${styling('heading', heading)}\n${wrap(gains, width)}`
}

/** `  record 15: embedding LR 0.6 to 0.8  +0.00326`, in a column of its own for each. */
function recordLines(records: readonly ExperimentRecord[], options: TableOptions): string[] {
  const width = Math.min(60, options.width - 40)
  const names = records.map(record => truncate(singleLine(candidateText(record)), width))
  const widest = Math.max(...names.map(name => name.length))
  return records.map((record, index) => {
    const number = `record ${record.id}:`.padEnd(`record ${Math.max(...records.map(({ id }) => id))}:`.length)
    return `${number} ${names[index]!.padEnd(widest)}  ${resultText(record)}`
  })
}

function resultText(record: ExperimentRecord): string {
  return record.measured === null ? verdictText(record) : gainText(record.measured)
}

function groupsText({ groups }: RepeatedIdeas, records: number, options: TableOptions): string {
  if (groups.length === 0) return 'Every idea was tried once.'
  const more = groups.reduce((sum, group) => sum + group.length - 1, 0)
  const lines = [
    wrap(
      `Ideas tried in several forms: ${groups.length}, with ${countText(more, 'record')} beyond the first (${percentText(more / records)} of all). That is the same options, lines of code or words with other values; tuning a value is no fault.`,
      options.width,
    ),
    ...groups.slice(0, mostCases).flatMap(group => groupLines(group, options)),
  ]
  if (groups.length > mostCases)
    lines.push(`  and ${countText(groups.length - mostCases, 'more idea')} (--json has all)`)
  return lines.join('\n')
}

function groupLines(group: IdeaGroup, options: TableOptions): string[] {
  const hidden = group.length - mostCases
  return [
    `  ${group.length} times${hidden > 0 ? `, ${mostCases} of them` : ''}:`,
    ...recordLines(group.slice(0, mostCases), options).map(line => `    ${line}`),
  ]
}

/** With the sentences of both, so that a reader can judge whether it was the same again. */
function againText({ again }: RepeatedIdeas, options: TableOptions): string[] {
  if (again.length === 0) return []
  const gained = again.filter(({ record }) => (record.measured?.gain ?? 0) > 0).length
  const same = again.filter(
    ({ record, after }) => record.environment.version.id === after.record.environment.version.id,
  )
  const lines = [
    wrap(
      `Tried again after the same, less of it, or what reads like it had failed or was worse: ${again.length}, ${same.length} of them against the same reference; ${gained} gained this time.`,
      options.width,
    ),
    ...again.slice(0, mostCases).flatMap(({ record, after }) => {
      const [before, now] = recordLines([after.record, record], options)
      return [`    ${now}`, `      after ${before}`]
    }),
  ]
  if (again.length > mostCases) lines.push(`  and ${again.length - mostCases} more (--json has all)`)
  return [lines.join('\n')]
}

function keptText({ kept, metric: name }: Findings): string {
  const metric = singleLine(name)
  if (kept.length === 0) return 'Nothing that was measured was kept as a reference.'
  const typical = `half of the kept gains are below ${plainNumber(median(kept.map(({ gain }) => gain)))} (${metric})`
  const known = kept.filter(({ probabilityBetter }) => probabilityBetter !== null)
  if (known.length === 0) {
    return `Kept: ${kept.length}; ${typical}. How many of them are luck cannot be said, since nothing was repeated: repeat the reference, or say --noise, the standard deviation of ${metric} between seeds.`
  }
  const doubtful = known.filter(({ probabilityBetter }) => probabilityBetter! < sureEnough)
  return `Kept: ${kept.length}; ${typical}. Below the noise (less than ${percentText(sureEnough)} sure to be gains): ${doubtful.length} of the ${known.length} whose noise is known.`
}

function referencesText({ tried, unrepeated }: Findings['references']): string {
  if (unrepeated === 0) return `References: ${tried}, all measured more than once.`
  return `References measured only once or never: ${unrepeated} of ${tried}. Their luck is in every gain against them.`
}

function gateText(
  { gate, forecaster, canRun, environmentFlags }: Findings,
  options: TableOptions & { readonly sameFlags?: string },
): string {
  const { asked, gains, kept, savings } = gate
  const inKept = kept > 0
  const table = renderTable(
    [
      { heading: 'not run: chance below', align: 'right' },
      { heading: 'runs saved', align: 'right' },
      { heading: 'gains missed', align: 'right' },
      ...(inKept ? [{ heading: 'of them kept', align: 'right' as const }] : []),
      { heading: inKept ? 'share of the kept gain' : 'share of all gain', align: 'right' },
    ],
    savings.map(({ threshold, saved, gainsLost, keptLost, gainShareLost }) => [
      percentText(threshold),
      `${saved} (${percentText(saved / asked)})`,
      `${gainsLost} of ${gains}`,
      ...(inKept ? [`${keptLost} of ${kept}`] : []),
      total(gate) === 0 ? dash : percentText(gainShareLost),
    ]),
    options,
  )
  return [
    wrap(
      `What a gate by ${forecaster} would have saved: candidates to which it gives too small a chance of a gain are not run. Judged on ${countText(asked, 'candidate')}, each forecast from the rows before it; many runs saved for little gain missed is good.`,
      options.width,
    ),
    table,
    gateAdvice(gate, canRun, `${environmentFlags}${options.sameFlags ?? ''}`, options.width),
  ].join('\n')
}

/** A gate that knows nothing misses as large a share of the gain as it saves of the runs: worth setting is what misses little of it. */
const mostMissed = 0.1
const leastSaved = 0.1

function gateAdvice(gate: GateSavings, canRun: boolean, flags: string, width: number): string {
  const { asked, savings } = gate
  const best = savings.findLast(
    ({ saved, gainShareLost }) => gainShareLost <= mostMissed && saved / asked - gainShareLost >= leastSaved,
  )
  if (total(gate) === 0 || best === undefined) {
    return `${wrap('No threshold is worth setting here: none saves many runs and misses little of the gain.', width)}\nNext: almanac evaluate${flags}`
  }
  const { threshold, saved, gainShareLost } = best
  return [
    wrap(
      `Worth setting on this history: ${percentText(threshold)}, which saves ${percentText(saved / asked)} of the runs and misses ${percentText(gainShareLost)} of the gain. That is little evidence, and the forecasts know results that a real gate would not have.`,
      width,
    ),
    canRun
      ? `To set it for good: gate: { chance: ${threshold} } in the environment file.\nNext: almanac campaign start --chance ${threshold}${flags}`
      : `To set it where you run: gate: { chance: ${threshold} } in the environment file.\nNext: almanac evaluate${flags}`,
  ].join('\n')
}

/** How many gains there are to miss. */
function total({ gains, kept }: GateSavings): number {
  return kept > 0 ? kept : gains
}
