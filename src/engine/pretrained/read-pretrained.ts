/**
 * Reads a published language model from a folder as transformers and the Hugging Face hub have it: config.json,
 * safetensors, and tokenizer.json. Llama and Qwen3 architectures; nothing is downloaded.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkDepth } from '../checkpoints/believable-depth.ts'
import { decoder } from '../models/decoder.ts'
import { completeDecoder, type DecoderConfiguration } from '../models/decoder-configuration.ts'
import type { Model } from '../models/model.ts'
import type { Parameter } from '../parameter.ts'
import { described, type FieldsOf, requireFields } from '../required-types.ts'
import { decoderOf, type PublishedConfiguration, parsePublished } from './published-configuration.ts'
import { isSpare, publishedTensor, transposed } from './published-tensors.ts'
import { openWeights, type PublishedWeights } from './published-weights.ts'

export interface ReadPretrainedOptions {
  /** Longest input, in positions; at most what the model was made for, which is the default. */
  readonly contextLength?: number
}

export interface Pretrained {
  readonly model: Model
  readonly configuration: DecoderConfiguration
  /** By parameter, in single precision whatever the file has. */
  readonly values: ReadonlyMap<string, Float32Array>
  /** tokenizer.json, where there is one. */
  readonly tokeniserPath: string | null
  /** Tokens that end an answer. */
  readonly endTokens: readonly number[]
}

/** Throws one sentence for a folder that is no such model or one that this engine cannot compute. */
export function readPretrained(folder: string, options: ReadPretrainedOptions = {}): Pretrained {
  try {
    return read(folder, options)
  } catch (error) {
    throw new Error(`${folder} cannot be used as a pretrained model: ${(error as Error).message}`, { cause: error })
  }
}

const fields: FieldsOf<ReadPretrainedOptions> = { contextLength: true }

function read(folder: string, options: ReadPretrainedOptions): Pretrained {
  requireFields('options', options, fields)
  const { contextLength } = options
  if (!existsSync(folder)) throw new Error('there is no such folder')
  const path = join(folder, 'config.json')
  if (!existsSync(path)) throw new Error('there is no config.json')
  const published = parsePublished(readFileSync(path, 'utf8'))
  const whole = decoderOf(published)
  if (contextLength !== undefined && contextLength > whole.contextLength)
    throw new Error(
      `contextLength is ${described(contextLength)}: expected at most ${whole.contextLength}, which it was made for`,
    )
  const configuration = completeDecoder({ ...whole, contextLength: contextLength ?? whole.contextLength })
  const weights = openWeights(folder)
  try {
    checkDepth({ depth: configuration.depth }, weights.names.size, 'what is there')
    const model = decoder(configuration)
    refuseOthers(weights, model.parameters, configuration)
    const values = new Map(model.parameters.map(parameter => [parameter.name, valuesOf(weights, parameter)]))
    const tokeniser = join(folder, 'tokenizer.json')
    return {
      model,
      configuration,
      values,
      tokeniserPath: existsSync(tokeniser) ? tokeniser : null,
      endTokens: endTokensOf(folder, published),
    }
  } finally {
    weights.close()
  }
}

/**
 * A tensor without a place means that the model computes something else than its configuration says: biases, for one.
 */
function refuseOthers(
  { names }: PublishedWeights,
  parameters: readonly Parameter[],
  { tiedEmbeddings }: DecoderConfiguration,
): void {
  const needed = new Set(parameters.map(parameter => publishedTensor(parameter).name))
  const others = [...names].filter(name => !needed.has(name) && !isSpare(name, tiedEmbeddings))
  if (others.length > 0)
    throw new Error(
      `it has ${others.length} tensors that the model has no place for: ${others.slice(0, 3).join(', ')}` +
        (others.length > 3 ? ', …' : ''),
    )
}

function valuesOf(weights: PublishedWeights, parameter: Parameter): Float32Array {
  const expected = publishedTensor(parameter)
  const file = weights.file(expected.name)
  const { type, shape } = file.tensors.get(expected.name)!
  if (!['F64', 'F32', 'F16', 'BF16'].includes(type))
    throw new Error(`its tensor ${expected.name} is of type ${type}: quantised weights cannot be read`)
  if (shape.join() !== expected.shape.join())
    throw new Error(
      `its tensor ${expected.name} has shape (${shape.join(', ')}): expected (${expected.shape.join(', ')})`,
    )
  const values = file.read(expected.name)
  return expected.transposed ? transposed(values, shape as [number, number]) : values
}

/** generation_config.json knows of more ends than config.json, for models that chat. */
function endTokensOf(folder: string, { vocab_size: vocabulary, eos_token_id: own }: PublishedConfiguration): number[] {
  const path = join(folder, 'generation_config.json')
  const ofGeneration: unknown = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null
  const ends = [Object(ofGeneration).eos_token_id ?? own ?? []].flat() as unknown[]
  return ends.map(token => {
    if (!(Number.isInteger(token) && (token as number) >= 0 && (token as number) < vocabulary))
      throw new Error(`its eos_token_id ${JSON.stringify(token)} is no token: expected one from 0 to ${vocabulary - 1}`)
    return token as number
  })
}
