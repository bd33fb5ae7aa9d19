/** What a dry run of `almanac import` shows of one environment: everything that was inferred, guesses marked as such. */
import { constraintText } from '../importers/constraint-text.ts'
import { countText, percentText, plainNumber } from '../report/numbers.ts'
import { singleLine } from '../report/outside-text.ts'
import type { ImportedEnvironment } from './imported.ts'

export function inferredLines(environment: ImportedEnvironment): string[] {
  const { name, isHere, metrics, constraints, reference, statuses, columns, guesses, dates, leaking, atRisk } =
    environment
  const { references, kept, tried } = environment.added
  const [objective, ...others] = metrics
  const better =
    objective.direction === null
      ? 'nothing tells which way is better: say --direction'
      : betterText(objective.direction)
  const facts: (readonly [string, string])[] = [
    ['metric', `${objective.name}, ${better}${objective.guessed ? ' (a guess)' : ''}`],
    ...when(others.length > 0, ['beside it', listed(others.map(({ name }) => name))]),
    ...columns,
    ['reference', reference === null ? 'none was measured' : `${reference.place}: ${shortened(reference.sentence)}`],
    ...when(constraints.length > 0, ['constraints', constraints.map(constraintText).join('; ')]),
    ...when(statuses.length > 0, ['statuses', statusText(statuses)]),
    ['new rows', `${references} reference, ${kept} kept, ${tried} tried; ${environment.known} known before`],
    ...when(environment.violated > 0, ['violated', violatedText(environment.violated)]),
    ...(dates ? [['dates', `${dates.first.slice(0, 10)} to ${dates.last.slice(0, 10)}`] as const] : []),
    [
      'texts',
      leaking.rows === 0
        ? 'none says how it went'
        : `${leaking.rows} (${percentText(leaking.share)}) say how it went; that is split off`,
    ],
    ...when(atRisk.length > 0, ['at risk', riskText(atRisk, objective.name)]),
  ]
  const width = Math.max(...facts.map(([label]) => label.length))
  return [
    isHere ? `${singleLine(name)}, the environment of this folder` : `${singleLine(name)}, an environment of its own`,
    ...facts.flatMap(([label, text]) => hanging(`  ${label.padEnd(width)}  `, text)),
    ...guesses.flatMap(guess => hanging('  guess: ', guess)),
  ]
}

function when(holds: boolean, fact: readonly [string, string]): (readonly [string, string])[] {
  return holds ? [fact] : []
}

export function violatedText(rows: number): string {
  return `${countText(rows, 'row')} broke a constraint: no gain, whatever the log says`
}

function betterText(direction: 'minimize' | 'maximize'): string {
  return direction === 'minimize' ? 'lower is better' : 'higher is better'
}

function statusText(statuses: ImportedEnvironment['statuses']): string {
  const shown = statuses.slice(0, 12).map(({ word, meaning, rows }) => `${word} → ${meaning} (${rows})`)
  return statuses.length > 12 ? `${shown.join(', ')} and ${statuses.length - 12} more` : shown.join(', ')
}

function riskText(atRisk: ImportedEnvironment['atRisk'], metric: string): string {
  const shown = atRisk.slice(0, 5).map(({ place, value }) => `${place} (${plainNumber(value)})`)
  const more = atRisk.length > 5 ? ` and ${atRisk.length - 5} more` : ''
  return (
    `${shown.join(', ')}${more}: a step far larger than those that were kept usually were (a guess). A first one may well be; ` +
    `where a number was gamed a rule makes it fail: --constraint "${metric} >= NUMBER" (or <=)`
  )
}

const widest = 100

/** Lines of at most a hundred columns, those after the first below the beginning of the text. */
export function hanging(label: string, text: string): string[] {
  const indent = ' '.repeat(label.length)
  const lines: string[] = []
  let line = label
  for (const word of singleLine(text).split(' ')) {
    const isFirst = line === label || line === indent
    if (!isFirst && line.length + 1 + word.length > widest) {
      lines.push(line)
      line = indent
    }
    line += line === label || line === indent ? word : ` ${word}`
  }
  return [...lines, line]
}

function listed(names: readonly string[]): string {
  return names.length <= 10 ? names.join(', ') : `${names.slice(0, 10).join(', ')} and ${names.length - 10} more`
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
