/**
 * What the rows of a batch ask of the choice of their tokens, and the inputs that say it.
 */
import { removed } from '../losses/target-log-probability.ts'
import type { SampleRequest } from '../sampling.ts'
import type { ChoiceVariant } from './choose-token.ts'
import type { Feeds } from './sampler-programs.ts'

/** The least that serves all of them. */
export function choiceVariant(requests: readonly SampleRequest[], vocabulary: number): ChoiceVariant {
  return {
    temperature: requests.some(({ temperature = 1 }) => temperature !== 1 && temperature !== 0),
    greedy: requests.some(({ temperature }) => temperature === 0),
    blocked: requests.some(({ blocked = [] }) => blocked.length > 0),
    filter: largest(requests, request => (filters(request) ? keptAtMost(request, vocabulary) : 0)),
    support: requests.some(request => request.returnSupport && filters(request)),
    top: largest(requests, ({ topLogProbabilities = 0 }) => topLogProbabilities),
  }
}

/** Whether a request takes improbable tokens away. */
export const filters = ({ topP = 1, topK, temperature }: SampleRequest) =>
  (topP < 1 || topK !== undefined) && temperature !== 0

const keptAtMost = ({ topK }: SampleRequest, vocabulary: number) => Math.min(topK ?? vocabulary, vocabulary)

/** Most single tokens at which a row stops. */
export function stopCount(requests: readonly SampleRequest[]): number {
  return largest(requests, request => singleStops(request).length)
}

const singleStops = ({ stop = [] }: SampleRequest) => stop.flatMap(sequence => (sequence.length === 1 ? sequence : []))

/** By row; null for a row that is empty. */
export function choiceFeeds(
  requests: readonly (SampleRequest | null)[],
  variant: ChoiceVariant,
  stops: number,
  vocabulary: number,
): Feeds {
  const rows = requests.length
  const feeds: Feeds = {}
  const perRow = (fill: (row: number, request: SampleRequest) => void) => {
    for (const [row, request] of requests.entries()) if (request) fill(row, request)
  }
  if (variant.temperature) {
    const inverse = new Float32Array(rows).fill(1)
    perRow((row, { temperature = 1 }) => {
      if (temperature !== 0) inverse[row] = 1 / temperature
    })
    feeds['row.inverseTemperature'] = inverse
  }
  if (variant.greedy) {
    const greedy = new Int32Array(rows)
    perRow((row, { temperature }) => {
      if (temperature === 0) greedy[row] = 1
    })
    feeds['row.greedy'] = greedy
  }
  if (variant.blocked) {
    const mask = new Float32Array(rows * vocabulary)
    perRow((row, { blocked = [] }) => {
      for (const token of blocked) mask[row * vocabulary + token] = removed
    })
    feeds['row.blocked'] = mask
  }
  if (variant.filter > 0) {
    const topK = new Int32Array(rows).fill(vocabulary + 1)
    const topP = new Float64Array(rows).fill(1)
    perRow((row, request) => {
      if (!filters(request)) return
      topK[row] = keptAtMost(request, vocabulary)
      topP[row] = request.topP ?? 1
    })
    feeds['row.topK'] = topK
    feeds['row.topP'] = topP
  }
  if (stops > 0) {
    const tokens = new Int32Array(rows * stops).fill(-1)
    perRow((row, request) => {
      tokens.set(singleStops(request), row * stops)
    })
    feeds['row.stops'] = tokens
  }
  return feeds
}

/** 0 where there is nothing. */
export function largest<T>(values: readonly T[], size: (value: T) => number): number {
  return values.reduce((most, value) => Math.max(most, size(value)), 0)
}
