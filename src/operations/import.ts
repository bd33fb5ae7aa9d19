/** Brings in a history: a results.tsv and its relatives, with the diffs that git still has, or a file of Almanac's own records. */
import { basename, resolve } from 'node:path'
import { z } from 'zod'
import { leftOut } from '../campaign/left-out.ts'
import { objectiveOf } from '../experiment/environment.ts'
import { attachDiffs, type MissingCode } from '../importers/commit-diffs.ts'
import type { UnusableRow } from '../importers/history.ts'
import { readRecords } from '../importers/records-jsonl.ts'
import { readResultsTsv } from '../importers/results-tsv.ts'
import { storeHistory } from '../importers/store-history.ts'
import { storeRecords } from '../importers/store-records.ts'
import { countText } from '../report/numbers.ts'
import { singleLine } from '../report/outside-text.ts'
import { openRepository } from '../repository/repository.ts'
import { pathOfGiven, textOfGiven } from './given-file.ts'
import { InputError, operation } from './operation.ts'
import { asInput, inPlace, type Place } from './surroundings.ts'

interface Imported {
  readonly source: string
  readonly added: number
  readonly known: number
  readonly unusable: readonly UnusableRow[]
  /** Rows that came in as text only, and why git could not give their code. */
  readonly withoutCode: readonly MissingCode[]
  /** Whether gains are measured against a row of the import from now on. */
  readonly changesReference: boolean
}

export const importHistory = operation({
  name: 'import',
  summary: 'bring in a history: results.tsv and its relatives, or records of Almanac',
  example: 'almanac import results.tsv',
  positional: ['path'],
  input: z.strictObject({
    path: z.string().optional().describe('the file (default: "results" of the environment file)'),
    column: z.string().optional().describe('the column of the metric, where it is not called like the metric'),
  }),
  run: ({ path, column }, context) =>
    inPlace(context, async (place): Promise<Imported> => {
      const name = path ?? place.opened.file.results
      if (name === undefined) throw new InputError('Name the file to import: almanac import results.tsv')
      const file = path === undefined ? resolve(place.opened.directory, name) : pathOfGiven(path, context)
      const text = await textOfGiven(file)
      return /^\uFEFF?\{\s*"format"\s*:\s*"almanac-records"/.test(text)
        ? importRecords(text, name, place)
        : importResults(text, name, file, column, place)
    }),
  text: ({ source, added, known, unusable, withoutCode, changesReference }, { styling }) => {
    const lines = [
      styling(
        'heading',
        `${source}: ${countText(added, 'row')} imported, ${known} known before, ${unusable.length} not usable`,
      ),
      ...unusable.map(({ place, reason, text }) => `  ${place}: ${singleLine(`${reason}: ${text}`)}`),
    ]
    for (const [reason, rows] of Map.groupBy(withoutCode, each =>
      each.reason.replace(/\b[0-9a-f]{7,40}\b/, 'of that name'),
    )) {
      lines.push(
        `  ${countText(rows.length, 'row')} without code (${reason}): ${shortList(rows.map(({ place }) => place))}`,
      )
    }
    if (changesReference) lines.push('The row that was kept last is the reference now.')
    return lines.join('\n')
  },
})

async function importRecords(text: string, source: string, { ledger }: Place): Promise<Imported> {
  const file = await asInput((async () => readRecords(text, source))())
  const { runs } = await storeRecords(ledger, file)
  return { source, added: runs.added, known: runs.known, unusable: [], withoutCode: [], changesReference: false }
}

async function importResults(
  text: string,
  source: string,
  file: string,
  column: string | undefined,
  { ledger, opened, environment }: Place,
): Promise<Imported> {
  const { name, direction } = objectiveOf(opened.family)
  const read = await asInput(
    (async () =>
      readResultsTsv(text, basename(source), { metric: { name, direction }, ...(column ? { column } : {}) }))(),
  )
  const repository = opened.repository ?? (await openRepository(opened.directory).catch(() => null))
  const { history, missing } = repository
    ? await attachDiffs(read, repository, { exclude: leftOut(opened, repository, ledger.path, [file]) })
    : { history: read, missing: [] }
  const { added, known, unusable } = await storeHistory(ledger, opened.family, history)
  const current = await ledger.currentVersion(environment.familyId)
  return {
    source,
    added: added.references + added.kept + added.tried,
    known,
    unusable,
    withoutCode: missing,
    changesReference: current !== null && current.version.id !== environment.version.id,
  }
}

/** `line 3, 5, 9`: the word once where all are lines. */
function shortList(places: readonly string[]): string {
  const short = places.length <= 8 ? places : [...places.slice(0, 7), `… ${places.at(-1)}`]
  const text = short.join(', ')
  return places.every(place => place.startsWith('line ')) ? `line ${text.replaceAll('line ', '')}` : text
}
