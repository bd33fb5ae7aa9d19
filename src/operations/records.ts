/** Lists what was tried: filtered, sorted, with forecast, gain and verdict. */
import { z } from 'zod'
import { promotedRecords } from '../campaign/promoted-records.ts'
import { outcomeKinds } from '../experiment/intervention.ts'
import type { ExperimentRecord, Forecast } from '../experiment/record.ts'
import { type Ledger, openLedgerToRead } from '../ledger/ledger.ts'
import { gainLegend } from '../report/gain-legend.ts'
import { countText } from '../report/numbers.ts'
import { recordText, type WholeRecord } from '../report/record-text.ts'
import { renderResultTable } from '../report/result-table.ts'
import { InputError, operation } from './operation.ts'
import { type RecordSummary, summarise } from './record-summary.ts'
import { shellWord } from './shell-word.ts'
import { inLedger, inWholeLedger } from './surroundings.ts'

const orders = ['newest', 'oldest', 'gain', 'forecast', 'surprise'] as const

interface Listed {
  readonly records: readonly RecordSummary[]
  readonly shown: { readonly records: readonly ExperimentRecord[]; readonly forecasts: ReadonlyMap<number, Forecast> }
  readonly found: number
  /** Of so many, before any were left out. */
  readonly among: number
  /** The flag by which these records are reached again; empty where none is needed. */
  readonly reach: string
  /** The one that was asked for by its number. */
  readonly whole?: WholeRecord
}

export const records = operation({
  name: 'records',
  summary: 'list what was tried, with forecast, measured gain and verdict',
  example: 'almanac records --verdict better --sort gain',
  positional: ['text'],
  input: z.strictObject({
    text: z.array(z.string()).optional().describe('words that the sentence, tags or changed options must contain'),
    verdict: z.enum(['better', 'worse', 'inconclusive', 'failed']).optional().describe('only these'),
    outcome: z.enum(outcomeKinds).optional().describe('only these'),
    tag: z.string().optional().describe('only records with this tag'),
    sort: z.enum(orders).default('newest').describe('order; surprise: by how far the gain was from its forecast'),
    limit: z.number().int().positive().default(50).describe('at most this many'),
    record: z.number().int().positive().optional().describe('only this one, in full, with where it came from'),
    current: z.boolean().default(false).describe('only those against the current reference'),
    environment: z.string().optional().describe('of this environment of the ledger (default: the one of this folder)'),
    all: z.boolean().default(false).describe('of every environment in the ledger, not only this one'),
  }),
  run: ({ text, verdict, outcome, tag, sort, limit, record: id, current, environment: name, all }, context) => {
    const listed = async (ledger: Ledger, everything: readonly ExperimentRecord[]): Promise<Listed> => {
      const forecasts = await forecastsFor(everything, ledger)
      if (id !== undefined) return onlyOne(id, everything, forecasts, ledger)
      const words = (text ?? []).map(word => word.toLowerCase())
      const kept = everything.filter(record => {
        if (verdict && record.verdict !== verdict) return false
        if (outcome && record.outcome !== outcome) return false
        if (tag && !record.intervention.tags.includes(tag)) return false
        const searched = searchText(record)
        return words.every(word => searched.includes(word))
      })
      const sorted = kept.toSorted(comparison(sort, forecasts)).slice(0, limit)
      const origins = await ledger.importsOf(sorted.map(({ id }) => id))
      return {
        records: sorted.map(record => summarise(record, forecasts.get(record.id), origins)),
        shown: { records: sorted, forecasts },
        found: kept.length,
        among: everything.length,
        reach: all ? ' --all' : name === undefined ? '' : ` --environment ${shellWord(name)}`,
      }
    }
    if (all)
      return inWholeLedger(context, async ({ ledger }) => listed(ledger, await ledger.recordsOf({})), openLedgerToRead)
    return inLedger(
      context,
      name,
      async ({ ledger, environment }) =>
        listed(
          ledger,
          await ledger.recordsOf(
            current ? { versionIds: [environment.version.id] } : { familyIds: [environment.familyId] },
          ),
        ),
      openLedgerToRead,
    )
  },
  text: ({ shown, found, among, whole, reach }, options) => {
    if (whole !== undefined) return recordText(whole, options.styling)
    if (found === 0 && among > 0) return `None of ${countText(among, 'record')} is like that.`
    if (found === 0) return 'No records. Begin with "almanac run", "almanac import" or "almanac campaign start".'
    const rest = found > shown.records.length ? ` (${shown.records.length} shown; --limit shows more)` : ''
    const { sameFlags = '' } = options
    const ids = shown.records.map(({ id }) => id)
    const first = ids[0]!
    const isWhole = found === among && ids.length === found
    const gaps = isWhole && spanOf(ids) >= found ? ' (missing numbers are references)' : ''
    const measured = shown.records.flatMap(({ measured }) => measured ?? [])
    const noise = measured.some(({ standardError }) => standardError !== null)
      ? 'Behind ± stands one standard error; "better" is at least 95 % sure.'
      : 'Without repeats nothing is known of the noise, and gains and losses are inconclusive.'
    return [
      renderResultTable(shown.records, shown.forecasts, options),
      '',
      `${countText(found, 'record')}${rest}${gaps}. ${gainLegend(shown.records.map(({ environment }) => environment))}`,
      ...(measured.length === 0 ? [] : [noise]),
      `One in full, with its runs and their origin: almanac records --record ${first}${reach}${sameFlags}`,
    ].join('\n')
  },
  json: ({ records, found }) => ({ records, found }),
})

