/** What `almanac import` says to a person: shortly what came in, and in a dry run everything that was inferred, guesses marked as such. */
import { constraintText } from '../importers/constraint-text.ts'
import { countText, percentText, plainNumber } from '../report/numbers.ts'
import { singleLine } from '../report/outside-text.ts'
import type { Imported, ImportedEnvironment } from './imported.ts'
import type { TextOptions } from './operation.ts'

/** Left-out rows of one reason that are listed one by one. */
const mostListed = 20

export function importText(imported: Imported, { styling }: TextOptions): string {
  const { source, added, known, unusable, environments, dryRun, changesReference, format, ledger } = imported
  const would = dryRun ? 'would be imported' : 'imported'
  const heading = `${singleLine(source)}: ${countText(added, 'row')} ${would}, ${known} known before, ${unusable.length} not usable`
  const lines = [styling('heading', heading)]
  if (dryRun && environments.length > 0) lines.push(`Read as ${format}. Nothing was stored.`)
  for (const each of environments) lines.push(...(dryRun ? inferredLines(each) : shortLines(each)))
  if (changesReference)
    lines.push(
      dryRun
        ? 'The row that was kept last would be the reference.'
        : 'The row that was kept last is the reference now.',
    )
  const here = environments.find(({ isHere }) => isHere)
  if (!dryRun && here !== undefined && added > 0) {
    lines.push(
      `They are part of ${singleLine(here.name)}, the environment of this folder; --as NAME would keep them apart.`,
    )
  }
  const own = environments.filter(({ isHere }) => !isHere)
  if (!dryRun && own.length > 0) {
    lines.push(
      `In the ledger ${ledger}: ${own.map(({ name }) => singleLine(name)).join(', ')}. Further commands reach ${own.length === 1 ? 'it' : 'them'} with --environment NAME.`,
    )
  }
  return lines.join('\n')
}

function shortLines(environment: ImportedEnvironment): string[] {
  const { violated, withoutCode, leaking, atRisk, added } = environment
  const isNew = added.references + added.kept + added.tried > 0
  return [
    ...(isNew && leaking.rows > 0
      ? [
          `  ${countText(leaking.rows, 'text')} (${percentText(leaking.share)}) said how it went: kept apart from what was tried`,
        ]
      : []),
    ...(isNew && atRisk.length > 0
      ? [`  ${countText(atRisk.length, 'row')} better than plausible: --dry-run names them`]
      : []),
    ...(violated > 0 ? [`  ${countText(violated, 'row')} broke a constraint: no gain, whatever the log says`] : []),
    ...unusableLines(environment),
    ...withoutCodeLines(withoutCode),
  ]
}

function inferredLines(environment: ImportedEnvironment): string[] {
  const { name, isHere, metrics, constraints, reference, statuses, guesses, dates, leaking, atRisk } = environment
  const { references, kept, tried } = environment.added
  const [objective, ...others] = metrics
  const better =
    objective.direction === null
      ? 'nothing tells which way is better: say --direction'
      : betterText(objective.direction)
  const facts: [string, string][] = [
    ['metric', `${objective.name}, ${better}${objective.guessed ? ' (a guess)' : ''}`],
    ...(others.length > 0 ? [['beside it', listed(others.map(({ name }) => name))] as [string, string]] : []),
    ['reference', reference === null ? 'none was measured' : `${reference.place}: ${shortened(reference.sentence)}`],
    ...(constraints.length > 0
      ? [['constraints', constraints.map(constraintText).join('; ')] as [string, string]]
      : []),
    ...(statuses.length > 0 ? [['statuses', statusText(statuses)] as [string, string]] : []),
    ['new rows', `${references} reference, ${kept} kept, ${tried} tried; ${environment.known} known before`],
    ...(environment.violated > 0
      ? [
          [
            'violated',
            `${countText(environment.violated, 'row')} broke a constraint: no gain, whatever the log says`,
          ] as [string, string],
        ]
      : []),
    ...(dates ? [['dates', `${dates.first.slice(0, 10)} to ${dates.last.slice(0, 10)}`] as [string, string]] : []),
    [
      'texts',
      leaking.rows === 0
        ? 'none says how it went'
        : `${leaking.rows} (${percentText(leaking.share)}) say how it went; that is split off`,
    ],
    ...(atRisk.length > 0 ? [['at risk', riskText(atRisk)] as [string, string]] : []),
  ]
  const width = Math.max(...facts.map(([label]) => label.length))
  return [
    isHere ? `${singleLine(name)}, the environment of this folder` : `${singleLine(name)}, an environment of its own`,
    ...facts.map(([label, text]) => `  ${label.padEnd(width)}  ${singleLine(text)}`),
    ...guesses.map(guess => `  guess: ${singleLine(guess)}`),
    ...unusableLines(environment),
    ...withoutCodeLines(environment.withoutCode),
  ]
}

function betterText(direction: 'minimize' | 'maximize'): string {
  return direction === 'minimize' ? 'lower is better' : 'higher is better'
}

function statusText(statuses: ImportedEnvironment['statuses']): string {
  const shown = statuses.slice(0, 12).map(({ word, meaning, rows }) => `${word} → ${meaning} (${rows})`)
  return statuses.length > 12 ? `${shown.join(', ')} and ${statuses.length - 12} more` : shown.join(', ')
}

function riskText(atRisk: ImportedEnvironment['atRisk']): string {
  const shown = atRisk.slice(0, 5).map(({ place, value }) => `${place} (${plainNumber(value)})`)
  const more = atRisk.length > 5 ? ` and ${atRisk.length - 5} more` : ''
  return `${shown.join(', ')}${more} better than plausible (a guess); a rule makes them fail, such as --constraint "metric >= number"`
}

function unusableLines({ unusable, unusableByReason }: ImportedEnvironment): string[] {
  if (unusable.length <= mostListed)
    return unusable.map(({ place, reason, text }) => `  ${singleLine(`${place}: ${reason}: ${text}`)}`)
  return unusableByReason.map(
    ({ reason, rows, places }) =>
      `  ${countText(rows, 'row')} not usable: ${singleLine(reason)} (${placeList(places)})`,
  )
}

function withoutCodeLines(withoutCode: ImportedEnvironment['withoutCode']): string[] {
  const groups = Map.groupBy(withoutCode, each => each.reason.replace(/\b[0-9a-f]{7,40}\b/, 'of that name'))
  return [...groups].map(
    ([reason, rows]) =>
      `  ${countText(rows.length, 'row')} without code (${reason}): ${placeList(rows.map(({ place }) => place))}`,
  )
}

/** `line 3, 5, 9`: the word once where all are lines. */
function placeList(places: readonly string[]): string {
  const short = places.length <= 8 ? places : [...places.slice(0, 7), `… ${places.at(-1)}`]
  const text = singleLine(short.join(', '))
  return places.every(place => place.startsWith('line ')) ? `line ${text.replaceAll('line ', '')}` : text
}

function listed(names: readonly string[]): string {
  return names.length <= 10 ? names.join(', ') : `${names.slice(0, 10).join(', ')} and ${names.length - 10} more`
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
