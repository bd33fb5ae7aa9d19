/**
 * Tiny models that transformers saved: their logits are those that transformers computed
 * (fixtures/pretrained_models.py), what is written back is what was read, and what cannot be computed is refused with a
 * sentence.
 */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { openSafetensors, writeSafetensors } from '../checkpoints/safetensors.ts'
import { Graph } from '../graph/graph.ts'
import { compile } from '../graph/program.ts'
import { decoder } from '../models/decoder.ts'
import type { DecoderOptions } from '../models/decoder-configuration.ts'
import { type Pretrained, readPretrained } from './read-pretrained.ts'
import { writePretrained } from './write-pretrained.ts'

const names = ['llama', 'llama-tied', 'qwen3'] as const
const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/pretrained/${name}`, import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'almanac-pretrained-'))
afterAll(() => rmSync(scratch, { recursive: true }))
let folders = 0
const newFolder = () => join(scratch, String(folders++))

interface Expected {
  readonly sequences: readonly { readonly tokens: readonly number[]; readonly logits: readonly number[] }[]
}
const expectedOf = (name: string) => JSON.parse(readFileSync(join(fixture(name), 'expected.json'), 'utf8')) as Expected

/** The logits of the first sequence, in single precision. */
async function logitsOf({ model, values }: Pick<Pretrained, 'model' | 'values'>, tokens: readonly number[]) {
  const graph = new Graph()
  const { logits } = model.build({
    graph,
    parameters: new Map(model.parameters.map(({ name, shape }) => [name, graph.input(name, shape)])),
    rows: 1,
    positions: tokens.length,
    tokens: graph.indices('tokens', [tokens.length], model.vocabulary),
    lengths: graph.indices('lengths', [1], tokens.length + 1),
    dropout: (_, tensor) => tensor,
  })
  const program = await compile({ logits })
  const inputs = { tokens: Int32Array.from(tokens), lengths: Int32Array.of(tokens.length) }
  const run = await program.run({ ...Object.fromEntries(values), ...inputs })
  await program.dispose()
  return run['logits'] as Float32Array
}

const worst = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Math.max(...Array.from(a, (value, index) => Math.abs(value - b[index]!)))

describe.each(names)('%s', name => {
  const pretrained = readPretrained(fixture(name))

  it.each(expectedOf(name).sequences)('has the logits of transformers for $tokens.length tokens', async sequence => {
    const logits = await logitsOf(pretrained, sequence.tokens)
    expect(logits.length).toBe(sequence.logits.length)
    expect(worst(logits, sequence.logits)).toBeLessThan(1e-4)
  })

  it('is the same after it was written and read again, with all that came with it', () => {
    const folder = newFolder()
    writePretrained(folder, { ...pretrained, from: fixture(name) })
    const again = readPretrained(folder)
    expect(again.configuration).toEqual(pretrained.configuration)
    expect(again.endTokens).toEqual(pretrained.endTokens)
    expect([...again.values]).toEqual([...pretrained.values])
    const own = readdirSync(fixture(name)).filter(file => !/^model|^expected/.test(file))
    expect(readdirSync(folder).sort()).toEqual([...own, 'model.safetensors'].sort())
  })

  it('has a tokeniser and an end', () => {
    expect(pretrained.tokeniserPath).toBe(join(fixture(name), 'tokenizer.json'))
    expect(pretrained.endTokens).toEqual([2])
  })
})

it('reads the two spellings of the rotary base and its scaling, and what differs between the families', () => {
  const configurations = names.map(name => readPretrained(fixture(name)).configuration)
  expect(configurations.map(({ rotaryBase }) => rotaryBase)).toEqual([500, 10_000, 1_000_000])
  expect(configurations.map(({ rotaryScaling }) => rotaryScaling?.factor)).toEqual([8, undefined, undefined])
  expect(configurations.map(({ headWidth }) => headWidth)).toEqual([8, 8, 12])
  expect(configurations.map(({ queryKeyNorm }) => queryKeyNorm)).toEqual([false, false, true])
  expect(configurations.map(({ tiedEmbeddings }) => tiedEmbeddings)).toEqual([false, true, true])
})

it('takes a shorter context than the model was made for, and no longer one; it is written as long as it was', () => {
  const shorter = readPretrained(fixture('llama'), { contextLength: 32 })
  expect(shorter.model.contextLength).toBe(32)
  expect(() => readPretrained(fixture('llama'), { contextLength: 129 })).toThrow(
    'contextLength is 129: expected at most 128, which it was made for',
  )
  const folder = newFolder()
  writePretrained(folder, { ...shorter, from: fixture('llama') })
  expect(readPretrained(folder).model.contextLength).toBe(128)
})

describe('a decoder of our own', () => {
  const configuration: DecoderOptions = {
    vocabulary: 11,
    contextLength: 8,
    depth: 1,
    width: 8,
    heads: 2,
    queryKeyNorm: true,
  }

  it('can be written as one of the published kinds, and read as that', async () => {
    const model = decoder(configuration)
    const values = model.initialValues(3)
    const folder = newFolder()
    writePretrained(folder, { model, values })
    const again = readPretrained(folder)
    expect(again.endTokens).toEqual([])
    expect(again.tokeniserPath).toBeNull()
    expect(await logitsOf(again, [1, 2, 3, 10])).toEqual(await logitsOf({ model, values }, [1, 2, 3, 10]))
  })

  it('is refused where it has what those do not, and nothing is written', () => {
    const model = decoder({ ...configuration, positions: 'alibi', normKind: 'layer' })
    const folder = newFolder()
    expect(() => writePretrained(folder, { model, values: model.initialValues(1) })).toThrow(
      'positions is "alibi": expected "rotary"; normKind is "layer": expected "rms"',
    )
    expect(existsSync(folder)).toBe(false)
  })

  it('is refused without all of its values, or where something is there', () => {
    const model = decoder(configuration)
    const values = model.initialValues(1)
    expect(() => writePretrained(scratch, { model, values })).toThrow('it is already there')
    values.delete('blocks.0.attention.key')
    expect(() => writePretrained(newFolder(), { model, values })).toThrow(
      'blocks.0.attention.key has no values: expected 64',
    )
  })
})

/** A copy of a fixture with changes to its configuration. */
function changed(name: (typeof names)[number], changes: object): string {
  const folder = newFolder()
  cpSync(fixture(name), folder, { recursive: true })
  const path = join(folder, 'config.json')
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...changes }))
  return folder
}

describe('what cannot be computed is refused: ', () => {
  it.each<[object, string]>([
    [{ model_type: 'gpt2' }, 'its model_type is "gpt2": Llama and Qwen3 style (llama, qwen3) can be read'],
    [{ model_type: 'toString' }, 'its model_type is "toString"'],
    [
      { architectures: ['LlamaForSequenceClassification'] },
      'LlamaForSequenceClassification (expected LlamaForCausalLM)',
    ],
    [{ attention_bias: true, mlp_bias: true }, 'biases of attention (attention_bias); biases of feed-forward layers'],
    [{ hidden_act: 'gelu' }, 'the activation "gelu" (expected "silu")'],
    [{ quantization_config: { bits: 4 } }, 'quantised weights (quantization_config)'],
    [{ use_sliding_window: true }, 'sliding windows'],
    [{ layer_types: ['full_attention', 'sliding_attention'] }, 'sliding windows'],
    [{ rope_scaling: { type: 'yarn', factor: 4 } }, 'rotary positions of type "yarn"'],
    [
      { rope_scaling: { rope_type: 'llama3', factor: 4 } },
      'Llama 3 scaling of rotary positions without its four numbers',
    ],
    [{ rope_parameters: { rope_type: 'default', partial_rotary_factor: 0.5 } }, 'on part of a head'],
    [{ model_type: 'qwen3', architectures: ['Qwen3ForCausalLM'] }, 'no head_dim or num_key_value_heads'],
    [{ num_key_value_heads: 3 }, 'keyValueHeads is 3: expected a divisor of heads, which is 4'],
    [{ hidden_size: -32 }, 'hidden_size'],
    [{ eos_token_id: [2, 40] }, 'its eos_token_id 40 is no token: expected one from 0 to 39'],
    [
      { num_hidden_layers: 1 },
      'it has 9 tensors that the model has no place for: model.layers.1.input_layernorm.weight',
    ],
    [{ num_hidden_layers: 1e9 }, 'it says that depth is 1000000000, and what is there holds 21 tensors'],
    [{ num_hidden_layers: 3 }, 'it has no tensor model.layers.2.input_layernorm.weight, which its configuration needs'],
    [{ intermediate_size: 28 }, 'its tensor model.layers.0.mlp.gate_proj.weight has shape (24, 32): expected (28, 32)'],
  ])('%j', (changes, sentence) => {
    const folder = changed('llama', changes)
    expect(() => readPretrained(folder)).toThrow(`${folder} cannot be used as a pretrained model: `)
    expect(() => readPretrained(folder)).toThrow(sentence)
  })

  it('weights in other formats, or none', () => {
    const folder = changed('llama', {})
    rmSync(join(folder, 'model.safetensors'))
    writeFileSync(join(folder, 'pytorch_model.bin'), 'x')
    expect(() => readPretrained(folder)).toThrow('neither model.safetensors nor model.safetensors.index.json')
    rmSync(join(folder, 'config.json'))
    expect(() => readPretrained(folder)).toThrow('there is no config.json')
  })

  it('tensors that the architecture has no place for, as biases are', () => {
    const folder = changed('llama', {})
    const path = join(folder, 'model.safetensors')
    const file = openSafetensors(path)
    const tensors = new Map([...file.tensors].map(([name, { shape }]) => [name, { shape, values: file.read(name) }]))
    file.close()
    rmSync(path)
    const bias = 'model.layers.0.self_attn.q_proj.bias'
    writeSafetensors(path, tensors.set(bias, { shape: [32], values: new Float32Array(32) }))
    expect(() => readPretrained(folder)).toThrow(`it has 1 tensors that the model has no place for: ${bias}`)
  })

  it.each([
    ['../llama/model.safetensors', 'expected a safetensors file beside it'],
    ['/etc/passwd', 'expected a safetensors file beside it'],
    ['model-00001-of-00003.safetensors', 'and it is not there'],
  ])('an index that says %s', (file, sentence) => {
    const folder = changed('llama-tied', {})
    const path = join(folder, 'model.safetensors.index.json')
    const index = JSON.parse(readFileSync(path, 'utf8')) as { weight_map: Record<string, string> }
    index.weight_map['model.norm.weight'] = file
    writeFileSync(path, JSON.stringify(index))
    expect(() => readPretrained(folder)).toThrow(sentence)
  })
})
