/**
 * What decoders give back beside logits: their hidden states, what a memory chose, and the inner state.
 */
import type { Tensor } from '../graph/graph.ts'
import type { DecoderConfiguration } from './decoder-configuration.ts'
import { type DecoderResult, decoderHead } from './decoder-stack.ts'
import { memoryBlock } from './memory-configuration.ts'
import type { MemoryAnswer } from './memory-layer.ts'
import { answerReadouts, memoryReadouts } from './memory-recall.ts'
import type { ModelOutputs } from './model.ts'

/** With the size of one position: `hidden.0` after the embedding, then one a block; and those of a memory. */
export function decoderReadouts({ depth, width, memory }: DecoderConfiguration): Record<string, number> {
  const states = Array.from({ length: depth + 1 }, (_, block) => [`hidden.${block}`, width] as const)
  return { ...Object.fromEntries(states), ...(memory && memoryReadouts(memory)) }
}

/**
 * `ofHistory`: the answer of a memory that is asked by the history. The inner state is the one that the answer was
 * added to, read by the head.
 */
export function decoderOutputs(
  configuration: DecoderConfiguration,
  parameters: ReadonlyMap<string, Tensor>,
  { logits, hidden, answer }: DecoderResult,
  ofHistory: MemoryAnswer | null,
): ModelOutputs {
  const { depth, memory } = configuration
  const readouts = new Map(hidden.map((state, block) => [`hidden.${block}`, state]))
  if (!memory) return { logits, readouts }
  for (const [name, tensor] of answerReadouts((ofHistory ?? answer)!, logits.shape[0]!)) readouts.set(name, tensor)
  const inner = hidden[memoryBlock(memory, depth)]!
  return { logits, readouts, innerLogits: decoderHead(configuration, parameters, inner) }
}
