/**
 * Draws samples in batches of rows, a piece of each at a time. Between pieces rows that have ended leave and others take their
 * places.
 */
import { rounded } from '../passes/pieces.ts'
import type { Sample, SampleRequest } from '../sampling.ts'
import { choiceVariant, largest, stopCount } from './choice-feeds.ts'
import type { Context } from './context.ts'
import type { ContextMaker } from './contexts.ts'
import { type DrawnRow, rowsOf } from './drawn-row.ts'
import { RolloutBatch } from './rollout-batch.ts'

/** By request, then by sample. Tokens are drawn in pieces of at most `length` a row, or as many as suit the model. */
export async function rollOut(
  maker: ContextMaker,
  requests: readonly SampleRequest[],
  contexts: readonly Context[],
  length: number | undefined,
): Promise<Sample[][]> {
  const byRequest = requests.map((request, index) => rowsOf(request, contexts[index]!))
  const samples = new Map<DrawnRow, Sample>()
  // Neighbours of like length waste least.
  const rows = byRequest.flat().sort((a, b) => a.context.length - b.context.length)
  if (rows.length > 0) await drawTogether(maker, rows, length, (row, sample) => samples.set(row, sample))
  return byRequest.map(rows => rows.map(row => samples.get(row)!))
}

async function drawTogether(
  maker: ContextMaker,
  rows: readonly DrawnRow[],
  length: number | undefined,
  finish: (row: DrawnRow, sample: Sample) => void,
): Promise<void> {
  const requests = [...new Set(rows.map(({ request }) => request))]
  const batch = new RolloutBatch(maker, {
    choice: choiceVariant(requests, maker.programs.options.model.vocabulary),
    stops: rounded(stopCount(requests)),
    length,
    // The last token is never read; what is read last needs a place only where the row can go on from it.
    longest: largest(
      rows,
      ({ context, request }) => context.length + request.maximumTokens - (request.keepPrefix ? 1 : 2),
    ),
    encoderPositions: largest(rows, ({ context }) => context.encoderPositions),
  })
  const waiting = [...rows]
  while (waiting.length + batch.going > 0) {
    maker.signal?.throwIfAborted()
    batch.join(waiting)
    for (const { row, context } of await batch.draw()) finish(row, row.sample(context))
  }
  batch.end()
}
