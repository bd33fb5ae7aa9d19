/** An evaluation as text: what is judged, tables of figures with their intervals, what beats what, and what follows from it. */
import { failuresText } from '../forecast/language/figures.ts'
import { differencesText } from './difference-text.ts'
import type { EvaluatedEnvironment, Evaluation } from './evaluation.ts'
import { adviceText } from './evaluation-advice.ts'
import { figureTables, leastPools, legend } from './evaluation-tables.ts'
import { countText, dash, plainDecimals, plainNumber } from './numbers.ts'
import { singleLine } from './outside-text.ts'
import { renderTable, type TableOptions } from './table.ts'
import { wrap } from './wrap.ts'

export function evaluationText(
  evaluation: Evaluation,
  options: TableOptions & { readonly sameFlags?: string },
): string {
  const { split, environments, overall, differences, models } = evaluation
  const sections = environments.flatMap((environment, index) => {
    const { rows, pools, metric } = environment
    return [
      headline(environment, options),
      pools < leastPools
        ? wrap(tooFewText(pools), options.width)
        : figureTables({ rows, metric: singleLine(metric), withLegend: index === 0 }, options),
      ...(index === 0 ? namesLegend(evaluation, options) : []),
      ...asides(environment, models).map(text => wrap(text, options.width)),
    ]
  })
  if (overall !== null) {
    sections.push(
      options.styling('heading', `Mean over ${environments.length} environments`),
      figureTables({ rows: overall, metric: null, withLegend: false }, options),
    )
  }
  const pieces =
    split === 'rolling'
      ? 'signs of blocks of consecutive rows turned'
      : 'Student’s t with near-duplicate groups drawn again'
  const evidence = environments.reduce((sum, { blocks }) => sum + (blocks ?? Number.POSITIVE_INFINITY), 0)
  if (models.length > 0) sections.push(tookTable(models, options))
  sections.push(
    `${options.styling('heading', 'Paired differences')}\n${wrap(`p by ${pieces}; Holm’s correction over the pairs of each measure.`, options.width)}\n${differencesText(differences, evidence, options)}`,
    ...controlLines(evaluation).map(text => wrap(text, options.width)),
    adviceText(evaluation, options.sameFlags ?? '', options.width),
  )
  return sections.join('\n\n')
}

function tooFewText(pools: number): string {
  return `${countText(pools, 'pool')} ${pools === 1 ? 'is' : 'are'} too few for any figure: it takes ${leastPools} or more (--json has what there is).`
}

function headline(environment: EvaluatedEnvironment, { styling, width }: TableOptions): string {
  const { name, objective, records, withoutGain, tested, pools, blocks, dates, truth } = environment
  const when = dates === null ? '' : ` from ${dates.first} to ${dates.last}`
  const how =
    blocks === null
      ? 'Judged: each random half of them, forecast from the other.'
      : `Judged: ${tested} of them, each forecast from the rows before it alone, in ${countText(pools, 'pool')} of ${truth.together} that stand for choice together (${countText(blocks, 'block')} of neighbouring pools, each one piece of evidence).`
  return [
    styling('heading', `${singleLine(name)}: ${countText(records, 'record')}${when}, ${withoutGain} without a gain`),
    wrap(`Gains are in ${objective}: above 0 is better than the reference.`, width),
    wrap(how, width),
  ].join('\n')
}

/** What the short names stand for. */
function namesLegend({ models, controls }: Evaluation, options: TableOptions): string[] {
  const made = new Set(controls.map(({ control }) => control))
  const meanings = {
    shuffled: 'its history with the outcomes dealt out anew: who learns from records loses by it',
    renamed: 'options and their values under other names: who learns from records loses nothing',
  }
  const lines = [
    ...models.map(
      ({ name, model, effort }) => [name, `${model}${effort === null ? '' : `, effort ${effort}`}`] as const,
    ),
    ...Object.entries(meanings).filter(([control]) => made.has(control)),
  ] as [string, string][]
  return lines.length === 0 ? [] : [legend(lines, options)]
}

