/**
 * config.json for a decoder that is a Llama or a Qwen3 in its architecture.
 */
import type { DecoderConfiguration } from '../models/decoder-configuration.ts'
import { architectures } from './published-configuration.ts'

/**
 * What describes a decoder to transformers, in the spelling that its versions 4 and 5 both read. Throws one sentence
 * with all that neither of its architectures has.
 */
export function publishedOf(configuration: DecoderConfiguration): Record<string, unknown> {
  const own = { ...configuration, memory: configuration.memory ?? null }
  const expected = {
    positions: 'rotary',
    attention: 'causal',
    norm: 'pre',
    normKind: 'rms',
    activation: 'swiglu',
    logitSoftCap: null,
    residualScaling: 'none',
    memory: null,
  } as const
  const problems = Object.entries(expected).flatMap(([field, value]) => {
    const found = own[field as keyof typeof expected]
    return found === value ? [] : [`${field} is ${JSON.stringify(found)}: expected ${JSON.stringify(value)}`]
  })
  if (problems.length > 0)
    throw new Error(`the model is neither a Llama nor a Qwen3 in its architecture: ${problems.join('; ')}`)
  const { rotaryScaling: scaling, queryKeyNorm } = configuration
  const kind = queryKeyNorm ? 'qwen3' : 'llama'
  return {
    architectures: [architectures[kind]],
    model_type: kind,
    vocab_size: configuration.vocabulary,
    max_position_embeddings: configuration.contextLength,
    num_hidden_layers: configuration.depth,
    hidden_size: configuration.width,
    num_attention_heads: configuration.heads,
    num_key_value_heads: configuration.keyValueHeads,
    head_dim: configuration.headWidth,
    intermediate_size: configuration.feedForwardWidth,
    hidden_act: 'silu',
    rms_norm_eps: configuration.normEpsilon,
    attention_bias: false,
    tie_word_embeddings: configuration.tiedEmbeddings,
    rope_theta: configuration.rotaryBase,
    rope_scaling: scaling
      ? {
          rope_type: 'llama3',
          factor: scaling.factor,
          low_freq_factor: scaling.lowFrequencyFactor,
          high_freq_factor: scaling.highFrequencyFactor,
          original_max_position_embeddings: scaling.originalContextLength,
        }
      : null,
    torch_dtype: 'float32',
  }
}
