/**
 * φ: environment, history and candidate as text, for whatever reads rather than computes. The same values give the same
 * bytes; environment and history come first, so that all candidates of a round share their beginning. What people or
 * programs wrote is quoted, as JSON or behind `> `: it is data, and cannot pass for a heading.
 */
import { diffConfigurations } from '../experiment/configuration.ts'
import { type Environment, objectiveOf, type Reference } from '../experiment/environment.ts'
import type { ChangedOption, Intervention } from '../experiment/intervention.ts'
import { canonicalJson, type Json } from '../experiment/json.ts'
import type { Candidate, ExperimentRecord } from '../experiment/record.ts'
import { median } from '../statistics/summary.ts'
import { inOrder } from './relevant-records.ts'

/** Lines of a diff and characters of a line or a sentence that are shown; the rest is counted. */
const longestDiff = 200
const longestText = 2000

export function serialise(
  environment: Environment,
  history: readonly ExperimentRecord[],
  candidate: Candidate,
): string {
  return `${serialiseHistory(environment, history)}\n# Candidate\n${serialiseIntervention(candidate)}`
}

/** What all candidates have in common. */
export function serialiseHistory(environment: Environment, history: readonly ExperimentRecord[]): string {
  const records = inOrder(history).map(record => serialiseRecord(environment, record))
  return [
    `# Environment\n${serialiseEnvironment(environment)}`,
    // Not how many: a history that has grown still begins as it did, and prompt caches hold over rounds.
    '# History\n',
    ...records,
  ].join('\n')
}

function serialiseEnvironment({ family, version }: Environment): string {
  const { name, direction, unit } = objectiveOf(family)
  const others = family.metrics.slice(1).map(metric => metric.name)
  return lines([
    `name: ${quoted(family.name)}`,
    `description: ${quoted(family.description)}`,
    `objective: ${quoted(name)}${unit === undefined ? '' : ` in ${quoted(unit)}`}, ${direction}; a positive gain is better`,
    others.length > 0 && `other metrics: ${quoted(others)}`,
    ...family.constraints.map(({ metric, atMost, atLeast, relativeTo }) => {
      const bounds = [
        atLeast === undefined ? [] : [`at least ${atLeast}`],
        atMost === undefined ? [] : [`at most ${atMost}`],
      ]
      return `constraint: ${quoted(metric)} ${bounds.flat().join(' and ')}${relativeTo === undefined ? '' : " times the reference's"}`
    }),
    Object.keys(family.budget).length > 0 && `budget: ${quoted({ ...family.budget } as Json)}`,
    family.data.length > 0 && `data: ${quoted(family.data)}`,
    family.hardware !== undefined && `hardware: ${quoted(family.hardware)}`,
    `reference: ${referenceText(version.reference)}`,
  ])
}

/** A record as the history shows it. */
export function serialiseRecord(target: Environment, record: ExperimentRecord): string {
  return `## Record ${record.id}\n${lines([
    `environment: ${relation(target, record.environment)}`,
  ])}${serialiseIntervention(record)}outcome: ${outcomeText(record)}\n`
}

/** The intervention alone: sentence, tags, options and diff. */
export function serialiseIntervention({ intervention, changes }: Candidate): string {
  const { sentence, tags, diff } = intervention
  return lines([
    `intervention: ${quoted(bounded(sentence))}`,
    tags.length > 0 && `tags: ${quoted([...tags].sort())}`,
    ...changes.map(change => `changes ${changeText(change)}`),
    ...(diff === null ? [] : diffLines(diff)),
  ])
}

/** How the record's reference differs from the one that candidates are asked about. */
function relation(target: Environment, other: Environment): string {
  if (other.version.id === target.version.id) return 'this one'
  const differences = referenceDifferences(target.version.reference, other.version.reference)
  if (other.familyId === target.familyId) return `this one with another reference: ${differences}`
  const { name, direction, unit } = objectiveOf(other.family)
  const objective = `${quoted(name)}${unit === undefined ? '' : ` in ${quoted(unit)}`}, ${direction}`
  return `another one, ${quoted(other.family.name)}, objective ${objective}: ${differences}`
}

function referenceDifferences(target: Reference, other: Reference): string {
  if (target.configuration === null || other.configuration === null) return referenceText(other)
  const options = diffConfigurations(target.configuration, other.configuration)
  if (options.length > 0) return options.map(({ option, to }) => `${quoted(option)} is ${valueText(to)}`).join(', ')
  return target.tree === other.tree ? 'the same configuration' : 'the same configuration, other code'
}

function referenceText({ configuration, commit, label }: Reference): string {
  if (configuration !== null) return quoted(configuration)
  if (label !== undefined) return quoted(label)
  return commit === null ? 'unknown' : `commit ${quoted(commit)}`
}

function outcomeText({ environment, outcome, measured, runs, verdict }: ExperimentRecord): string {
  if (measured === null) return outcome === null ? 'not known yet' : `${outcome}, no gain`
  const error = measured.standardError === null ? '' : ` ± ${measured.standardError.toPrecision(2)}`
  const seeds = new Set(runs.flatMap(({ outcome, seed }) => (outcome?.kind === 'finished' ? [seed] : []))).size
  const repeats = seeds === 0 ? '' : `, ${seeds} ${seeds === 1 ? 'seed' : 'seeds'}`
  const { name } = objectiveOf(environment.family)
  const finished = runs.flatMap(({ outcome }) => (outcome?.kind === 'finished' ? [outcome.metrics[name]] : []))
  const values = finished.filter(value => typeof value === 'number')
  // The level says how far the objective could still go, which the gain alone does not.
  const level = values.length === 0 ? '' : `, ${quoted(name)} ${Number(median(values).toPrecision(6))}`
  return `${outcome ?? 'finished'}${level}, gain ${signed(measured.gain)}${error}${repeats}${verdict === null ? '' : `, ${verdict}`}`
}

function signed(value: number): string {
  return `${value < 0 ? '' : '+'}${value.toPrecision(4)}`
}

function changeText({ option, from, to }: ChangedOption): string {
  return `${quoted(option)} from ${valueText(from)} to ${valueText(to)}`
}

function valueText(value: Json | undefined): string {
  return value === undefined ? 'nothing' : quoted(value)
}

function diffLines(diff: NonNullable<Intervention['diff']>): string[] {
  const all = diff
    .replace(/\n$/, '')
    .split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)
    // Hashes of files say nothing, and cost a reader of tokens more than a changed line.
    .filter(line => !/^index [0-9a-f]+\.\.[0-9a-f]+/.test(line))
  const shown = all.slice(0, longestDiff).map(line => `> ${bounded(line)}`)
  return ['diff:', ...shown, ...(all.length > longestDiff ? [`(${all.length - longestDiff} more lines)`] : [])]
}

function bounded(text: string): string {
  if (text.length <= longestText) return text
  return `${text.slice(0, longestText)} (${text.length - longestText} more characters)`
}

/** JSON on one line, for every reader's idea of a line: JSON itself lets three line separators stand. */
function quoted(value: Json): string {
  return canonicalJson(value).replace(
    /[\u0085\u2028\u2029]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function lines(parts: readonly (string | false)[]): string {
  return parts
    .filter(part => part !== false)
    .map(part => `${part}\n`)
    .join('')
}