/** What each model took, so that skill can be held against its price. */
function tookTable(models: Evaluation['models'], options: TableOptions): string {
  // One that has several histories is one model.
  const each = [...Map.groupBy(models, ({ model, effort }) => `${model} ${effort}`).values()].map(([first]) => first!)
  const priced = each.some(({ took }) => took.cost !== null)
  const currencies = new Set(each.flatMap(({ took }) => took.currency ?? []))
  const right = (heading: string) => ({ heading, align: 'right' as const })
  const whole = (value: number) => Math.round(value).toLocaleString('en-US')
  const table = renderTable(
    [
      { heading: 'model', shrinkTo: 24 },
      right('requests'),
      right('kept from before'),
      right('tokens in'),
      right('of them cached'),
      right('tokens out'),
      ...(priced ? [right(currencies.size === 1 ? `cost in ${[...currencies][0]}` : 'cost')] : []),
    ],
    each.map(({ name, took }) => [
      name.split(', ')[0]!,
      String(took.requests),
      String(took.kept),
      whole(took.input),
      whole(took.cached),
      whole(took.output),
      ...(priced ? [took.cost === null ? dash : plainNumber(took.cost)] : []),
    ]),
    options,
  )
  const unpriced = priced ? '' : '\nNo price is known, so no cost: "price" beside the model says it.'
  return `${options.styling('heading', 'What the models took')}\n${table}${unpriced}`
}

function asides({ ceiling, truth, rows, dates, tested }: EvaluatedEnvironment, models: Evaluation['models']): string[] {
  const lines: string[] = []
  if (Number.isFinite(ceiling.value)) {
    const reached = Number.isNaN(truth.ranks)
      ? ''
      : `; the truth itself would rank ${truth.together} of them with ${plainDecimals(truth.ranks)}, and less where these lie closer together`
    lines.push(`Two seeds of one record rank alike with ${plainDecimals(ceiling.value)} over all records${reached}.`)
  }
  for (const { name, failures } of rows) {
    if (failures.length === 0) continue
    lines.push(
      `${name}: ${failures.length} of ${countText(tested, 'forecast')} failed, and constant stood in (${singleLine(failuresText(failures))}).`,
    )
  }
  // One line for a model, with however many efforts it is asked.
  for (const [model, same] of Map.groupBy(models, ({ model }) => model)) {
    const { knowledgeUntil } = same[0]!
    const from =
      dates === null ? 'when the records are from is not known' : `the records are from ${dates.first} to ${dates.last}`
    lines.push(
      knowledgeUntil === null
        ? `${model}: when its knowledge ends is not known ("knowledgeUntil" of "language" in the environment file, or in a file for --model, says it); ${from}.`
        : `${model}: its knowledge ends ${knowledgeUntil}; ${from}${dates !== null && dates.first <= knowledgeUntil ? ', so it may have read some of them' : ''}.`,
    )
  }
  return lines.length === 0 ? [] : [lines.join('\n')]
}

/** Who learns from the records ranks worse with outcomes shuffled, and as well with options renamed. */
function controlLines({ environments, overall, controls, idleControls }: Evaluation): string[] {
  const rows = overall ?? environments[0]!.rows
  const ranks = (name: string) =>
    plainDecimals(rows.find(row => row.name === name)?.figures.spearman?.value ?? Number.NaN)
  const lines = [...Map.groupBy(controls, ({ of }) => of)].map(([name, own]) => {
    const spoiled = own.map(({ name, control }) => `${ranks(name)} ${control}`)
    return `${name} ranks with ${ranks(name)}; ${spoiled.join(', ')}.`
  })
  const idle = new Set(idleControls.map(({ control }) => control))
  if (idle.has('renamed'))
    lines.push('Nothing to rename: no option has a name in these records. That control was not made.')
  if (idle.has('shuffled')) {
    lines.push('Nothing to shuffle: no two records of a history are against one reference. That control was not made.')
  }
  return lines.length === 0 ? [] : [lines.join('\n')]
}
