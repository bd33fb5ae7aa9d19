/** What `almanac import` says to a person: shortly what came in and what to do with it, and in a dry run everything that was inferred. */
import { countText, percentText } from '../report/numbers.ts'
import { singleLine } from '../report/outside-text.ts'
import { hanging } from '../report/wrap.ts'
import { inferredLines, violatedText } from './import-inferred.ts'
import { placeList } from './import-places.ts'
import { unmeasuredText } from './import-reference.ts'
import type { Imported, ImportedEnvironment } from './imported.ts'
import type { TextOptions } from './operation.ts'
import { shellWord } from './shell-word.ts'

/** Left-out rows of one reason that are listed one by one. */
const mostListed = 20

export function importText(imported: Imported, { styling, sameFlags = '' }: TextOptions): string {
  const { source, given, added, known, unusable, environments, dryRun, changesReference, format, replaced } = imported
  const would = dryRun ? 'would be imported' : 'imported'
  const refused = environments.reduce((total, { refusal, rows }) => total + (refusal === null ? 0 : rows), 0)
  const heading = `${singleLine(source)}: ${countText(added, 'row')} ${would}, ${known} known before, ${unusable.length} not usable${refused === 0 ? '' : `, ${refused} refused`}`
  const lines = [styling('heading', heading)]
  if (dryRun && environments.length > 0) lines.push(`Read as ${format}. Nothing was stored.`)
  for (const text of imported.asBefore)
    lines.push(...hanging('', `Read as before, ${text === '' ? 'without flags' : `with${text}`}`))
  if (replaced > 0) {
    lines.push(`${countText(replaced, 'row')} of earlier imports ${dryRun ? 'would be' : 'are'} left out from now on.`)
  }
  for (const each of environments) {
    lines.push(...earlierLines(each, `almanac import ${shellWord(given)} --replace${sameFlags}`))
    lines.push(...(dryRun ? inferredLines(each) : shortLines(each)))
    lines.push(...unusableLines(each), ...withoutCodeLines(each.withoutCode), ...columnAdvice(each, given, sameFlags))
  }
  if (changesReference)
    lines.push(
      dryRun
        ? 'The row that was kept last would be the reference.'
        : 'The row that was kept last is the reference now.',
    )
  return [...lines, ...(dryRun ? [] : whereLines(imported, sameFlags))].join('\n')
}

/** Where it is now, and what can be done with it. */
function whereLines({ environments, added, known, dryRun, ledger }: Imported, sameFlags: string): string[] {
  if (added + known === 0) return environments.length === 0 || dryRun ? [] : ['Nothing was stored.']
  const here = environments.find(({ isHere }) => isHere)
  const stored = environments.filter(({ isHere, added, known }) => !isHere && countOf(added) + known > 0)
  const lines: string[] = []
  if (here !== undefined && added > 0) {
    lines.push(
      `They are part of ${singleLine(here.name)}, the environment of this folder; --as NAME would keep them apart.`,
    )
  }
  if (stored.length > 0) {
    const names = stored.slice(0, 10).map(({ name }) => singleLine(name))
    const more = stored.length > 10 ? ` and ${stored.length - 10} more` : ''
    lines.push(`In the ledger ${ledger}: ${names.join(', ')}${more}.`)
  }
  const name = here === undefined ? stored[0]?.name : undefined
  const flags = `${name === undefined ? '' : ` --environment ${shellWord(name)}`}${sameFlags}`
  if (here === undefined && name === undefined) return lines
  return [
    ...lines,
    'Next:',
    `  almanac records${flags}`,
    `  almanac evaluate${flags}`,
    `  almanac forecast "what you would try next"${flags}`,
  ]
}

