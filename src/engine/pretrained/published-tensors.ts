/**
 * What the decoder's parameters are called in published Llama and Qwen3 models. Their matrices are (outputs, inputs),
 * ours (inputs, outputs).
 */
import type { Parameter } from '../parameter.ts'

const ofBlocks: Readonly<Record<string, string>> = {
  'attention.norm': 'input_layernorm',
  'attention.query': 'self_attn.q_proj',
  'attention.key': 'self_attn.k_proj',
  'attention.value': 'self_attn.v_proj',
  'attention.output': 'self_attn.o_proj',
  'attention.queryNorm': 'self_attn.q_norm',
  'attention.keyNorm': 'self_attn.k_norm',
  'feedForward.norm': 'post_attention_layernorm',
  'feedForward.gate': 'mlp.gate_proj',
  'feedForward.up': 'mlp.up_proj',
  'feedForward.down': 'mlp.down_proj',
}
const ofModel: Readonly<Record<string, string>> = {
  embedding: 'model.embed_tokens',
  norm: 'model.norm',
  head: 'lm_head',
}

export interface PublishedTensor {
  readonly name: string
  readonly shape: readonly number[]
  /** Whether it holds our matrix with rows and columns exchanged. */
  readonly transposed: boolean
}

export function publishedTensor({ name, shape, role }: Parameter): PublishedTensor {
  const [, block, part] = /^blocks\.(\d+)\.(.+)$/.exec(name) ?? []
  const module = block === undefined ? ofModel[name] : `model.layers.${block}.${ofBlocks[part!]}`
  const transposed = role === 'matrix' || role === 'head'
  return { name: `${module}.weight`, shape: transposed ? shape.toReversed() : shape, transposed }
}

/** Tensors that some files hold and no model needs: tables of angles, and a second copy of a tied embedding. */
export function isSpare(name: string, tiedEmbeddings: boolean): boolean {
  return name.endsWith('.rotary_emb.inv_freq') || (tiedEmbeddings && name === 'lm_head.weight')
}

/** Rows and columns exchanged: (rows, columns) → (columns, rows). In tiles, so that both sides stay in the cache. */
export function transposed(values: Float32Array, [rows, columns]: readonly [number, number]): Float32Array {
  const result = new Float32Array(values.length)
  const tile = 32
  for (let top = 0; top < rows; top += tile)
    for (let left = 0; left < columns; left += tile)
      for (let row = top; row < Math.min(top + tile, rows); row++)
        for (let column = left; column < Math.min(left + tile, columns); column++)
          result[column * rows + row] = values[row * columns + column]!
  return result
}
