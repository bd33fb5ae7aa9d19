/**
 * How the decoder goes on from what it has seen: keys and values of earlier positions are kept, turned to their places already.
 */

import { add, scale } from '../algebra/arithmetic.ts'
import { reshape } from '../algebra/arrangement.ts'
import { cachedAttention } from '../algebra/cached-attention.ts'
import { lookUpRows } from '../algebra/lookup.ts'
import { rotary } from '../algebra/rotary.ts'
import type { Tensor } from '../graph/graph.ts'
import type { Heads } from './attention-branch.ts'
import type { DecoderConfiguration } from './decoder-configuration.ts'
import { type DecoderPass, decoderStack } from './decoder-stack.ts'
import { askByHistory } from './memory-recall.ts'
import type { CacheEntry, IncrementalModel, StepInputs } from './model.ts'

/** Null where a position sees later ones: all is computed anew for each token then. */
export function incrementalDecoder(configuration: DecoderConfiguration): IncrementalModel | null {
  const { attention, depth, memory } = configuration
  if (attention !== 'causal') return null
  const asksOnce = memory?.query === 'history'
  return {
    entries: capacity => [
      ...Array.from({ length: depth }, (_, block) =>
        keyValueEntries(configuration, `blocks.${block}`, capacity),
      ).flat(),
      ...recalledEntries(configuration),
    ],
    ...(asksOnce && {
      encode: ({ parameters, encoder }) => {
        const { added } = askByHistory(memory, parameters, parameters.get('embedding')!, encoder!)
        return new Map([[recalledEntry, added]])
      },
    }),
    step: inputs => decoderStack(configuration, inputs.parameters, inputs.tokens, stepPass(configuration, inputs)),
  }
}

/** What a memory that is asked once by the history adds to the hidden states of a row. */
export const recalledEntry = 'memory.recalled'

export function recalledEntries({ memory, width }: DecoderConfiguration): CacheEntry[] {
  return memory?.query === 'history' ? [{ name: recalledEntry, shape: [width], axis: null }] : []
}

/** New positions that take from what their rows have seen. */
export function stepPass(configuration: DecoderConfiguration, inputs: StepInputs): DecoderPass {
  return {
    rows: inputs.rows,
    addPositions: (embedded, table) => add(embedded, lookUpRows(table, reshape(inputs.places, [embedded.shape[0]!]))),
    attend: (block, heads) => attendStep(configuration, inputs, `blocks.${block}`, heads),
    recalled: configuration.memory?.query === 'history' ? inputs.cache.fixed(recalledEntry) : undefined,
  }
}

type CachedHeads = Pick<DecoderConfiguration, 'headWidth' | 'keyValueHeads'>

/** What attention of a name keeps of a position. */
export function keyValueEntries(shape: CachedHeads, name: string, capacity: number): CacheEntry[] {
  const ofRow = [shape.keyValueHeads, capacity, shape.headWidth]
  return ['keys', 'values'].map(part => ({ name: `${name}.${part}`, shape: ofRow, axis: 1 }))
}

type StepAttention = Pick<DecoderConfiguration, 'positions' | 'rotaryBase' | 'rotaryScaling'>

/** Keeps the new keys and values under `name` and takes from all that is seen. Keys are kept as scores need them: turned and scaled. */
function attendStep(
  { positions, rotaryBase, rotaryScaling }: StepAttention,
  { cache, places, placesBelow }: Pick<StepInputs, 'cache' | 'places' | 'placesBelow'>,
  name: string,
  { queries, keys, values }: Heads,
): Tensor {
  const turn = (a: Tensor) =>
    positions === 'rotary'
      ? rotary(a, { base: rotaryBase, scaling: rotaryScaling }, { ids: places, below: placesBelow })
      : a
  const allKeys = cache.extend(`${name}.keys`, scale(turn(keys), 1 / Math.sqrt(keys.shape[3]!)))
  const allValues = cache.extend(`${name}.values`, values)
  const parts = cache.parts.map(({ seen, places }, part) => ({
    keys: allKeys[part]!,
    values: allValues[part]!,
    seen,
    places,
  }))
  return cachedAttention(turn(queries), parts, positions === 'alibi' ? places : null)
}