/** What earlier imports made of the same rows. `anew`: the command that reads them anew. */
function earlierLines(
  { refusal, alsoIn, vanished, isReadOtherwise, name }: ImportedEnvironment,
  anew: string,
): string[] {
  const label = `  ${singleLine(name)}: `
  const stays = vanished.length === 1 ? 'is not in it any more, and stays' : 'are not in it any more, and stay'
  return [
    ...(refusal === null ? [] : hanging('  Refused: ', refusal)),
    ...(alsoIn.length === 0 || refusal !== null
      ? []
      : hanging(label, `its rows stand in ${alsoIn.join(', ')} too; forecasts that learn from both count them twice`)),
    ...(vanished.length === 0 || refusal !== null
      ? []
      : hanging(label, `${countText(vanished.length, 'row')} of an earlier import ${stays} (${placeList(vanished)}).`)),
    ...(isReadOtherwise ? hanging(label, 'rows that are known would be read otherwise today.') : []),
    ...(refusal === null && (vanished.length > 0 || isReadOtherwise) ? [`  To have it as it is now: ${anew}`] : []),
  ]
}

function countOf({ references, kept, tried }: ImportedEnvironment['added']): number {
  return references + kept + tried
}

function shortLines(environment: ImportedEnvironment): string[] {
  const { violated, leaking, atRisk, added, columns, reference } = environment
  const isNew = countOf(added) > 0
  const unmeasured = unmeasuredText(reference)
  return [
    ...(isNew ? columns.flatMap(([label, text]) => hanging(`  ${label}: `, text)) : []),
    ...(isNew && leaking.rows > 0
      ? [
          `  ${countText(leaking.rows, 'text')} (${percentText(leaking.share)}) said how it went: kept apart from what was tried`,
        ]
      : []),
    ...(isNew && atRisk.length > 0
      ? [`  ${countText(atRisk.length, 'row')} improved far more than was usual: --dry-run names them`]
      : []),
    ...(violated > 0 ? [`  ${violatedText(violated)}`] : []),
    ...(isNew && unmeasured !== null ? hanging('  ', unmeasured) : []),
  ]
}

/** How to say what a column is, where the guess may be wrong: a command that can be pasted. */
function columnAdvice(
  { columns, doubtful, metrics, added, known, unusable }: ImportedEnvironment,
  given: string,
  sameFlags: string,
): string[] {
  const command = (names: readonly string[]) =>
    `    almanac import ${shellWord(given)} --column ${names.map(name => shellWord(`${name}=option`)).join(' ')}${sameFlags}`
  if (countOf(added) + known === 0 && unusable.some(({ reason }) => reason.startsWith('nothing says what was tried'))) {
    const names = doubtful.length > 0 ? doubtful : metrics.slice(1).map(({ name }) => name)
    return names.length === 0 ? [] : ['  Where columns say what was set:', command(names)]
  }
  if (doubtful.length > 0)
    return [`  ${doubtful.join(', ')} counted as measured. Where they were set:`, command(doubtful)]
  const isGuessed = columns.some(([label, text]) => label === 'options' && text.endsWith('(a guess)'))
  return isGuessed ? ['  To correct a column: --column NAME=option, NAME=measurement or NAME=ignore'] : []
}

function unusableLines({ unusable, unusableByReason }: ImportedEnvironment): string[] {
  if (unusable.length <= mostListed)
    return unusable.flatMap(({ place, reason, text }) => hanging('  ', `${place}: ${reason}: ${text}`))
  return unusableByReason.flatMap(({ reason, rows, places }) =>
    hanging('  ', `${countText(rows, 'row')} not usable: ${reason} (${placeList(places)})`),
  )
}

function withoutCodeLines(withoutCode: ImportedEnvironment['withoutCode']): string[] {
  const groups = Map.groupBy(withoutCode, each => each.reason.replace(/\b[0-9a-f]{7,40}\b/, 'of that name'))
  return [...groups].flatMap(([reason, rows]) =>
    hanging(
      '  ',
      `${countText(rows.length, 'row')} without code (${reason}): ${placeList(rows.map(({ place }) => place))}`,
    ),
  )
}
