/** Records that `almanac export` wrote, here or elsewhere, as an import. */
import type { Source } from '../importers/importer.ts'
import { readRecords } from '../importers/records-jsonl.ts'
import { storeRecords } from '../importers/store-records.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { textOfGiven } from './given-file.ts'
import type { Imported } from './imported.ts'
import { InputError } from './operation.ts'
import { rolledBack } from './rolled-back.ts'
import { asInput } from './surroundings.ts'

export async function importRecords(
  source: Source,
  given: string,
  place: string,
  ledger: Ledger,
  dryRun: boolean,
): Promise<Imported> {
  if (source.kind !== 'file') throw new InputError(`${source.name} is no file; records are imported from one`)
  const text = await textOfGiven(source.path)
  const file = await asInput((async () => readRecords(text, source.name))())
  const { runs } = dryRun
    ? await rolledBack(ledger, ledger => storeRecords(ledger, file))
    : await storeRecords(ledger, file, { place, source: source.name })
  return {
    source: source.name,
    given,
    format: 'records of Almanac',
    dryRun,
    ledger: ledger.path,
    environments: [],
    added: runs.added,
    known: runs.known,
    replaced: 0,
    asBefore: [],
    unusable: [],
    withoutCode: [],
    changesReference: false,
  }
}