async function onlyOne(
  id: number,
  everything: readonly ExperimentRecord[],
  forecasts: ReadonlyMap<number, Forecast>,
  ledger: Ledger,
): Promise<Listed> {
  const record = everything.find(record => record.id === id)
  if (record === undefined) {
    throw new InputError(
      `There is no record ${id} here; "almanac records" lists them, and --all those of every environment.`,
    )
  }
  const forecast = forecasts.get(id)
  const reference = await ledger.ensureReference(record.environment.version.id)
  const origins = await ledger.importsOf([id, reference])
  const family = everything.filter(({ environment }) => environment.familyId === record.environment.familyId)
  const current = await ledger.currentVersion(record.environment.familyId)
  const promoted = await promotedRecords(family, current?.version ?? record.environment.version, ledger)
  return {
    records: [summarise(record, forecast, origins)],
    shown: { records: [record], forecasts },
    found: 1,
    among: everything.length,
    reach: '',
    whole: { record, forecast, referenceRuns: await ledger.runsOf(reference), origins, kept: promoted.has(id) },
  }
}

/** Not Math.max(...ids), which takes no hundred thousand arguments. */
function spanOf(ids: readonly number[]): number {
  const [first = 0] = ids
  const ends = ids.reduce(([low, high], id) => [Math.min(low, id), Math.max(high, id)] as const, [
    first,
    first,
  ] as const)
  return ends[1] - ends[0]
}

/** The forecasts of the records, by record id. */
export async function forecastsFor(
  records: readonly ExperimentRecord[],
  ledger: Ledger,
): Promise<Map<number, Forecast>> {
  return ledger.latestForecasts([...new Set(records.map(({ environment }) => environment.version.id))])
}

function searchText({ intervention, changes }: ExperimentRecord): string {
  return [intervention.sentence, ...intervention.tags, intervention.origin, ...changes.map(({ option }) => option)]
    .join('\n')
    .toLowerCase()
}

function comparison(sort: (typeof orders)[number], forecasts: ReadonlyMap<number, Forecast>) {
  const value = ({ id, measured }: ExperimentRecord): number => {
    const median = forecasts.get(id)?.quantiles[2]
    if (sort === 'newest') return id
    if (sort === 'oldest') return -id
    if (sort === 'gain') return measured?.gain ?? Number.NEGATIVE_INFINITY
    if (sort === 'forecast') return median ?? Number.NEGATIVE_INFINITY
    return measured && median !== undefined ? Math.abs(measured.gain - median) : Number.NEGATIVE_INFINITY
  }
  return (a: ExperimentRecord, b: ExperimentRecord) => {
    const [first, second] = [value(a), value(b)]
    return first === second ? b.id - a.id : second - first
  }
}
