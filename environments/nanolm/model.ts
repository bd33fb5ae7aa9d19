/**
 * The decoder that a configuration describes, in the engine's words.
 */
import type { DecoderOptions } from '../../src/engine/models/decoder-configuration.ts'
import { feedForwardWidth } from './configuration.ts'
import { objectiveOf } from './objective.ts'
import type { Configuration } from './options.ts'

export function decoderConfiguration(configuration: Configuration): DecoderOptions {
  const { vocabulary, attention } = objectiveOf(configuration)
  return {
    vocabulary,
    attention,
    contextLength: configuration.contextLength,
    depth: configuration.depth,
    width: configuration.width,
    heads: configuration.heads,
    keyValueHeads: configuration.keyValueHeads,
    feedForwardWidth: feedForwardWidth(configuration),
    positions: configuration.positions,
    norm: configuration.norm,
    normKind: configuration.normKind,
    dropout: configuration.dropout,
    queryKeyNorm: configuration.queryKeyNorm,
    activation: configuration.activation,
    tiedEmbeddings: configuration.tiedEmbeddings,
    logitSoftCap: configuration.logitSoftCap || null,
    initialisationScale: configuration.initialisationScale,
    residualScaling: configuration.residualScaling,
  }
}
