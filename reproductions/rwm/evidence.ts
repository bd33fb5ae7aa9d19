/**
 * The page about forecasts: what was measured, how well each forecaster does beside the paper's figures, and what the numbers
 * may and may not be read as. Sentences are fixed; every number in them comes from this run, but for the paper's.
 */
import { objectiveOf } from '../../src/experiment/environment.ts'
import { pooledNoise } from '../../src/experiment/gain.ts'
import { nearDuplicateGroups } from '../../src/experiment/near-duplicates.ts'
import { evidenceOf, finishedValues } from '../../src/experiment/records.ts'
import { perfectForecastCorrelation, twoSeedReliability } from '../../src/forecast/noise-ceiling.ts'
import { combine, type Estimate } from '../../src/statistics/bootstrap.ts'
import { median, variance } from '../../src/statistics/summary.ts'
import type { MuonCase } from './already-muon.ts'
import { muonSection } from './already-muon-section.ts'
import type { Comparison } from './comparison.ts'
import { conditions, conditionTitles } from './conditions.ts'
import { type EnvironmentRecords, measuredUntil } from './environment-records.ts'
import { estimateText, numberText, percentText, table } from './markdown.ts'
import { type ReplayRow, replaySection } from './replay-section.ts'

export interface Evidence {
  readonly command: string
  readonly environments: readonly EnvironmentRecords[]
  readonly comparisons: readonly Comparison[]
  /** Rank correlation of two seeds: by environment, and their mean. */
  readonly ceilings: { readonly byEnvironment: readonly Estimate[]; readonly overall: Estimate }
  readonly replays: readonly ReplayRow[]
  readonly muon: MuonCase | null
  readonly pools: number
  readonly splits: number
  readonly seed: number
}

