/**
 * What follows from an evaluation: one sentence of advice that claims no more than was shown, and the command or the line of the
 * environment file that comes next.
 */
import { betterFirst, blocksNeeded, type ComparedMeasure, type Difference } from '../forecast/differences.ts'
import { blocksOfPools } from '../forecast/figures.ts'
import { rollingDefaults } from '../forecast/rolling-origin.ts'
import type { Evaluation } from './evaluation.ts'
import { countText } from './numbers.ts'
import { wrap } from './wrap.ts'

/** What is left after Holm's correction. */
export const shownFrom = 0.05

/** `sameFlags`: by which a further call reaches the same ledger, with a space before them. */
export function adviceText(evaluation: Evaluation, sameFlags: string, width: number): string {
  const { differences, baselines, inUse } = evaluation
  const shown = differences.map(betterFirst).filter(({ adjusted }) => adjusted <= shownFrom)
  const forecastFlags = `${evaluation.forecastFlags}${sameFlags}`
  const known = `what past gains alone say (${[...new Set(baselines.map(nameOf))].join(', ')})`
  const foreseeing = aboveBaselines(evaluation, shown, 'pinball')
  const best = foreseeing[0]
  const beaters = shown.filter(({ measure, second }) => measure === 'pinball' && second === inUse)
  if (best !== undefined) {
    const also =
      foreseeing.length > 1 ? `, and so ${foreseeing.length > 2 ? 'are' : 'is'} ${foreseeing.slice(1).join(', ')}` : ''
    if (inUse !== null && foreseeing.includes(inUse) && beaters.length === 0) {
      return `${wrap(`Trust ${inUse}, which is in use: it is shown to foresee the size of gains (pinball loss) better than ${known}.`, width)}\nNext: ${forecastCommand(forecastFlags)}`
    }
    return `${wrap(`Trust ${best}: it is shown to foresee the size of gains (pinball loss) better than ${known}${also}.`, width)}\n${useText(best, evaluation, forecastFlags)}`
  }
  const choosing = aboveBaselines(evaluation, shown, 'regret')
  const chooses =
    choosing.length === 0
      ? ''
      : `To choose what to run, go by the order of the forecasts of ${choosing.join(' or ')}: ${choosing.length === 1 ? 'it is' : 'they are'} shown to choose better than chance (regret). `
  const instead = beaters.find(({ first }) => !baselines.includes(first))?.first ?? beaters[0]?.first
  if (instead !== undefined) {
    const advice = `${chooses}Do not go by ${inUse}, which is in use: it is shown to foresee less than ${instead} (pinball loss).`
    return `${wrap(advice, width)}\n${useText(choosing[0] ?? instead, evaluation, forecastFlags)}`
  }
  const nobody = `Nobody is shown to foresee the size of gains (pinball loss) better than ${known}.`
  if (choosing[0] !== undefined && (inUse === null || !choosing.includes(inUse))) {
    return `${wrap(`${chooses}${nobody}`, width)}\n${useText(choosing[0], evaluation, forecastFlags)}`
  }
  const keep = inUse === null ? 'Keep the forecaster you have' : `Keep ${inUse}, which is in use`
  const advice = `${chooses}${nobody} ${keep}, take its forecasts as a first opinion, and ${waitText(evaluation)}.`
  return `${wrap(advice, width)}\nNext: almanac doctor${evaluation.environmentFlags}${sameFlags}`
}

/** Who beats everyone that looks at no candidate, with the highest skill first. */
function aboveBaselines(
  { baselines, environments, overall }: Evaluation,
  shown: readonly Difference[],
  measure: ComparedMeasure,
): string[] {
  const rows = overall ?? environments[0]!.rows
  const beats = (first: string, second: string) =>
    shown.some(each => each.measure === measure && each.first === first && each.second === second)
  return rows
    .filter(({ name }) => !baselines.includes(name) && baselines.every(baseline => beats(name, baseline)))
    .sort((a, b) => (b.figures.pinballSkill?.value ?? 0) - (a.figures.pinballSkill?.value ?? 0))
    .map(({ name }) => name)
}

/** Without what it may know, which stands behind a comma where several histories were compared. */
function nameOf(entrant: string): string {
  return entrant.split(', ')[0]!
}

/** How it becomes the one that forecasts. */
function useText(name: string, { models }: Evaluation, flags: string): string {
  const [forecaster, history] = name.split(', ')
  const known = history === undefined ? '' : ` --history ${history}`
  const model = models.find(each => each.name === name)
  if (model === undefined) {
    const command = forecastCommand(` --forecaster ${forecaster}${known}${flags}`)
    return `For good, in the environment file: forecaster: '${forecaster}'\nNext: ${command}`
  }
  const effort = model.effort === null ? '' : ` --effort ${model.effort}`
  const settings = [`model: '${model.model}'`, ...(model.effort === null ? [] : [`effort: '${model.effort}'`])].join(
    ', ',
  )
  const command = forecastCommand(` --model ${model.model}${effort}${known}${flags}`)
  return `For good, in the environment file: forecaster: 'language', language: { ${settings} }\nNext: ${command}`
}

function forecastCommand(flags: string): string {
  return `almanac forecast "what you would try"${flags}`
}

/** How many records more it takes before anything could be shown about the size of gains, where that is what is missing. */
function waitText({ environments, differences, split }: Evaluation): string {
  const more = 'evaluate again when there are more records'
  const [only, ...others] = environments
  if (split === 'halves' || others.length > 0 || only === undefined) return more
  const needed = blocksNeeded(differences.filter(({ measure }) => measure === 'pinball').length)
  if (only.blocks === null || only.blocks >= needed) return more
  const possible = Math.floor((only.records - rollingDefaults.firstTested) / only.truth.together)
  if (possible > only.pools) return `evaluate again with more --pools, or ${more.replace('evaluate again ', '')}`
  let pools = only.pools
  while (blocksOfPools(pools).at(-1)! + 1 < needed) pools++
  const records = (pools - only.pools) * only.truth.together
  return `evaluate again after ${countText(records, 'more record', 'more records')}: before that no difference in pinball loss could be shown`
}
