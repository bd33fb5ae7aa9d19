/** The decoders that bench/engine.ts measures, by their number of parameters. */
import { completeDecoder, type DecoderConfiguration } from '../../src/engine/models/decoder-configuration.ts'

export interface Size {
  readonly name: string
  readonly width: number
  readonly depth: number
  readonly heads: number
}

export const sizes: readonly Size[] = [
  { name: '0.1M', width: 48, depth: 3, heads: 2 },
  { name: '0.3M', width: 80, depth: 4, heads: 4 },
  { name: '1M', width: 144, depth: 4, heads: 4 },
  { name: '3M', width: 256, depth: 4, heads: 8 },
  { name: '10M', width: 384, depth: 6, heads: 6 },
]

/** A byte vocabulary, rotary positions, RMS norm before each branch, SwiGLU, tied embeddings: what all contenders build. */
export function configurationOf({ width, depth, heads }: Size, contextLength: number): DecoderConfiguration {
  return completeDecoder({ vocabulary: 256, contextLength, depth, width, heads, tiedEmbeddings: true })
}
