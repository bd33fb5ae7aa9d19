/** Says which forecaster to trust, on the records there are: each forecasts what was tried from what was known before it. */
import { z } from 'zod'
import { scores } from '../campaign/choose.ts'
import { objectiveOf } from '../experiment/environment.ts'
import type { Difference } from '../forecast/differences.ts'
import { type Entrant, evaluateRolling, type RollingEvaluation } from '../forecast/evaluate-rolling.ts'
import { blocksOfPools, type Figures } from '../forecast/figures.ts'
import { forecasterNames, forecasters, withoutRanking } from '../forecast/forecaster.ts'
import { type HistoryKind, historyKinds } from '../forecast/history-kind.ts'
import { rollingDefaults, type Series } from '../forecast/rolling-origin.ts'
import { conclusion, differenceTable, type FiguresRow, figureTables } from '../report/evaluation-text.ts'
import { countText } from '../report/numbers.ts'
import { type Estimate, intervalOf } from '../statistics/bootstrap.ts'
import { allSeries, datesOf, seriesNamed, seriesOf } from './evaluated-series.ts'
import { InputError, operation } from './operation.ts'
import { inPlace } from './surroundings.ts'

interface EvaluatedEnvironment {
  readonly name: string
  readonly metric: string
  readonly direction: string
  readonly records: number
  readonly withoutGain: number
  readonly pools: number
  readonly blocks: number
  readonly tested: number
  readonly dates: { readonly first: string; readonly last: string } | null
  readonly rows: readonly FiguresRow[]
}

interface Evaluated {
  readonly environments: readonly EvaluatedEnvironment[]
  /** The mean over several environments; null where there is one. */
  readonly overall: readonly FiguresRow[] | null
  readonly differences: readonly Difference[]
  readonly baselines: readonly string[]
}

export const evaluate = operation({
  name: 'evaluate',
  summary: 'which forecaster to trust, judged on the records there are',
  example: 'almanac evaluate --forecasters kernel,ridge',
  positional: [],
  input: z.strictObject({
    environment: z.array(z.string()).optional().describe('environments by name (default: the one of this folder)'),
    all: z.boolean().default(false).describe('every environment of the ledger that has enough records'),
    forecasters: z
      .array(z.string())
      .optional()
      .describe('by name (default: all); constant and recent are always beside them'),
    history: z
      .array(z.string())
      .optional()
      .describe(`what they may use: ${historyKinds.join(', ')} (default: in-environment)`),
    pools: z
      .number()
      .int()
      .positive()
      .default(rollingDefaults.mostPools)
      .describe('at most this many pools of each environment are forecast'),
    resamples: z.number().int().min(100).default(1000).describe('bootstrap resamples behind the intervals'),
    seed: z.number().int().default(1).describe('decides everything that is random'),
  }),
  run: ({ environment: names, all, forecasters: asked, history, pools, resamples, seed }, context) => {
    const entrants = entrantsOf(
      chosen(asked, forecasterNames, '--forecasters'),
      chosen(history, historyKinds, '--history'),
    )
    return inPlace(context, async ({ ledger, environment }): Promise<Evaluated> => {
      const series = await allSeries(ledger)
      const enough = ({ records }: Series) => records.length >= rollingDefaults.firstTested + 2
      const evaluated = all
        ? series.filter(enough)
        : names
          ? seriesNamed(series, names.flatMap(splitList))
          : [seriesOf(series, environment)]
      refuseFew(evaluated)
      const others = series.filter(
        ({ environment }) => !evaluated.some(own => own.environment.familyId === environment.familyId),
      )
      const options = { ...rollingDefaults, mostPools: pools, resamples, seed, worth: scores, others }
      const evaluation = await evaluateRolling(entrants, evaluated, options)
      return described(evaluated, evaluation)
    })
  },
  json: ({ environments, overall, ...rest }) => ({
    environments: environments.map(({ rows, ...each }) => ({ ...each, forecasters: rows.map(plainRow) })),
    overall: overall?.map(plainRow) ?? null,
    ...rest,
  }),
  text: ({ environments, overall, differences, baselines }, options) => {
    const sections = environments.map(
      each => `${options.styling('heading', headline(each))}\n${figureTables(each.rows, options)}`,
    )
    if (overall !== null) {
      sections.push(
        `${options.styling('heading', `Mean over ${environments.length} environments`)}\n${figureTables(overall, options)}`,
      )
    }
    const names = environments[0]!.rows.map(({ name }) => name)
    return [
      ...sections,
      `${options.styling('heading', 'Paired differences')}, p by turned signs of blocks of consecutive rows, Holm over the pairs of each measure`,
      differenceTable(differences, options),
      conclusion(names, differences, baselines),
    ].join('\n\n')
  },
})

