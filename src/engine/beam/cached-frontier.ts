/**
 * A frontier of rows with a key-value cache: a step reads one token a row.
 */
import { rounded } from '../passes/pieces.ts'
import { CacheRows } from '../sampling/cache-rows.ts'
import { type ContextMaker, contextsOf, runExtension } from '../sampling/contexts.ts'
import { freshOutput } from '../sampling/extension-graph.ts'
import type { BeamRequest } from '../sampling.ts'
import type { Frontier, FrontierStart } from './frontier.ts'

/** Numbers that all rows keep together, and of the logits of a step. */
const mostKept = 2 ** 26
const mostLogits = 2 ** 24

/** How many rows of a model that keeps a cache should be computed at once. */
export function fittingRows({ programs }: ContextMaker, requests: readonly BeamRequest[]): number {
  const { layout, options } = programs
  const longest = Math.max(1, ...requests.map(positionsOf))
  const encoder = Math.max(0, ...requests.map(({ prompt }) => prompt.encoderTokens?.length ?? 0))
  const growing = layout.growing.reduce((sum, { outer, inner }) => sum + outer * inner * longest, 0)
  const fixed = layout.fixed.reduce((sum, { outer, inner, positions }) => sum + outer * inner * positions(encoder), 0)
  return Math.floor(Math.min(256, mostKept / (growing + fixed), mostLogits / options.model.vocabulary))
}

/** For models with an `incremental`. */
export function cachedFrontier(maker: ContextMaker): FrontierStart {
  return async requests => {
    const contexts = await contextsOf(
      maker,
      requests.map(({ prompt }) => prompt),
    )
    // One size for the whole search: each other one would be compiled anew.
    const rows = rounded(requests.reduce((sum, { beams }) => sum + beams, 0))
    const capacity = rounded(Math.max(...requests.map(positionsOf)))
    const encoderPositions = Math.max(...contexts.map(context => context.encoderPositions))
    const cache = new CacheRows(maker.programs.layout, rows, capacity, encoderPositions)
    for (const [row, { segment, fixed, encoderPositions }] of contexts.entries())
      cache.fill(row, segment, fixed, encoderPositions)
    const lastTokens = contexts.map(({ tokens }) => tokens.at(-1)!)
    return stepped(maker, cache, lastTokens)
  }
}

/** What a row may have to keep: all but its last token, which nothing follows. */
function positionsOf({ prompt, maximumTokens }: BeamRequest): number {
  return prompt.tokens.length + maximumTokens - 2
}

/** Reads a token of each row behind what the cache holds. */
async function stepped(maker: ContextMaker, cache: CacheRows, tokens: readonly number[]): Promise<Frontier> {
  const { programs, values } = maker
  const { rows, capacity, encoderPositions } = cache
  const read = new Int32Array(rows)
  read.set(tokens)
  const shape = { rows, capacity, encoderPositions, count: 1, logProbabilities: true }
  const results = await runExtension(programs, shape, { ...values, ...cache.feeds(), 'data.tokens': read })
  const computed = (entry: string) => results[freshOutput(entry)] as Float32Array
  const logProbabilities = results['logProbabilities'] as Float32Array
  const { vocabulary } = programs.options.model
  return {
    logProbabilities: tokens.map((_, row) => logProbabilities.subarray(row * vocabulary, (row + 1) * vocabulary)),
    extend(parents, tokens) {
      // Fewer rows are worth a program of their own when most are gone; a constraint may open up again later.
      const isRoomy = parents.length <= rows && 4 * parents.length > rows
      const wanted = isRoomy ? rows : rounded(parents.length)
      const next = new CacheRows(programs.layout, wanted, capacity, encoderPositions)
      for (const [row, parent] of parents.entries()) {
        next.take(row, cache, parent)
        next.append(row, computed, parent, 1, 1)
      }
      return stepped(maker, next, tokens)
    },
  }
}
