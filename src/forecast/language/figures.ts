/** What asking will take and has taken, in words. */
import type { Usage } from '../../language/usage.ts'
import { tally } from '../../text/tally.ts'
import type { Estimate } from './questions.ts'
import type { LanguageSettings } from './settings.ts'

/** What was asked so far. */
export interface Spent {
  readonly usage: Usage
  readonly cost: number | null
  /** Answers that were kept from before and cost nothing. */
  readonly kept: number
  /** Of each forecast that failed, why. */
  readonly failed: readonly string[]
}

type Asked = Pick<LanguageSettings, 'model' | 'effort' | 'budget' | 'price'>

/** In a further sentence, where it may end before all is asked. */
export function estimateText(settings: Asked, estimate: Estimate): string {
  const { questions, kept, input, shared, output, cost } = estimate
  const name = modelText(settings)
  if (questions === 0) return `Asking ${name} nothing: ${answers(kept)} kept from before.`
  const common = shared > 0 ? `, ${number(shared)} of them shared` : ''
  const money = cost === null ? '' : `; ${cost.map(money3).join(' to ')} ${currencyOf(settings)}`
  const before = kept === 0 ? '' : `\n${answers(kept)} kept from before and not asked for again.`
  return `Asking ${name}: ${count(questions, 'question')}, about ${number(input)} tokens in${common}, at most ${number(output)} out${money}.${before}${budgetText(settings, estimate)}`
}

export function spentText(settings: Asked, { usage, cost, kept, failed }: Spent): string {
  const { requests, input, cached, output } = usage
  const parts = [
    `${number(input)} tokens in${cached > 0 ? `, ${number(cached)} of them from its cache` : ''}`,
    `${number(output)} out`,
    ...(cost === null ? [] : [`${money3(cost)} ${currencyOf(settings)}`]),
    ...(kept === 0 ? [] : [`${count(kept, 'answer')} kept from before`]),
    ...(failed.length === 0 ? [] : [`${count(failed.length, 'forecast')} failed (${failuresText(failed)})`]),
  ]
  return `Asked ${modelText(settings)}: ${count(requests, 'request')}, ${parts.join(', ')}.`
}

/** The same where the asking ended before its end. */
export function endedText(settings: Asked, spent: Spent, isKept: boolean): string {
  const { requests } = spent.usage
  const underWay = 'What was under way then may be charged as well.'
  if (requests === 0 || !isKept) return `${spentText(settings, spent)}\n${underWay}`
  return `${spentText(settings, spent)}\nIts answers are kept: the same command goes on from there, and pays for none of them again.\n${underWay}`
}

/** `3: the answer could not be used, asked twice; 1: the model refused to answer`. */
export function failuresText(reasons: readonly string[]): string {
  const counted = tally(reasons)
  return counted.length === 1
    ? counted[0]!.reason
    : counted.map(({ reason, count }) => `${count}: ${reason}`).join('; ')
}

export function modelText({ model, effort }: Pick<LanguageSettings, 'model' | 'effort'>): string {
  return effort === undefined ? model : `${model} (effort ${effort})`
}

/** A question is asked only where the most that it may take still fits; so a budget may end far below its figure. */
function budgetText(settings: Asked, { questions, input, output, cost }: Estimate): string {
  const { budget } = settings
  const isLess = budget.tokens !== undefined && budget.tokens < input + output
  const costsMore = budget.cost !== undefined && cost !== null && budget.cost < cost[1]
  if (!isLess && !costsMore) return ''
  const [limit, one] = isLess
    ? [`${number(budget.tokens!)} tokens`, `${number((input + output) / questions)} tokens`]
    : [`${money3(budget.cost!)} ${currencyOf(settings)}`, `${money3(cost![1] / questions)} ${currencyOf(settings)}`]
  return `\nIts budget of ${limit} is less than that: the asking ends where a question, of up to about ${one},\nmight exceed it, and what is not asked has no forecast.`
}

function currencyOf({ price }: Asked): string {
  return price?.currency ?? 'in money'
}

function answers(kept: number): string {
  return `${count(kept, 'answer')} ${kept === 1 ? 'is' : 'are'}`
}

function count(value: number, singular: string): string {
  return `${value} ${value === 1 ? singular : `${singular}s`}`
}

function number(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function money3(value: number): string {
  return value === 0 ? '0' : value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
