/** What asking will take and has taken, in words. */
import type { Usage } from '../../language/usage.ts'
import type { Estimate } from './questions.ts'

/** What was asked so far. */
export interface Spent {
  readonly usage: Usage
  readonly cost: number | null
  /** Answers that were kept from before and cost nothing, and forecasts that failed. */
  readonly kept: number
  readonly failed: number
}

export function estimateText(model: string, { questions, input, shared, output, cost }: Estimate): string {
  const common = shared > 0 ? `, ${number(shared)} of them shared` : ''
  const money = cost === null ? '' : `; ${cost.map(money3).join(' to ')} in money`
  return `Asking ${model}: ${questions} ${questions === 1 ? 'question' : 'questions'}, about ${number(input)} tokens in${common}, at most ${number(output)} out${money}.`
}

export function spentText(model: string, { usage, cost, kept, failed }: Spent): string {
  const { requests, input, cached, output } = usage
  const parts = [
    `${number(input)} tokens in${cached > 0 ? `, ${number(cached)} of them from its cache` : ''}`,
    `${number(output)} out`,
    ...(cost === null ? [] : [`${money3(cost)} in money`]),
    ...(kept === 0 ? [] : [`${kept} ${kept === 1 ? 'answer' : 'answers'} kept from before`]),
    ...(failed === 0 ? [] : [`${failed} ${failed === 1 ? 'forecast' : 'forecasts'} failed`]),
  ]
  return `Asked ${model}: ${requests} ${requests === 1 ? 'request' : 'requests'}, ${parts.join(', ')}.`
}

function number(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function money3(value: number): string {
  return value === 0 ? '0' : value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
