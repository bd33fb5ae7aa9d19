/**
 * A made-up log of words for tests: ideas of a few themes, good and bad ones, whose gains shrink as the series goes on, with noise of one
 * seed, disasters and crashes. It imitates what agents write down; it is no evidence about them.
 */
import type { ExperimentRecord } from '../../experiment/record.ts'
import type { Random } from '../../statistics/random.ts'
import { candidateOf, environmentOf, recordWith } from './records.ts'

const themes = ['learning rate', 'weight decay', 'attention window', 'batch size', 'activation', 'embedding', 'warmup']
const verbs = ['raise', 'lower', 'double', 'halve', 'schedule', 'remove', 'tie']

export interface WordSeriesOptions {
  /** How much of a gain the words tell, beside noise of size 1. */
  readonly signal: number
  /** Rows after which gains are a third of what they were. */
  readonly fading: number
}

export function wordSeries(
  name: string,
  count: number,
  { signal, fading }: WordSeriesOptions,
  random: Random,
  firstId = 1,
): ExperimentRecord[] {
  const environment = environmentOf(name, {})
  const effects = new Map([...themes, ...verbs].map(word => [word, random.normal()]))
  const crashing = themes[random.integer(themes.length)]
  return Array.from({ length: count }, (_, index) => {
    const theme = themes[random.integer(themes.length)]!
    const verb = verbs[random.integer(verbs.length)]!
    const size = 0.01 * (0.3 + Math.exp(-index / fading))
    const effect = (signal * (effects.get(theme)! + effects.get(verb)!)) / Math.SQRT2
    const disaster = random.uniform() < 0.05 ? -20 * random.uniform() : 0
    const crashed = random.uniform() < (theme === crashing ? 0.5 : 0.05)
    const gain = size * (effect + random.normal() - 0.5 + disaster)
    return recordWith(
      firstId + index,
      environment,
      candidateOf(environment, `${verb} the ${theme}`, {}),
      crashed ? null : gain,
    )
  })
}
