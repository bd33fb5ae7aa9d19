/**
 * What encoders make of their texts, once for each prompt: the entries of a cache that do not grow.
 */
import type { ModelInput } from '../datum.ts'
import { Graph, type Tensor } from '../graph/graph.ts'
import { rounded } from '../passes/pieces.ts'
import type { Context } from './context.ts'
import type { SamplerPrograms } from './sampler-programs.ts'

/** What a context begins with, before any of its tokens. */
export type Beginning = Pick<Context, 'encoderTokens' | 'fixed' | 'encoderPositions'>

interface Encoding {
  readonly programs: SamplerPrograms
  readonly values: Readonly<Record<string, Float32Array>>
  readonly signal: AbortSignal | undefined
}

/** Texts of like length are encoded together. Without an encoder there is nothing to do. */
export async function encodedPrompts(encoding: Encoding, prompts: readonly ModelInput[]): Promise<Beginning[]> {
  const { model, tokensAtOnce } = encoding.programs.options
  const texts = prompts.map(({ encoderTokens = new Int32Array(0) }) => encoderTokens)
  if (!model.incremental?.encode)
    return texts.map(encoderTokens => ({ encoderTokens, fixed: new Map(), encoderPositions: 0 }))
  const { encoderContextLength = Number.POSITIVE_INFINITY } = model.inputs
  const beginnings = new Map<Int32Array, Beginning>()
  const groups = Map.groupBy(texts, ({ length }) => Math.min(rounded(length), encoderContextLength))
  for (const [positions, group] of groups) {
    const most = Math.max(1, Math.floor(tokensAtOnce / positions))
    for (let start = 0; start < group.length; start += most)
      await encodeTogether(encoding, group.slice(start, start + most), positions, beginnings)
  }
  return texts.map(text => beginnings.get(text)!)
}

async function encodeTogether(
  { programs, values, signal }: Encoding,
  texts: readonly Int32Array[],
  encoderPositions: number,
  beginnings: Map<Int32Array, Beginning>,
): Promise<void> {
  signal?.throwIfAborted()
  const rows = rounded(texts.length)
  const tokens = new Int32Array(rows * encoderPositions)
  const lengths = new Int32Array(rows).fill(1)
  for (const [row, text] of texts.entries()) {
    tokens.set(text, row * encoderPositions)
    lengths[row] = text.length
  }
  const results = await programs.run(
    `encoder ${rows} ${encoderPositions}`,
    () => encoderGraph(programs, rows, encoderPositions),
    { ...values, 'data.encoderTokens': tokens, 'data.encoderLengths': lengths },
  )
  for (const [row, encoderTokens] of texts.entries()) {
    const ofRow = ([name, all]: [string, unknown]): [string, Float32Array] => {
      const size = (all as Float32Array).length / rows
      return [name, (all as Float32Array).slice(row * size, (row + 1) * size)]
    }
    const fixed = new Map(Object.entries(results).map(ofRow))
    beginnings.set(encoderTokens, { encoderTokens, fixed, encoderPositions })
  }
}

function encoderGraph(programs: SamplerPrograms, rows: number, positions: number): Record<string, Tensor> {
  const { model, parameters } = programs.options
  const graph = new Graph()
  const vocabulary = model.inputs.encoderVocabulary ?? model.vocabulary
  const encoder = {
    positions,
    tokens: graph.indices('data.encoderTokens', [rows * positions], vocabulary),
    lengths: graph.indices('data.encoderLengths', [rows], positions + 1),
  }
  const { effective } = parameters(graph, true)
  return Object.fromEntries(model.incremental!.encode!({ graph, parameters: effective, rows, encoder }))
}
