/** Says which forecaster to trust, on the records there are: each forecasts what was tried from what was known before it. */
import { z } from 'zod'
import { scores } from '../campaign/choose.ts'
import type { EnvironmentFile } from '../campaign/environment-file.ts'
import { objectiveOf } from '../experiment/environment.ts'
import { evaluateHalves } from '../forecast/evaluate-halves.ts'
import { evaluateRolling, planRolling } from '../forecast/evaluate-rolling.ts'
import { blocksOfPools, type Figures } from '../forecast/figures.ts'
import { forecasterNames } from '../forecast/forecaster.ts'
import { type HistoryKind, historyKinds } from '../forecast/history-kind.ts'
import { noiseCeiling, truthWithinPools } from '../forecast/noise-ceiling.ts'
import { rollingDefaults, type Series } from '../forecast/rolling-origin.ts'
import type { ComparedModel, EvaluatedEnvironment, Evaluation } from '../report/evaluation.ts'
import { evaluationText } from '../report/evaluation-text.ts'
import { objectiveText } from '../report/gain-legend.ts'
import { type Estimate, intervalOf } from '../statistics/bootstrap.ts'
import { type Compared, entrantsOf, withoutIdleControls } from './entrants.ts'
import { datesOf, type EvaluatedSeries, environmentFlags, withSeries } from './evaluated-series.ts'
import { forecastProgress } from './forecast-progress.ts'
import { problemsOf, tellEstimates, tellingSpent } from './language-estimates.ts'
import { languageFlags } from './language-flags.ts'
import { type Context, InputError, operation } from './operation.ts'

/** Halves: random splits, both ways. Every resample draws its pools anew, so that many take minutes. */
const splits = 5
const halvesPools = 500
const mostHalvesResamples = 300

export const evaluate = operation({
  name: 'evaluate',
  summary: 'which forecaster to trust, judged on the records there are',
  example: 'almanac evaluate --forecasters kernel stack',
  positional: [],
  asksModels: ({ model, forecasters }) =>
    model !== undefined || (forecasters ?? []).some(each => each.includes('language')),
  input: z.strictObject({
    ...environmentFlags,
    forecasters: z
      .array(z.string())
      .optional()
      .describe(`of ${forecasterNames.join(', ')}, language (default: all but language); constant and recent always`),
    history: z
      .array(z.string())
      .optional()
      .describe(`what they may use: ${historyKinds.join(', ')} (default: in-environment)`),
    split: z
      .enum(['rolling', 'halves'])
      .default('rolling')
      .describe('in time order, or random halves for records without one'),
    pools: z
      .number()
      .int()
      .positive()
      .default(rollingDefaults.mostPools)
      .describe('at most this many pools of consecutive rows are forecast in each'),
    poolSize: z.number().int().min(2).default(rollingDefaults.poolSize).describe('rows in a pool'),
    ...languageFlags,
    model: z
      .array(z.string())
      .optional()
      .describe(
        'language models that forecast: provider/model, http://…/v1#model, or a .json file of several with settings',
      ),
    effort: z.array(z.string()).optional().describe('how hard the models think; several are compared'),
    tokens: languageFlags.tokens.describe('budget in tokens, in and out, of each model with each effort'),
    controls: z
      .boolean()
      .default(false)
      .describe('each also with outcomes shuffled and with options renamed: does it learn or remember?'),
    resamples: z.number().int().min(100).default(1000).describe('bootstrap resamples behind the intervals'),
    seed: z.number().int().default(1).describe('decides everything that is random'),
  }),
  run: ({ environment, all, split, pools, poolSize, resamples, seed, ...flags }, context) =>
    withSeries(context, { environment, all }, async (series): Promise<Evaluation> => {
      const named = await entrantsOf(flags, series.file, series.ledger.path, context)
      if (split === 'halves') return halves(named, series, { resamples, seed }, context)
      const plan = planRolling(series.evaluated, series.others, { ...rollingDefaults, poolSize, mostPools: pools })
      const entrants = withoutIdleControls(named, ({ history }) => problemsOf(plan, history))
      tellEstimates(entrants, plan, seed, context)
      const said = forecastProgress(context)
      const evaluating = evaluateRolling(entrants, plan, {
        resamples,
        seed,
        worth: scores,
        progress: ({ name }, done, of) => said(name, done, of),
      })
      const { results, differences } = await tellingSpent(entrants, context, evaluating)
      const environments = series.evaluated.map((one, index): EvaluatedEnvironment => {
        const own = plan.pools[index]!
        return {
          ...about(one, poolSize),
          tested: own.flatMap(({ tested }) => tested).length,
          pools: own.length,
          blocks: blocksOfPools(own.length).at(-1)! + 1,
          rows: results.map(({ entrant, byEnvironment, ranked, judged }) => ({
            name: entrant.name,
            figures: byEnvironment[index]!,
            ranked: ranked[index]!,
            failures: judged[index]!.flat().flatMap(({ forecast }) => forecast.failed ?? []),
          })),
        }
      })
      const overall = results.map(({ entrant, overall, ranked }) => ({
        name: entrant.name,
        figures: overall,
        ranked: ranked.reduce((sum, pools) => sum + pools, 0),
        failures: [],
      }))
      return evaluationOf(named, entrants, series, { environments, overall, differences, split })
    }),
  json: ({ environments, overall, inUse, environmentFlags, forecastFlags, ...rest }) => ({
    environments: environments.map(({ rows, objective, ceiling, truth, ...each }) => ({
      ...each,
      ceiling: plainEstimate(ceiling),
      truth: Number.isFinite(truth.ranks) ? truth : null,
      forecasters: rows.map(plainRow),
    })),
    overall: overall?.map(plainRow) ?? null,
    ...rest,
  }),
  text: evaluationText,
})