/** `constant` and `recent` first, always; a history in the name where there are several. */
function entrantsOf(names: readonly (keyof typeof forecasters)[], kinds: readonly HistoryKind[]): Entrant[] {
  const histories = kinds.length === 0 ? (['in-environment'] as const) : kinds
  const all = names.length === 0 ? forecasterNames : [...new Set([...(['constant', 'recent'] as const), ...names])]
  return histories.flatMap(history =>
    all.map(name => ({
      name: histories.length > 1 ? `${name}, ${history}` : name,
      forecaster: forecasters[name],
      history,
    })),
  )
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map(word => word.trim())
    .filter(word => word !== '')
}

function chosen<Name extends string>(
  given: readonly string[] | undefined,
  known: readonly Name[],
  flag: string,
): Name[] {
  return (given ?? []).flatMap(splitList).map(word => {
    const name = known.find(each => each === word)
    if (name === undefined) throw new InputError(`${flag} is "${word}"; give one or several of ${known.join(', ')}.`)
    return name
  })
}

function refuseFew(evaluated: readonly Series[]): void {
  const least = rollingDefaults.firstTested + 2
  const few = evaluated.find(({ records }) => records.length < least)
  if (few === undefined && evaluated.length > 0) return
  throw new InputError(
    few === undefined
      ? `No environment of the ledger has ${least} results or more; import a history or run more.`
      : `${few.environment.family.name} has ${countText(few.records.length, 'result')}; an evaluation needs ${least} or more. Import a history, run more, or name another environment.`,
  )
}

function described(evaluated: readonly Series[], { pools, results, differences }: RollingEvaluation): Evaluated {
  const environments = evaluated.map((series, index) => {
    const { name, direction } = objectiveOf(series.environment.family)
    return {
      name: series.environment.family.name,
      metric: name,
      direction,
      records: series.records.length,
      withoutGain: series.records.filter(({ measured }) => measured === null).length,
      pools: pools[index]!.length,
      blocks: blocksOfPools(pools[index]!.length).at(-1)! + 1,
      tested: pools[index]!.flatMap(({ tested }) => tested).length,
      dates: datesOf(series),
      rows: results.map(({ entrant, byEnvironment }) => ({ name: entrant.name, figures: byEnvironment[index]! })),
    }
  })
  return {
    environments,
    overall:
      environments.length > 1
        ? results.map(({ entrant, overall }) => ({ name: entrant.name, figures: overall }))
        : null,
    differences,
    baselines: results.flatMap(({ entrant }) =>
      withoutRanking.some(name => entrant.name.startsWith(name)) ? entrant.name : [],
    ),
  }
}

function headline({
  name,
  metric,
  direction,
  records,
  withoutGain,
  pools,
  blocks,
  tested,
  dates,
}: EvaluatedEnvironment): string {
  const when = dates === null ? '' : `, from ${dates.first} to ${dates.last}`
  return `${name} (${metric}, ${direction}): ${countText(records, 'record')}, ${withoutGain} of them without a gain${when}; ${tested} forecast in ${countText(pools, 'pool')} (${countText(blocks, 'block')})`
}

function plainRow({ name, figures }: FiguresRow) {
  const plain = Object.entries(figures as Partial<Figures>).map(([figure, estimate]: [string, Estimate]) => {
    const { low, high } = intervalOf(estimate)
    const finite = (value: number) => (Number.isFinite(value) ? value : null)
    return [figure, { value: finite(estimate.value), low: finite(low), high: finite(high) }] as const
  })
  return { name, ...Object.fromEntries(plain) }
}
