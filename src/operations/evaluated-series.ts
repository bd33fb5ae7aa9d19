/**
 * The series that an evaluation is about: records of environments by name, or of the one in whose folder the user stands; and all
 * others of the ledger, which forecasts may learn from.
 */
import type { Environment } from '../experiment/environment.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { isTestable, type Series } from '../forecast/rolling-origin.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { InputError } from './operation.ts'

/** Every family of the ledger with its records in time order, the one with most to say first. */
export async function allSeries(ledger: Ledger): Promise<Series[]> {
  const byFamily = Map.groupBy(await ledger.recordsOf({}), ({ environment }) => environment.familyId)
  return [...byFamily.values()]
    .map(records => ({ environment: records[0]!.environment, records: records.filter(isTestable) }))
    .filter(({ records }) => records.length > 0)
    .sort((first, second) => second.records.length - first.records.length)
}

/** Those of these names, each once; a name that several families have is refused, and so is one that the ledger does not know. */
export function seriesNamed(series: readonly Series[], names: readonly string[]): Series[] {
  return [...new Set(names)].map(name => {
    const found = series.filter(({ environment }) => environment.family.name === name)
    if (found.length === 1) return found[0]!
    const known = series.map(({ environment }) => environment.family.name)
    throw new InputError(
      found.length === 0
        ? `No environment with results is called "${name}". ${known.length === 0 ? 'The ledger has none; import a history or run something first.' : `The ledger has: ${known.join(', ')}.`}`
        : `${found.length} environments are called "${name}", since what it measures has changed; evaluate in its folder for the current one.`,
    )
  })
}

/** Of the environment itself, at any of its versions. */
export function seriesOf(series: readonly Series[], environment: Environment): Series {
  const records: readonly ExperimentRecord[] =
    series.find(({ environment: { familyId } }) => familyId === environment.familyId)?.records ?? []
  return { environment, records }
}

/** The first and the last day on which one of its runs ended; null where no run says. */
export function datesOf({ records }: Series): { readonly first: string; readonly last: string } | null {
  const moments = records.flatMap(({ runs }) => runs.flatMap(({ outcome }) => outcome?.finishedAt ?? [])).sort()
  const [first, last] = [moments[0], moments.at(-1)]
  return first === undefined || last === undefined ? null : { first: first.slice(0, 10), last: last.slice(0, 10) }
}
