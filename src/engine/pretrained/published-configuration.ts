/**
 * config.json of a published language model: the decoder that it describes, or one sentence with all that this engine
 * cannot do.
 */
import { z } from 'zod'
import type { Llama3Scaling } from '../algebra/rotary.ts'
import { type DecoderOptions, decoderProblems } from '../models/decoder-configuration.ts'
import { described } from '../required-types.ts'

const whole = z.int().positive()
const positive = z.number().positive()
const rope = z.looseObject({
  rope_type: z.string().nullish(),
  /** An older name of it. */
  type: z.string().nullish(),
  rope_theta: positive.nullish(),
  partial_rotary_factor: z.number().nullish(),
  factor: positive.nullish(),
  low_freq_factor: positive.nullish(),
  high_freq_factor: positive.nullish(),
  original_max_position_embeddings: whole.nullish(),
})
const schema = z.looseObject({
  model_type: z.string(),
  architectures: z.array(z.string()).nullish(),
  vocab_size: whole,
  hidden_size: whole,
  intermediate_size: whole,
  num_hidden_layers: whole,
  num_attention_heads: whole,
  num_key_value_heads: whole.nullish(),
  head_dim: whole.nullish(),
  max_position_embeddings: whole,
  hidden_act: z.string(),
  rms_norm_eps: positive,
  attention_bias: z.boolean().nullish(),
  mlp_bias: z.boolean().nullish(),
  tie_word_embeddings: z.boolean().nullish(),
  use_sliding_window: z.boolean().nullish(),
  layer_types: z.array(z.string()).nullish(),
  quantization_config: z.unknown().optional(),
  rope_theta: positive.nullish(),
  /** transformers 4 has the scaling here, transformers 5 all of it in rope_parameters. */
  rope_scaling: rope.nullish(),
  rope_parameters: rope.nullish(),
  eos_token_id: z.union([z.int(), z.array(z.int())]).nullish(),
})

export type PublishedConfiguration = z.infer<typeof schema>

/** By their `model_type`, what is written as the architecture. */
export const architectures = { llama: 'LlamaForCausalLM', qwen3: 'Qwen3ForCausalLM' } as const

/** Throws a sentence for what is not the JSON of a configuration. */
export function parsePublished(text: string): PublishedConfiguration {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new Error('its config.json is not JSON', { cause })
  }
  const { model_type: kind } = Object(value) as { readonly model_type?: unknown }
  // All that would be missing by the names of another kind says less.
  if (typeof kind === 'string' && !Object.hasOwn(architectures, kind))
    throw new Error(`its model_type is ${described(kind)}: Llama and Qwen3 style (llama, qwen3) can be read`)
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'as a whole'}: ${message}`)
  throw new Error(`its config.json is not that of a language model that can be read (${problems.join('; ')})`)
}

/** Throws one sentence with all that is not supported. */
export function decoderOf(published: PublishedConfiguration): DecoderOptions {
  const problems = unsupported(published)
  if (problems.length > 0) throw new Error(`its config.json asks for what is not supported: ${problems.join('; ')}`)
  const { hidden_size: width, num_attention_heads: heads, rope_theta: theta } = published
  const rotary = published.rope_parameters ?? published.rope_scaling
  const scaling = llama3Scaling(published)
  const options: DecoderOptions = {
    vocabulary: published.vocab_size,
    contextLength: published.max_position_embeddings,
    depth: published.num_hidden_layers,
    width,
    heads,
    keyValueHeads: published.num_key_value_heads ?? heads,
    headWidth: published.head_dim ?? width / heads,
    feedForwardWidth: published.intermediate_size,
    positions: 'rotary',
    rotaryBase: rotary?.rope_theta ?? theta ?? 10_000,
    ...(scaling && { rotaryScaling: scaling }),
    norm: 'pre',
    normEpsilon: published.rms_norm_eps,
    queryKeyNorm: published.model_type === 'qwen3',
    activation: 'swiglu',
    tiedEmbeddings: published.tie_word_embeddings ?? false,
    logitSoftCap: null,
    initialisationScale: 1,
    residualScaling: 'none',
  }
  const invalid = decoderProblems(options)
  if (invalid.length > 0) throw new Error(`its config.json describes no decoder: ${invalid.join('; ')}`)
  return options
}

function unsupported(published: PublishedConfiguration): string[] {
  const { model_type: kind, architectures: named, head_dim, num_key_value_heads, layer_types } = published
  const problems: string[] = []
  const refuse = (holds: unknown, problem: string) => {
    if (holds) problems.push(problem)
  }
  const architecture = architectures[kind as keyof typeof architectures]
  refuse(named && !named.includes(architecture), `architectures ${named?.join(', ')} (expected ${architecture})`)
  refuse(published.attention_bias, 'biases of attention (attention_bias)')
  refuse(published.mlp_bias, 'biases of feed-forward layers (mlp_bias)')
  refuse(published.hidden_act !== 'silu', `the activation ${JSON.stringify(published.hidden_act)} (expected "silu")`)
  refuse(published.quantization_config != null, 'quantised weights (quantization_config)')
  const slides = published.use_sliding_window || layer_types?.some(type => type !== 'full_attention')
  refuse(slides, 'sliding windows or other kinds of attention layers (use_sliding_window, layer_types)')
  // Their defaults in transformers are numbers of one model, not what follows from the width.
  refuse(
    kind === 'qwen3' && (head_dim == null || num_key_value_heads == null),
    'no head_dim or num_key_value_heads, which qwen3 must have',
  )
  const rotary = published.rope_parameters ?? published.rope_scaling
  const type = rotary?.rope_type ?? rotary?.type ?? 'default'
  refuse(type !== 'default' && type !== 'llama3', `rotary positions of type ${JSON.stringify(type)}`)
  refuse((rotary?.partial_rotary_factor ?? 1) !== 1, 'rotary positions on part of a head (partial_rotary_factor)')
  if (type === 'llama3' && !llama3Scaling(published))
    problems.push('Llama 3 scaling of rotary positions without its four numbers')
  return problems
}

/** Null where there is none, or not all of it. */
function llama3Scaling({ rope_parameters, rope_scaling }: PublishedConfiguration): Llama3Scaling | null {
  const rotary = rope_parameters ?? rope_scaling
  if ((rotary?.rope_type ?? rotary?.type) !== 'llama3') return null
  const { factor, low_freq_factor, high_freq_factor, original_max_position_embeddings: original } = rotary!
  if (!factor || !low_freq_factor || !high_freq_factor || !original) return null
  return {
    factor,
    lowFrequencyFactor: low_freq_factor,
    highFrequencyFactor: high_freq_factor,
    originalContextLength: original,
  }
}
