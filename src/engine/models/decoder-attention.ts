/**
 * Whole rows in the decoder: where its positions are and what each sees.
 */
import { alibiBias } from '../algebra/alibi.ts'
import { add } from '../algebra/arithmetic.ts'
import { reshape, slice } from '../algebra/arrangement.ts'
import { attention } from '../algebra/attention.ts'
import { blockCausal, blockDiffusion, both, causal, real, visible } from '../algebra/attention-mask.ts'
import { rotary } from '../algebra/rotary.ts'
import type { Graph, Tensor } from '../graph/graph.ts'
import type { Heads } from './attention-branch.ts'
import type { DecoderConfiguration } from './decoder-configuration.ts'

/** Entries of a row that stand at one place. */
function copiesOf({ attention }: DecoderConfiguration, entries: number): number {
  if (attention !== 'block-diffusion') return 1
  if (entries % 2 !== 0)
    throw new Error(`block-diffusion attention: a row of ${entries} entries cannot hold each token noisy and clean`)
  return 2
}

/** Learned positions, from a table. */
export function addPlaces(configuration: DecoderConfiguration, embedded: Tensor, table: Tensor, rows: number): Tensor {
  const [count, width] = embedded.shape as [number, number]
  const copies = copiesOf(configuration, count / rows)
  const places = count / rows / copies
  const placed = reshape(slice(table, 0, 0, places), [1, places, 1, width])
  return reshape(add(reshape(embedded, [rows, places, copies, width]), placed), [count, width])
}

/**
 * `lengths` (rows): entries that are real. Not needed by causal attention, where padding comes after all that is real.
 */
export function attendWholeRows(
  configuration: DecoderConfiguration,
  lengths: Tensor | null,
  { queries, keys, values }: Heads,
): Tensor {
  const { heads, positions, rotaryBase, rotaryScaling } = configuration
  const { graph } = queries
  const entries = queries.shape[2]!
  const copies = copiesOf(configuration, entries)
  const places = Array.from({ length: entries }, (_, entry) => Math.floor(entry / copies))
  const turn = (a: Tensor) =>
    positions === 'rotary' ? rotary(a, { base: rotaryBase, scaling: rotaryScaling }, places) : a
  return attention(turn(queries), turn(keys), values, {
    mask: rowMask(configuration, graph, lengths, entries),
    bias: positions === 'alibi' ? alibiBias(graph, heads, places, places) : null,
    reference: 'own',
  })
}

/** (rows or 1, queries or 1, keys). */
function rowMask(
  { attention, attentionBlock = 1 }: DecoderConfiguration,
  graph: Graph,
  lengths: Tensor | null,
  entries: number,
): Tensor {
  if (attention === 'causal') return visible(graph, causal(entries))
  if (!lengths) throw new Error(`${attention} attention needs the lengths of the rows`)
  const keys = real(lengths, entries)
  if (attention === 'bidirectional') return keys
  const pattern = attention === 'block-causal' ? blockCausal : blockDiffusion
  return both(visible(graph, pattern(entries, attentionBlock)), keys)
}