export function evidencePage(evidence: Evidence): string {
  const { environments, comparisons, pools, splits, seed, command } = evidence
  const until = measuredUntil(environments)
  return `# What forecasts are worth

Printed by \`${command}\`; ${pools} pools, ${splits} random halves, seed ${seed}${until === null ? '' : `; records measured until ${until}`}. What the words mean: [docs/forecasting.md](../docs/forecasting.md).

Square brackets are 95 % bootstrap intervals. What is drawn again is a near-duplicate group (the same options under the same tags, whatever the values), over all environments at once; forecasts are not made again. Such intervals are too narrow where rare records decide, as the best few do for the regret and the worst few for the error: what did not happen to be among the records is not drawn again either.

![Rank correlation and regret by condition and forecaster](rwm.svg)

## The records

${recordsTable(environments)}

## The noise ceiling

Two seeds of one intervention do not agree perfectly, so neither can a forecast with what was measured. From the rank correlation of one seed with another follow, by Spearman and Brown's formula, that of one two-seed median with another, and that of the truth with a two-seed median: the most that a forecast can reach in the tables below, up to chance.

${ceilingTable(evidence)}

## Mean over the environments

${qualityTable(comparisons, ({ overall }) => overall)}

Regret and NDCG are of choosing 3 of 16 by the worth a campaign chooses by (median and chance of finishing), ties in expectation; a failure brings nothing; relevance is the gain over the worst finished candidate of the pool. \`constant\` and \`recent\` give all candidates the same forecast: they have no ranking, and choose at random. Without history so does everyone: a forecaster that only knows records knows nothing yet.

${environments.map(({ name }, index) => `## ${name}\n\n${qualityTable(comparisons, ({ byEnvironment }) => byEnvironment[index]!)}`).join('\n\n')}

## What the kernel adds to words

The kernel minus a baseline, on the same resamples: above zero, the kernel ranks better; below zero, it misses less. An interval that holds zero settles nothing.

${differenceTable(comparisons)}

## Beside the paper

${paperTable(comparisons)}

The two columns are not measurements of the same thing. The paper's forecaster is a language model that reads records in its context and knows the field before it has read any; its models have about 100 million parameters and more, in nine environments. Ours is a Gaussian process that knows nothing but records, on language models of ${parametersText(environments)} parameters trained for seconds, in ${environments.length} environments that share one program, one text and one set of cards. So a rank correlation without history has no counterpart here, and the reduction of regret is from choosing at random, where the paper's is from its language model without experience.
${muonSection(evidence.muon)}
${replaySection(evidence.replays, environments)}`
}

function recordsTable(environments: readonly EnvironmentRecords[]): string {
  return table(
    [
      'environment',
      'reference (seeds)',
      'deviation between seeds',
      'interventions',
      'without a gain',
      'near-duplicate groups',
      'better / inconclusive / worse',
      'median gain, quartiles',
    ],
    environments.map(({ name, environment, records, reference }) => {
      const { name: metric, unit = '' } = objectiveOf(environment.family)
      const values = finishedValues(reference, metric)
      const within = pooledNoise(
        [],
        records.map(({ runs }) => finishedValues(evidenceOf(runs), metric)),
      )
      const count = (verdict: string) => records.filter(record => record.verdict === verdict).length
      const gains = records.flatMap(({ measured }) => measured?.gain ?? []).sort((a, b) => a - b)
      const at = (share: number) => numberText(gains[Math.floor(share * (gains.length - 1))] ?? Number.NaN, 4)
      const deviation = values.length > 1 ? numberText(Math.sqrt(variance(values)), 4) : 'unknown'
      return [
        name,
        `${values.length === 0 ? 'none' : numberText(median(values), 4)} ${unit} (${values.length})`,
        `reference ${deviation}, interventions ${within === null ? 'unknown' : numberText(Math.sqrt(within.variance), 4)}`,
        String(records.length),
        String(records.filter(({ measured }) => measured === null).length),
        String(new Set(nearDuplicateGroups(records)).size),
        `${count('better')} / ${count('inconclusive')} / ${count('worse')}`,
        `${at(0.5)} (${at(0.25)}, ${at(0.75)})`,
      ]
    }),
  )
}

function ceilingTable({ environments, ceilings }: Evidence): string {
  const row = (name: string, estimate: Estimate) => [
    name,
    estimateText(estimate, 3),
    estimateText(combine([estimate], twoSeedReliability), 3),
    estimateText(combine([estimate], perfectForecastCorrelation), 3),
  ]
  return table(
    ['environment', 'seed 1 with seed 2', 'one two-seed median with another', 'the truth with a two-seed median'],
    [
      ...environments.map(({ name }, index) => row(name, ceilings.byEnvironment[index]!)),
      row('mean', ceilings.overall),
    ],
  )
}

function qualityTable(
  comparisons: readonly Comparison[],
  of: (comparison: Comparison) => Comparison['overall'],
): string {
  return table(
    [
      'history',
      'forecaster',
      'Spearman',
      'mean absolute error',
      'Regret@3',
      'NDCG@3',
      'Brier skill of finishing',
      '80 % interval holds',
    ],
    comparisons.map(comparison => {
      const { spearman, error, regret, ndcg, finishing, held } = of(comparison)
      return [
        conditionTitles[comparison.condition],
        comparison.forecaster,
        estimateText(spearman, 3),
        estimateText(error, 4),
        estimateText(regret, 4),
        estimateText(ndcg, 3),
        estimateText(finishing, 2),
        estimateText(held, 2),
      ]
    }),
  )
}

function differenceTable(comparisons: readonly Comparison[]): string {
  const baselines = ['neighbours', 'ridge']
  return table(
    ['history', ...baselines.flatMap(name => [`Spearman, minus ${name}`, `Regret@3, minus ${name}`])],
    conditions
      .filter(condition => condition !== 'none')
      .map(condition => {
        const of = (forecaster: string) => find(comparisons, condition, forecaster).overall
        const difference = (measure: 'spearman' | 'regret', name: string, decimals: number) =>
          estimateText(
            combine([of('kernel')[measure], of(name)[measure]], (kernel, other) => kernel! - other!),
            decimals,
          )
        return [
          conditionTitles[condition],
          ...baselines.flatMap(name => [difference('spearman', name, 3), difference('regret', name, 4)]),
        ]
      }),
  )
}

function paperTable(comparisons: readonly Comparison[]): string {
  const inside = (forecaster: string) => find(comparisons, 'random-halves', forecaster).overall
  const across = (forecaster: string) => find(comparisons, 'cross-environment', forecaster).overall
  const saved = (of: (forecaster: string) => Comparison['overall']) =>
    percentText(combine([of('kernel').regret, of('constant').regret], (kernel, random) => kernel! / random! - 1))
  return table(
    ['', 'the paper (arXiv 2610.12235)', 'here'],
    [
      [
        'Spearman without history',
        '0.506 (in-environment set), 0.63 (cross-environment set)',
        'none: no forecaster has a ranking',
      ],
      ['Spearman, in-environment', '0.774', `kernel ${estimateText(inside('kernel').spearman, 3)} (random halves)`],
      ['Spearman, cross-environment', '0.73', `kernel ${estimateText(across('kernel').spearman, 3)}`],
      ['– nearest neighbours over TF-IDF', '0.36', `neighbours ${estimateText(across('neighbours').spearman, 3)}`],
      ['– ridge over TF-IDF', '0.25', `ridge ${estimateText(across('ridge').spearman, 3)}`],
      ['Regret@3, in-environment', '−58.2 % from no history', `${saved(inside)} from random choice`],
      ['Regret@3, cross-environment', '−52.2 % from no history', `${saved(across)} from random choice`],
      [
        'NDCG@3',
        '0.599 without history, 0.785 with',
        `${estimateText(inside('constant').ndcg, 3)} at random, kernel ${estimateText(inside('kernel').ndcg, 3)} (random halves)`,
      ],
    ],
  )
}

export function find(comparisons: readonly Comparison[], condition: string, forecaster: string): Comparison {
  return comparisons.find(one => one.condition === condition && one.forecaster === forecaster)!
}

/** The reference's, where its runs say: `0.4 million`. */
function parametersText(environments: readonly EnvironmentRecords[]): string {
  const counts = environments.flatMap(({ reference }) => reference[0]?.outcome?.metrics['parameters'] ?? [])
  if (counts.length === 0) return 'an unknown number of'
  const texts = new Set(counts.map(count => `${numberText(count / 1e6, 2)} million`))
  return [...texts].join(' and ')
}
