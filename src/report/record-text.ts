/**
 * One record in full, for the terminal: what was tried and where that came from, what it was tried on, how each run ended, what was
 * foreseen and what was measured.
 */
import { objectiveOf } from '../experiment/environment.ts'
import { seedOfLog } from '../experiment/imported-seed.ts'
import type { Run } from '../experiment/intervention.ts'
import type { ExperimentRecord, Forecast } from '../experiment/record.ts'
import { changeText } from './changes.ts'
import { betterWay } from './gain-legend.ts'
import { countText, forecastText, gainText, percentText, plainNumber } from './numbers.ts'
import { bounded, singleLine } from './outside-text.ts'
import { candidateText, verdictText } from './result-table.ts'
import type { Styling } from './table.ts'

/** Where runs that were imported stand in their source, and what is said of the result there; by the id of the run. */
export type RunOrigins = ReadonlyMap<number, { readonly place: string | null; readonly text: string | null }>

export interface WholeRecord {
  readonly record: ExperimentRecord
  readonly forecast: Forecast | undefined
  /** Of the reference that it was tried on. */
  readonly referenceRuns: readonly Run[]
  readonly origins: RunOrigins
  /** Whether it became a reference. */
  readonly kept: boolean
}

const mostRuns = 12
const longestDiff = 6000

export function recordText({ record, forecast, referenceRuns, origins, kept }: WholeRecord, styling: Styling): string {
  const { id, environment, intervention, changes, measured, runs } = record
  const { name, direction } = objectiveOf(environment.family)
  const { label, commit } = environment.version.reference
  const reference = label ?? (commit === null ? environment.version.id.slice(0, 12) : `commit ${commit.slice(0, 12)}`)
  const facts: readonly (readonly [string, string | null])[] = [
    ['tried', candidateText(record)],
    ['changes', changes.length === 0 ? null : changes.map(changeText).join(', ')],
    ['tags', intervention.tags.length === 0 ? null : intervention.tags.join(', ')],
    ['from', intervention.origin],
    ['against', `reference ${reference}`],
    ...listed(referenceRuns, '', name, origins),
    ['forecast', forecast === undefined ? null : foreseen(forecast)],
    ...listed(runs, 'run', name, origins),
    [
      'gain',
      measured === null
        ? null
        : `${gainText(measured)} (${name}, ${betterWay(direction)}; a gain above 0 is an improvement)`,
    ],
    ['verdict', `${verdictText(record)}${reasonOf(record)}`],
    ['kept', kept ? 'as the reference of what came after it' : null],
  ]
  const said = facts.filter((fact): fact is readonly [string, string] => fact[1] !== null)
  const width = Math.max(...said.map(([label]) => label.length))
  return [
    styling('heading', `Record ${id} of ${singleLine(environment.family.name)}`),
    ...said.map(([label, text]) => `  ${label.padEnd(width)}  ${bounded(singleLine(text), 2000)}`),
    ...(intervention.diff === null ? [] : ['', bounded(intervention.diff.trimEnd(), longestDiff)]),
  ].join('\n')
}

/** Why the verdict is what it is; a failure says so with its runs. */
function reasonOf({ verdict, measured }: ExperimentRecord): string {
  if (measured === null || verdict === null || verdict === 'failed') return ''
  const chance = measured.probabilityBetter
  return chance === null
    ? ': nothing was repeated, and nothing is known of the noise'
    : `: ${percentText(chance)} sure that it gains (better from 95 %, worse up to 5 %)`
}

function foreseen({ quantiles, finishes, forecaster }: Forecast): string {
  return `${forecastText(quantiles)} (80 %), ${percentText(finishes)} to finish, by ${forecaster}`
}

function listed(runs: readonly Run[], label: string, metric: string, origins: RunOrigins): [string, string][] {
  const lines = runs.slice(0, mostRuns).map((run): [string, string] => [label, runText(run, metric, origins)])
  const rest = runs.length - lines.length
  return rest === 0 ? lines : [...lines, [label, `and ${countText(rest, 'more run')}`]]
}

/** `line 12: finished, val_bpb 0.9932, seed 3; the source says: best so far`. */
function runText({ id, seed, outcome }: Run, metric: string, origins: RunOrigins): string {
  const origin = origins.get(id)
  const value = outcome?.metrics[metric]
  const written = seedOfLog(seed)
  const facts = [
    outcome === null ? 'has not ended' : outcome.kind,
    ...(value === undefined ? [] : [`${metric} ${plainNumber(value)}`]),
    ...(written === null ? [] : [`seed ${written ?? seed}`]),
    ...(outcome?.reason ? [outcome.reason] : []),
  ]
  const place = origin?.place ?? (written === undefined ? null : 'imported')
  // A failure's reason holds the note already.
  const note = origin?.text && !outcome?.reason?.includes(origin.text) ? `; the source says: ${origin.text}` : ''
  return `${place === null ? '' : `${place}: `}${facts.join(', ')}${note}`
}