async function halves(
  named: readonly Compared[],
  series: EvaluatedSeries,
  options: { readonly resamples: number; readonly seed: number },
  context: Context,
): Promise<Evaluation> {
  const { evaluated } = series
  const other = named.find(({ history }) => history !== 'in-environment')
  if (other !== undefined)
    throw new InputError(`--split halves is in-environment; ${other.history} is for --split rolling.`)
  const entrants = withoutIdleControls(named, () =>
    evaluated.map(({ environment, records }) => ({ environment, history: records, candidates: [] })),
  )
  const evaluating = evaluateHalves(entrants, evaluated, {
    ...options,
    resamples: Math.min(options.resamples, mostHalvesResamples),
    splits,
    pools: halvesPools,
    worth: scores,
  })
  const { results, differences } = await tellingSpent(entrants, context, evaluating)
  const environments = evaluated.map(
    (one, index): EvaluatedEnvironment => ({
      ...about(one, Math.floor(one.records.length / 2)),
      tested: one.records.length,
      pools: halvesPools,
      blocks: null,
      rows: results.map(({ entrant, byEnvironment }) => ({
        name: entrant.name,
        figures: byEnvironment[index]!,
        ranked: null,
        failures: [],
      })),
    }),
  )
  const overall = results.map(({ entrant, overall }) => ({
    name: entrant.name,
    figures: overall,
    ranked: null,
    failures: [],
  }))
  return evaluationOf(named, entrants, series, { environments, overall, differences, split: 'halves' })
}

function evaluationOf(
  named: readonly Compared[],
  entrants: readonly Compared[],
  { file, environmentFlags, forecastFlags }: EvaluatedSeries,
  { overall, ...found }: Pick<Evaluation, 'split' | 'environments' | 'overall' | 'differences'>,
): Evaluation {
  return {
    ...found,
    overall: found.environments.length > 1 ? overall : null,
    baselines: entrants.flatMap(({ name, isBaseline }) => (isBaseline ? [name] : [])),
    controls: entrants.flatMap(({ name, controls, control }) =>
      controls === undefined ? [] : [{ name, of: controls, control: control!.name }],
    ),
    idleControls: named.flatMap(entrant =>
      entrants.includes(entrant) ? [] : [{ of: entrant.controls!, control: entrant.control!.name }],
    ),
    models: entrants.flatMap(({ name, language, controls }) =>
      language && controls === undefined
        ? [
            {
              name,
              model: language.settings.model,
              effort: language.settings.effort ?? null,
              knowledgeUntil: language.settings.knowledgeUntil ?? null,
              took: tookOf(language),
            },
          ]
        : [],
    ),
    inUse: nameInUse(entrants, file),
    environmentFlags,
    forecastFlags,
  }
}

/** In all, with every history and control; what was kept from before cost nothing. */
function tookOf({ settings, forecaster }: NonNullable<Compared['language']>): ComparedModel['took'] {
  const { usage, cost, kept } = forecaster.spent()
  return { ...usage, kept, cost, currency: settings.price?.currency ?? null }
}

/**
 * By its name among the entrants: the one that forecasts where nothing else is said, with all it may know where that was compared; null
 * where it is none of them.
 */
function nameInUse(entrants: readonly Compared[], file: EnvironmentFile | null): string | null {
  const inUse = file?.forecaster ?? 'stack'
  const found = entrants.filter(({ name, controls, language }) => {
    if (controls !== undefined) return false
    if (inUse !== 'language') return name.split(', ')[0] === inUse
    const { model, effort } = file!.language!
    return language?.settings.model === model && language.settings.effort === effort
  })
  const known = (kind: HistoryKind) => found.find(({ history }) => history === kind)
  return (known('pooled') ?? known('in-environment'))?.name ?? null
}

/** `together`: how many rows are ranked together. */
function about(series: Series, together: number) {
  const { environment, records } = series
  const { name, direction } = objectiveOf(environment.family)
  const ceiling = noiseCeiling(records, [])
  return {
    name: environment.family.name,
    metric: name,
    direction,
    objective: objectiveText(environment),
    records: records.length,
    withoutGain: records.filter(({ measured }) => measured === null).length,
    dates: datesOf(series),
    ceiling,
    truth: { together, ranks: truthWithinPools(ceiling.value, together) },
  }
}

function plainRow({ name, figures, ranked, failures }: EvaluatedEnvironment['rows'][number]) {
  const plain = Object.entries(figures as Partial<Figures>).map(([figure, estimate]) => [
    figure,
    plainEstimate(estimate),
  ])
  return { name, ...Object.fromEntries(plain), ranked, stoodIn: failures.length, failures }
}

function plainEstimate(estimate: Estimate) {
  const { low, high } = intervalOf(estimate)
  const finite = (value: number) => (Number.isFinite(value) ? value : null)
  return { value: finite(estimate.value), low: finite(low), high: finite(high) }
}
