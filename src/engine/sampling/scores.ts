/**
 * Scores given tokens: in whole passes, and behind a prefix from what is kept of it.
 */

import type { CrossEntropyDatum } from '../datum.ts'
import { ForwardResults } from '../passes/forward-results.ts'
import { pieceInputs } from '../passes/piece-inputs.ts'
import { shapedPieces } from '../passes/shaped-pieces.ts'
import type { Score, ScoreRequest } from '../sampling.ts'
import type { ForwardResult } from '../training.ts'
import { CacheRows } from './cache-rows.ts'
import { topReadouts } from './changed-models.ts'
import type { Context } from './context.ts'
import type { ContextMaker } from './contexts.ts'
import { scoreDatum } from './score-request.ts'
import { readingInputs, scoringGraph } from './scoring-graph.ts'

type WholePass = (data: readonly CrossEntropyDatum[], top: number) => Promise<ForwardResult>

interface Work {
  readonly place: number
  readonly request: ScoreRequest
  /** Null: nothing is kept that could be gone on from. */
  readonly context: Context | null
  readonly datum: CrossEntropyDatum
  /** Positions of the datum before those of the request. */
  readonly before: number
}

/** By request. They were checked: prefixes are contexts of this sampler. */
export async function scored(
  maker: ContextMaker,
  requests: readonly ScoreRequest[],
  wholePass: WholePass,
): Promise<Score[]> {
  const { model, hasAdapters } = maker.programs.options
  const top = requests.reduce((most, { topLogProbabilities = 0 }) => Math.max(most, topLogProbabilities), 0)
  const works = requests.map((request, place): Work => {
    const prefix = request.prefix as Context | undefined
    // What is kept was computed with the adapters.
    const isKept = prefix !== undefined && model.incremental !== null && (request.adapter !== false || !hasAdapters)
    // The last token of a prefix was not read yet.
    const before = isKept ? 1 : (prefix?.length ?? 0)
    return { place, request, context: isKept ? prefix : null, datum: scoreDatum(request, prefix, before), before }
  })
  const scores: Score[] = []
  const take = (taken: readonly Work[], result: ForwardResult) => {
    for (const [index, work] of taken.entries()) scores[work.place] = scoreOf(work, result, index, top)
  }
  const whole = works.filter(({ context }) => context === null)
  if (whole.length > 0)
    take(
      whole,
      await wholePass(
        whole.map(({ datum }) => datum),
        top,
      ),
    )
  const behind = works.filter(({ context }) => context !== null)
  if (behind.length > 0) take(behind, await passBehind(maker, behind, top))
  return scores
}

async function passBehind(maker: ContextMaker, works: readonly Work[], top: number): Promise<ForwardResult> {
  const { programs, values, signal } = maker
  const { model, parameters, tokensAtOnce, hasAdapters } = programs.options
  const capture = top > 0 ? Object.values(topReadouts) : []
  const data = works.map(({ datum }) => datum)
  const contexts = works.map(({ context }) => context!)
  const results = new ForwardResults(data, model.vocabulary, capture)
  // What is kept takes the place of an encoder's positions: rows are padded to one length of both.
  const lengths = works.map(({ datum, context }) => {
    return { positions: datum.input.tokens.length, encoderPositions: context!.segment?.end ?? 0 }
  })
  const longest = { positions: model.contextLength, encoderPositions: model.contextLength }
  for (const { piece, shape: ofPiece } of shapedPieces(data, lengths, { tokensAtOnce, longest, hasAdapters })) {
    signal?.throwIfAborted()
    const { rows, encoderPositions: capacity, members } = piece
    const encoderPositions = Math.max(...members.map(member => contexts[member]!.encoderPositions))
    const cache = new CacheRows(programs.layout, rows, capacity, encoderPositions)
    for (const [row, member] of members.entries()) {
      const { segment, fixed, encoderPositions } = contexts[member]!
      cache.fill(row, segment, fixed, encoderPositions)
    }
    const shape = {
      computation: {
        ...ofPiece,
        encoderPositions: 0,
        loss: { kind: 'cross_entropy' } as const,
        gradients: false,
        dropout: false,
        capture,
      },
      cache: { rows, capacity, encoderPositions },
      top,
    }
    const outputs = await programs.run(
      `scoring ${JSON.stringify(shape)}`,
      () => scoringGraph(model, parameters, shape),
      {
        ...values,
        ...cache.feeds(),
        ...pieceInputs(data, piece, shape.computation, { ...model, inputs: readingInputs }),
      },
    )
    results.add(piece, shape.computation, outputs)
  }
  return results.result()
}

function scoreOf({ request, datum, before }: Work, result: ForwardResult, index: number, top: number): Score {
  const logProbabilities = result.logProbabilities[index]!
  const { topLogProbabilities: count = 0 } = request
  const most = (name: string) => {
    const values = result.captured.get(name)![index]!
    return firstOfEach(values.subarray(before * top), datum.input.tokens.length - before, top, count)
  }
  return {
    // Ragged targets have none where the request has no position.
    logProbabilities: withInfinities(
      datum.targets instanceof Int32Array ? logProbabilities.slice(before) : logProbabilities,
    ),
    ...(count > 0 && {
      topLogProbabilities: {
        count,
        tokens: Int32Array.from(most(topReadouts.tokens)),
        logProbabilities: most(topReadouts.logProbabilities),
      },
    }),
  }
}

/** Tokens without probability have the log-probability that they have; graphs count with a number instead. */
export function withInfinities(logProbabilities: Float32Array): Float32Array {
  for (const [index, value] of logProbabilities.entries())
    if (value < -1e29) logProbabilities[index] = Number.NEGATIVE_INFINITY
  return logProbabilities
}

/** The first `count` of `size` at each position. */
function firstOfEach(values: Float32Array, positions: number, size: number, count: number): Float32Array {
  const result = new Float32Array(positions * count)
  for (let position = 0; position < positions; position++)
    result.set(values.subarray(position * size, position * size + count), position * count)
  return result
}
