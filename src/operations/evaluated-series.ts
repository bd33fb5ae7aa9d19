/**
 * The records that an evaluation is about, by environment in time order: of the one in whose folder the user stands, of those that are
 * named, or of all; and the others of the ledger, which forecasts may learn from.
 */
import { z } from 'zod'
import { currentEnvironment } from '../campaign/current-environment.ts'
import type { EnvironmentFile } from '../campaign/environment-file.ts'
import { isTestable, rollingDefaults, type Series } from '../forecast/rolling-origin.ts'
import { type Ledger, openLedgerToRead } from '../ledger/ledger.ts'
import { countText } from '../report/numbers.ts'
import { singleLine } from '../report/outside-text.ts'
import { type Context, InputError } from './operation.ts'
import { shellWord } from './shell-word.ts'
import { environmentHere, environmentNamed, ledgerPath, requireLedger, withWaits } from './surroundings.ts'

export interface EvaluatedSeries {
  readonly evaluated: readonly Series[]
  readonly others: readonly Series[]
  readonly ledger: Ledger
  /** Of the folder; null where there is none. */
  readonly file: EnvironmentFile | null
  /** The family of the folder's environment; null where there is none, or where other environments are named. */
  readonly familyHere: string | null
  /** The flags that name the same environments to another command, with a space before them; empty where none are needed. */
  readonly environmentFlags: string
  /** The same for a forecast, which is about one. */
  readonly forecastFlags: string
}

export interface WhichEnvironments {
  /** By name. */
  readonly environment?: readonly string[] | undefined
  /** Every one with enough records. */
  readonly all?: boolean
}

/** The flags that say which; for the input of an operation. */
export const environmentFlags = {
  environment: z
    .array(z.string())
    .optional()
    .describe('environments of the ledger by name (default: that of the folder)'),
  all: z.boolean().default(false).describe('every environment of the ledger with enough records'),
}

const least = rollingDefaults.firstTested + 2

/** Without a name: the environment of the folder; where there is none, all that have enough records. */
export async function withSeries<T>(
  context: Context,
  { environment: names, all = false }: WhichEnvironments,
  action: (series: EvaluatedSeries) => Promise<T>,
): Promise<T> {
  const opened = await environmentHere(context)
  const path = ledgerPath(context, opened)
  requireLedger(path)
  await using ledger = await openLedgerToRead(path, withWaits(context).waiting)
  const series = await seriesOf(ledger)
  const familyHere = opened === null || names !== undefined ? null : (await currentEnvironment(opened, ledger)).familyId
  const evaluated =
    names !== undefined
      ? await Promise.all(
          [...new Set(names)].map(async name => only(series, (await environmentNamed(ledger, name)).familyId, name)),
        )
      : familyHere === null || all
        ? series.filter(({ records }) => records.length >= least)
        : [only(series, familyHere, opened!.family.name)]
  if (evaluated.length === 0) {
    throw new InputError(`No environment of the ledger has ${least} results or more; import a history or run more.`)
  }
  const others = series.filter(one => !evaluated.includes(one))
  const flags = {
    environmentFlags: flagsFor(evaluated, familyHere, all),
    forecastFlags: flagsFor(evaluated.slice(0, 1), familyHere, false),
  }
  // Awaited here: the ledger closes when this function is left.
  return await action({ evaluated, others, ledger, file: opened?.file ?? null, familyHere, ...flags })
}

/** None where the folder says it, or where the ledger has several and none was named. */
function flagsFor(evaluated: readonly Series[], familyHere: string | null, all: boolean): string {
  if (all) return ' --all'
  if (familyHere !== null) return ''
  return ` --environment${evaluated.map(({ environment }) => ` ${shellWord(singleLine(environment.family.name))}`).join('')}`
}

/** Records that say how their idea went, by family; the family with most to say first. */
export async function seriesOf(ledger: Ledger): Promise<Series[]> {
  const { records, references } = await ledger.recordsAndReferencesOf()
  const familyOf = new Map(records.map(({ environment }) => [environment.version.id, environment.familyId]))
  const referencesOf = Map.groupBy(references, ({ versionId }) => familyOf.get(versionId))
  return [...Map.groupBy(records, ({ environment }) => environment.familyId)]
    .map(([familyId, own]) => ({
      environment: own[0]!.environment,
      records: own.filter(isTestable),
      references: referencesOf.get(familyId) ?? [],
    }))
    .filter(({ records }) => records.length > 0)
    .sort((first, second) => second.records.length - first.records.length)
}

function only(series: readonly Series[], familyId: string, name: string): Series {
  const found = series.find(({ environment }) => environment.familyId === familyId)
  if (found !== undefined && found.records.length >= least) return found
  throw new InputError(
    `${name} has ${countText(found?.records.length ?? 0, 'result')}; this needs ${least} or more. Import a history, run more, or name another environment.`,
  )
}

/** The first and the last day on which one of its runs ended; null where no run says. */
export function datesOf({ records }: Series): { readonly first: string; readonly last: string } | null {
  const moments = records.flatMap(({ runs }) => runs.flatMap(({ outcome }) => outcome?.finishedAt ?? [])).sort()
  const [first, last] = [moments[0], moments.at(-1)]
  return first === undefined || last === undefined ? null : { first: first.slice(0, 10), last: last.slice(0, 10) }
}
