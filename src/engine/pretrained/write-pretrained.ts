/**
 * Writes a decoder as a folder that transformers loads: config.json, model.safetensors in single precision, and what
 * came with the model that it was made from.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mergeAdapters } from '../adapters/adapted-weights.ts'
import { adapterParameters } from '../adapters/adapter-parameters.ts'
import { writeNewFolder } from '../checkpoints/new-folder.ts'
import { writeSafetensors } from '../checkpoints/safetensors.ts'
import { writeThrough } from '../checkpoints/write-through.ts'
import type { Adapters } from '../engine.ts'
import { sizeOf } from '../graph/shape.ts'
import type { DecoderConfiguration } from '../models/decoder-configuration.ts'
import type { Model } from '../models/model.ts'
import type { Parameter } from '../parameter.ts'
import { type FieldsOf, requireFields } from '../required-types.ts'
import { publishedOf } from './configuration-to-publish.ts'
import { publishedTensor, transposed } from './published-tensors.ts'
import type { Pretrained } from './read-pretrained.ts'

export interface PretrainedToWrite {
  /** A decoder that is a Llama or a Qwen3 in its architecture, whatever it was trained from. */
  readonly model: Model
  /** Of all its parameters, and of its adapters where it has any; others are refused. */
  readonly values: ReadonlyMap<string, Float32Array>
  /** Become part of the matrices. */
  readonly adapters?: Adapters
  /**
   * The folder it was read from: its tokeniser's files, and what its config.json says beside the architecture, are
   * taken over.
   */
  readonly from?: string
}

/** With what readPretrained gives, which is often handed on as a whole. */
const fields: FieldsOf<PretrainedToWrite & Pretrained> = {
  model: true,
  values: true,
  adapters: true,
  from: true,
  configuration: true,
  tokeniserPath: true,
  endTokens: true,
}

const companions = [
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'added_tokens.json',
  'vocab.json',
  'merges.txt',
  'tokenizer.model',
  'chat_template.jinja',
  'generation_config.json',
]

/**
 * The folder must not be there yet; it appears whole or not at all. Throws one sentence where the model cannot be
 * written so.
 */
export function writePretrained(folder: string, given: PretrainedToWrite): void {
  requireFields('writePretrained: what is given', given, fields)
  const { model, values, adapters, from } = given
  if (model.kind !== 'decoder')
    throw new Error(`cannot write ${folder}: the model is a ${model.kind}, expected a decoder`)
  const configuration = model.configuration as DecoderConfiguration
  const published = publishedOf(configuration)
  checkNames(model, values, adapters)
  const merged = adapters ? mergeAdapters(values, adapters) : values
  const tensors = new Map(model.parameters.map(parameter => tensorOf(parameter, merged.get(parameter.name))))
  writeNewFolder(folder, temporary => {
    const whole =
      from === undefined ? published : overSource(published, readFileSync(join(from, 'config.json'), 'utf8'))
    writeThrough(join(temporary, 'config.json'), `${JSON.stringify(whole, null, 2)}\n`)
    writeSafetensors(join(temporary, 'model.safetensors'), tensors, { format: 'pt' })
    for (const name of from === undefined ? [] : companions)
      if (existsSync(join(from!, name))) writeThrough(join(temporary, name), readFileSync(join(from!, name)))
  })
}

/** What has no place in the model would be lost; adapters that are not there would not be missed. */
function checkNames(model: Model, values: PretrainedToWrite['values'], adapters: Adapters | undefined): void {
  const added = adapters ? adapterParameters(model.parameters, adapters) : []
  for (const { name } of added)
    if (!values.has(name)) throw new Error(`writePretrained: values has no ${name}, which the adapters have`)
  const known = new Set([...model.parameters, ...added].map(({ name }) => name))
  for (const name of values.keys())
    if (!known.has(name))
      throw new Error(
        `writePretrained: values has ${name}, which the model does not have${adapters ? '' : ': give `adapters`'}, or it would be lost`,
      )
}

function tensorOf(parameter: Parameter, values: Float32Array | undefined) {
  const { name, shape, transposed: isTransposed } = publishedTensor(parameter)
  if (values?.length !== sizeOf(shape))
    throw new Error(`${parameter.name} has ${values?.length ?? 'no'} values: expected ${sizeOf(shape)}`)
  const written = isTransposed ? transposed(values, parameter.shape as [number, number]) : values
  return [name, { shape, values: written }] as const
}

/**
 * What the source says is kept, except for fields that would say again, otherwise, what we write; and it may reach
 * further.
 */
function overSource(published: Readonly<Record<string, unknown>>, text: string): Record<string, unknown> {
  const { rope_parameters, dtype, ...source } = JSON.parse(text) as Record<string, unknown>
  const { max_position_embeddings } = source
  return { ...source, ...published, max_position_embeddings }
}
