/**
 * How the encoder-decoder goes on from what it has seen: keys and values of the encoder's text are computed once, those
 * of the decoder's own are added step by step.
 */
import { reshape } from '../algebra/arrangement.ts'
import { attention } from '../algebra/attention.ts'
import type { Graph, Tensor } from '../graph/graph.ts'
import { projectKeysAndValues } from './attention-branch.ts'
import { decoderStack } from './decoder-stack.ts'
import { keyValueEntries, recalledEntries, recalledEntry, stepPass } from './decoder-step.ts'
import { decoderHalf, type EncoderDecoderConfiguration } from './encoder-decoder-configuration.ts'
import { answerOfHistory, encodedRows } from './encoder-decoder-encode.ts'
import type { CacheEntry, IncrementalModel } from './model.ts'

/** Entries are numbers: 1 where the encoder's text is real, 0 in padding. */
const realEntry = 'encoder.real'
const blocksOf = (depth: number) => Array.from({ length: depth }, (_, block) => `blocks.${block}`)

export function incrementalEncoderDecoder(configuration: EncoderDecoderConfiguration): IncrementalModel {
  const decoder = decoderHalf(configuration)
  const { depth, keyValueHeads, headWidth } = decoder
  return {
    entries: (capacity, encoderPositions) => {
      const encoded = Math.min(encoderPositions, configuration.encoderWindow ?? encoderPositions)
      const shape = [keyValueHeads, encoded, headWidth]
      const fixed = blocksOf(depth).flatMap(block =>
        ['keys', 'values'].map((part): CacheEntry => ({ name: `${block}.cross.${part}`, shape, axis: null })),
      )
      const growing = blocksOf(depth).flatMap(block => keyValueEntries(decoder, block, capacity))
      return [...growing, ...fixed, { name: realEntry, shape: [encoded], axis: null }, ...recalledEntries(decoder)]
    },
    encode: inputs => {
      const { states, mask } = encodedRows(configuration, inputs)
      const { graph, parameters, rows } = inputs
      const entries = new Map([[realEntry, asNumbers(graph, mask)]])
      for (const block of blocksOf(depth)) {
        const { keys, values } = projectKeysAndValues(decoder, parameters, `${block}.cross`, states, rows)
        entries.set(`${block}.cross.keys`, keys).set(`${block}.cross.values`, values)
      }
      const ofHistory = answerOfHistory(configuration, inputs)
      if (ofHistory) entries.set(recalledEntry, ofHistory.added)
      return entries
    },
    step: inputs =>
      decoderStack(decoder, inputs.parameters, inputs.tokens, {
        ...stepPass(decoder, inputs),
        attendEncoder: (block, queries) => {
          const [keys, values] = ['keys', 'values'].map(part => inputs.cache.fixed(`blocks.${block}.cross.${part}`))
          const mask = asMask(inputs.cache.fixed(realEntry))
          return attention(queries, keys!, values!, { mask, reference: 'first' })
        },
      }),
  }
}

/** Bool (rows, 1, positions) → (rows, positions). */
function asNumbers(graph: Graph, mask: Tensor): Tensor {
  const [rows, , positions] = mask.shape as [number, number, number]
  const inputs = [mask, graph.constant([1], [1, 1, 1]), graph.constant([0], [1, 1, 1])]
  return reshape(graph.operation({ operation: 'Where', inputs, shape: mask.shape }), [rows, positions])
}

/** (rows, positions) → bool (rows, 1, positions). */
function asMask(numbers: Tensor): Tensor {
  const { graph, shape } = numbers
  const [rows, positions] = shape as [number, number]
  const spread = reshape(numbers, [rows, 1, positions])
  const inputs = [spread, graph.scalar(0.5)]
  return graph.operation({ operation: 'Greater', inputs, shape: spread.shape, type: 'bool' })
}
