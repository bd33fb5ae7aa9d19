/**
 * Which bytes are trained on and which are measured. Training rows are windows at random places, from the two sources in
 * turn, so half of the bytes are Moby-Dick although it is a tenth of the text. Validation is a fixed set of held-out bytes,
 * the same for every configuration: a shorter context cuts it into more windows and sees less of what came before.
 */
import type { TokenBatch } from '../../src/engine/trainer.ts'
import type { Random } from '../../src/statistics/random.ts'
import type { Source } from './text.ts'

/** Held-out excerpts of each source, evenly spaced, and the bytes that are predicted in each. */
export const excerpts = 64
export const excerptBytes = 512

/** Endless batches of `rows` windows; every position counts the same and the weights sum to 1. */
export function* trainingBatches(
  sources: readonly Source[],
  random: Random,
  rows: number,
  sequence: number,
): Generator<TokenBatch, never> {
  for (let row = 0; ; ) {
    const batch = emptyBatch(rows, sequence, 1 / (rows * sequence))
    for (let offset = 0; offset < batch.tokens.length; offset += sequence, row++) {
      const { training } = sources[row % sources.length]!
      fillRow(batch, offset, sequence, training, random.integer(training.length - sequence))
    }
    yield batch
  }
}

/** The validation windows of one source, each position with weight 1; `sequence` divides `excerptBytes`. */
export function validationBatch({ heldOut }: Source, sequence: number): TokenBatch {
  const batch = emptyBatch((excerpts * excerptBytes) / sequence, sequence, 1)
  const spacing = (heldOut.length - excerptBytes - 1) / (excerpts - 1)
  for (let offset = 0; offset < batch.tokens.length; offset += sequence) {
    const excerpt = Math.floor(offset / excerptBytes)
    const start = Math.floor(excerpt * spacing) + (offset % excerptBytes)
    fillRow(batch, offset, sequence, heldOut, start)
  }
  return batch
}

function emptyBatch(rows: number, sequence: number, weight: number): TokenBatch {
  const size = rows * sequence
  return { tokens: new Int32Array(size), targets: new Int32Array(size), weights: new Float32Array(size).fill(weight) }
}

function fillRow(batch: TokenBatch, offset: number, sequence: number, text: Buffer, start: number): void {
  for (let position = 0; position < sequence; position++) {
    batch.tokens[offset + position] = text[start + position]!
    batch.targets[offset + position] = text[start + position + 1]!
  }
}
