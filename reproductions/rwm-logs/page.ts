/**
 * The page about logs of others: what was read of each, how well each forecaster does on each and on all, what beats what, and what a gate
 * would have saved. Sentences are fixed; every number in them comes from this run.
 */
import type { GateSavings } from '../../src/campaign/doctor/gate-savings.ts'
import { objectiveOf } from '../../src/experiment/environment.ts'
import { betterFirst, type Difference } from '../../src/forecast/differences.ts'
import type { RollingEvaluation, RollingPlan } from '../../src/forecast/evaluate-rolling.ts'
import { blocksOfPools, type Figure } from '../../src/forecast/figures.ts'
import { noiseCeiling } from '../../src/forecast/noise-ceiling.ts'
import type { ImportedEnvironment } from '../../src/operations/imported.ts'
import { chanceText, measureWords } from '../../src/report/difference-text.ts'
import type { Estimate } from '../../src/statistics/bootstrap.ts'
import { estimateText, numberText, table } from '../rwm/markdown.ts'

export interface LogImport {
  readonly log: string
  readonly format: string
  readonly environments: readonly ImportedEnvironment[]
}

export interface LogsEvidence {
  readonly command: string
  readonly imports: readonly LogImport[]
  readonly plan: RollingPlan
  readonly evaluation: RollingEvaluation
  /** Environments with fewer results are read and not evaluated. */
  readonly least: number
  readonly gate: { readonly by: string; readonly savings: readonly GateSavings[] }
}

export function logsPage(evidence: LogsEvidence): string {
  const { command, plan, evaluation, least, gate } = evidence
  const { differences } = evaluation
  const several = plan.environments.length > 1
  return `# Which forecast to trust, on logs of others

Printed by \`${command}\`. What the words and figures mean: [docs/evaluate.md](../docs/evaluate.md).

Each log is forecast in time order, in pools of consecutive rows, from what was known before the pool. Square brackets are 95 % bootstrap intervals over blocks of consecutive pools. \`constant\` and \`recent\` look at no candidate: they have no ranking, and choose at random. Skill and regret saved are beside \`constant\` on the log's earlier rows, 0 being as good and 1 perfect.

## The logs

${importTable(evidence)}

Environments with fewer than ${least} results are read and not evaluated. A row leaks where its words tell how it went; such words are kept from the forecasters.

## ${several ? `Mean over the ${plan.environments.length} environments` : 'The figures'}

${meanTable(evidence)}

## What beats what

${differenceTable(differences)}

Differences of loss are shares of the loss of the best quantiles that are the same for all rows, and of regret, of that of random choice. p turns the signs of blocks of consecutive rows; Holm's correction is over all pairs of one measure. All this is about these environments: other rows of them, not other environments.

## Each log

Skill of the quantiles (pinball loss beside that of \`constant\`):

${perLog(evidence, 'pinballSkill')}

Rank correlation within pools:

${perLog(evidence, 'spearman')}

Regret saved by choosing one of four:

${perLog(evidence, 'regretSkill')}

## What a gate would have saved

Rows whose forecast by ${gate.by} gives them less than this chance of a legal gain are not run. Of all that was gained by kept rows (by all rows where none was kept), the share that would have been lost.

${gateTable(evidence)}
`
}

function importTable({ imports, plan }: LogsEvidence): string {
  const rows = imports.flatMap(({ log, environments }) =>
    environments.map(environment => {
      const { name, added, unusable, leaking, dates, violated } = environment
      const index = plan.environments.findIndex(series => series.environment.family.name === name)
      const series = plan.environments[index]
      const used = added.references + added.kept + added.tried
      const objective = series && objectiveOf(series.environment.family)
      const ceiling = series ? noiseCeiling(series.records, []).value : Number.NaN
      const pools = plan.pools[index]
      return [
        environments.length > 1 ? name : log,
        `${used} (${unusable.length})`,
        String(violated),
        dates === null ? 'unknown' : `${dates.first.slice(0, 10)} to ${dates.last.slice(0, 10)}`,
        leaking.rows === 0 ? '0' : `${leaking.rows} (${numberText(100 * leaking.share, 0)} %)`,
        objective ? `${objective.name}, ${objective.direction}` : '',
        series
          ? `${series.records.length} (${series.records.filter(({ measured }) => measured === null).length})`
          : 'too few',
        pools
          ? `${pools.flatMap(({ tested }) => tested).length} in ${pools.length} (${blocksOfPools(pools.length).at(-1)! + 1})`
          : '',
        Number.isNaN(ceiling) ? 'unknown' : numberText(ceiling, 2),
      ]
    }),
  )
  return table(
    [
      'log',
      'rows used (not)',
      'broke a rule',
      'dates',
      'rows that leak',
      'metric',
      'records (without a gain)',
      'forecast, in pools (blocks)',
      'two seeds agree',
    ],
    rows,
  )
}

function meanTable({ evaluation: { results } }: LogsEvidence): string {
  const interval = (estimate: Estimate) => estimateText(estimate, 2)
  const number = (estimate: Estimate) => (Number.isNaN(estimate.value) ? 'none' : numberText(estimate.value, 2))
  return table(
    [
      'forecaster',
      'Spearman',
      'pools ranked',
      'Kendall',
      'pairs right',
      'regret saved',
      'NDCG',
      'pinball skill',
      '80 % interval holds',
      'skill of P(gain > 0)',
      'skill of finishing',
    ],
    results.map(({ entrant, overall, ranked }) => [
      entrant.name,
      interval(overall.spearman),
      String(ranked.reduce((sum, pools) => sum + pools, 0)),
      number(overall.kendall),
      number(overall.pairs),
      interval(overall.regretSkill),
      number(overall.ndcg),
      interval(overall.pinballSkill),
      number(overall.held),
      interval(overall.better),
      number(overall.finishing),
    ]),
  )
}

function differenceTable(differences: readonly Difference[]): string {
  const rows = differences.map(betterFirst).sort((a, b) => a.adjusted - b.adjusted || b.value - a.value)
  return table(
    ['measure', 'better', 'than', 'by', 'better in', 'p', 'p (Holm)'],
    rows.map(({ measure, first, second, value, low, high, better, environments, p, adjusted }) => [
      measureWords[measure],
      adjusted <= 0.05 ? `**${first}**` : first,
      second,
      Number.isNaN(low)
        ? numberText(value, 3)
        : `${numberText(value, 3)} [${numberText(low, 3)}, ${numberText(high, 3)}]`,
      `${better} of ${environments}`,
      chanceText(p),
      chanceText(adjusted),
    ]),
  )
}

function perLog({ plan, evaluation: { results } }: LogsEvidence, figure: Figure): string {
  return table(
    ['log', ...results.map(({ entrant }) => entrant.name)],
    plan.environments.map(({ environment }, index) => [
      environment.family.name,
      ...results.map(({ byEnvironment }) => estimateText(byEnvironment[index]![figure], 2)),
    ]),
  )
}

function gateTable({ plan, gate }: LogsEvidence): string {
  const percent = (share: number) => `${numberText(100 * share, 0)} %`
  const thresholds = gate.savings[0]!.savings.map(({ threshold }) => threshold)
  return table(
    ['log', ...thresholds.map(threshold => `below ${percent(threshold)}: runs saved, gain lost`)],
    plan.environments.map(({ environment }, index) => {
      const { asked, savings } = gate.savings[index]!
      return [
        environment.family.name,
        ...savings.map(({ saved, gainShareLost }) => `${percent(saved / asked)}, ${percent(gainShareLost)}`),
      ]
    }),
  )
}
