/** What a dry run of `almanac import` shows of one environment: everything that was inferred, guesses marked as such. */
import { constraintText } from '../importers/constraint-text.ts'
import { betterWay } from '../report/gain-legend.ts'
import { countText, percentText, plainNumber } from '../report/numbers.ts'
import { singleLine } from '../report/outside-text.ts'
import { hanging } from '../report/wrap.ts'
import { unmeasuredText } from './import-reference.ts'
import type { ImportedEnvironment } from './imported.ts'

export function inferredLines(environment: ImportedEnvironment): string[] {
  const { name, isHere, metrics, constraints, reference, statuses, columns, guesses, dates, leaking, cuts, atRisk } =
    environment
  const unmeasured = unmeasuredText(reference)
  const { references, kept, tried } = environment.added
  const [objective, ...others] = metrics
  const better =
    objective.direction === null ? 'nothing tells which way is better: say --direction' : betterWay(objective.direction)
  const facts: (readonly [string, string])[] = [
    ['metric', `${objective.name}, ${better}${guessText(environment)}`],
    ...when(others.length > 0, ['beside it', listed(others.map(({ name }) => name))]),
    ...columns,
    ['reference', reference === null ? 'none was measured' : `${reference.place}: ${shortened(reference.sentence)}`],
    ...(unmeasured === null ? [] : [['', unmeasured] as const]),
    ...when(constraints.length > 0, ['constraints', constraints.map(constraintText).join('; ')]),
    ...when(statuses.length > 0, ['statuses', statusText(statuses)]),
    ...when(environment.refusal === null, [
      'new rows',
      `${references} reference, ${kept} kept, ${tried} tried; ${environment.known} known before`,
    ]),
    ...when(environment.violated > 0, ['violated', violatedText(environment.violated)]),
    ...(dates ? [['dates', `${dates.first.slice(0, 10)} to ${dates.last.slice(0, 10)}`] as const] : []),
    [
      'texts',
      leaking.rows === 0
        ? 'none says how it went'
        : `${leaking.rows} (${percentText(leaking.share)}) say how it went; that is split off${cuts.length > 0 ? ':' : ''}`,
    ],
    ...cuts.slice(0, mostCuts).map(each => ['', cutText(each)] as const),
    ...when(cuts.length > mostCuts, ['', `and ${cuts.length - mostCuts} more, all of them with --json`]),
    ...when(atRisk.length > 0, ['at risk', riskText(atRisk, objective.name)]),
  ]
  const width = Math.max(...facts.map(([label]) => label.length))
  return [
    isHere ? `${singleLine(name)}, the environment of this folder` : `${singleLine(name)}, an environment of its own`,
    ...facts.flatMap(([label, text]) => hanging(`  ${label.padEnd(width)}  `, text)),
    ...guesses.flatMap(guess => hanging('  guess: ', guess)),
  ]
}

/** Of a direction that nobody said. */
function guessText({ metrics: [{ guessed, direction }], metricSaid }: ImportedEnvironment): string {
  if (!guessed || (metricSaid && direction === null)) return ''
  return metricSaid ? ' (the direction is a guess)' : ' (a guess)'
}

/** Texts whose cut is shown. */
const mostCuts = 3

function cutText({ place, tried, cut }: ImportedEnvironment['cuts'][number]): string {
  return `${place}: "${shortened(tried)}", without "${shortened(cut)}"`
}

function when(holds: boolean, fact: readonly [string, string]): (readonly [string, string])[] {
  return holds ? [fact] : []
}

export function violatedText(rows: number): string {
  return `${countText(rows, 'row')} broke a constraint: no gain, whatever the log says`
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

function listed(names: readonly string[]): string {
  return names.length <= 10 ? names.join(', ') : `${names.slice(0, 10).join(', ')} and ${names.length - 10} more`
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
