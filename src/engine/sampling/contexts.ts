/**
 * Computes contexts: of prompts, and of prefixes with more tokens, several at once.
 */
import type { ModelInput } from '../datum.ts'
import { rounded } from '../passes/pieces.ts'
import { CacheRows, type CacheSegment, computedSegment } from './cache-rows.ts'
import { Context, contentKey } from './context.ts'
import { type Beginning, encodedPrompts } from './encoded-prompts.ts'
import { type ExtensionShape, extensionGraph, freshOutput } from './extension-graph.ts'
import type { Results, SamplerPrograms } from './sampler-programs.ts'

export interface ContextMaker {
  readonly programs: SamplerPrograms
  readonly values: Readonly<Record<string, Float32Array>>
  readonly owner: object
  readonly signal: AbortSignal | undefined
}

interface Work extends Beginning {
  readonly tokens: Int32Array
  segment: CacheSegment | null
}

/** Equal prompts are computed once, and give the same context. */
export async function contextsOf(maker: ContextMaker, prompts: readonly ModelInput[]): Promise<Context[]> {
  const keys = prompts.map(contentKey)
  const different = [...new Map(keys.map((key, index) => [key, prompts[index]!])).values()]
  const beginnings = await encodedPrompts(maker, different)
  const contexts = await completed(
    maker,
    // Copies: a prefix outlives the arrays that it was made of, which may be written to again.
    different.map(({ tokens }, index) => ({ ...beginnings[index]!, tokens: tokens.slice(), segment: null })),
  )
  const byKey = new Map(different.map((prompt, index) => [contentKey(prompt), contexts[index]!]))
  return keys.map(key => byKey.get(key)!)
}

export async function extended(maker: ContextMaker, context: Context, tokens: Int32Array): Promise<Context> {
  const all = new Int32Array(context.length + tokens.length)
  all.set(context.tokens)
  all.set(tokens, context.length)
  const { encoderTokens, fixed, encoderPositions, segment } = context
  const [result] = await completed(maker, [{ tokens: all, encoderTokens, fixed, encoderPositions, segment }])
  return result!
}

/** Computes what is missing of each, up to the last token. */
async function completed(maker: ContextMaker, given: readonly Work[]): Promise<Context[]> {
  const { tokensAtOnce, model } = maker.programs.options
  // Copies: segments are filled in.
  const works = given.map(work => ({ ...work }))
  if (model.incremental) {
    for (;;) {
      const open = works.filter(work => missing(work) > 0)
      if (open.length === 0) break
      open.sort((a, b) => missing(b) - missing(a))
      const count = Math.min(rounded(missing(open[0]!)), tokensAtOnce, model.contextLength)
      const most = Math.max(1, Math.floor(tokensAtOnce / count))
      await computeTogether(maker, open.slice(0, most), count)
    }
  }
  return works.map(work => new Context({ ...work, owner: maker.owner }))
}

const missing = ({ tokens, segment }: Work) => tokens.length - 1 - (segment?.end ?? 0)

/** At most `count` positions of each. */
async function computeTogether(maker: ContextMaker, works: readonly Work[], count: number): Promise<void> {
  maker.signal?.throwIfAborted()
  const { programs, values } = maker
  const { layout } = programs
  const encoderPositions = Math.max(...works.map(work => work.encoderPositions))
  const rows = rounded(works.length)
  const longest = Math.max(...works.map(({ segment }) => segment?.end ?? 0))
  const cache = new CacheRows(layout, rows, rounded(longest), encoderPositions)
  const tokens = new Int32Array(rows * count)
  const counts = works.map(work => Math.min(count, missing(work)))
  for (const [row, work] of works.entries()) {
    cache.fill(row, work.segment, work.fixed, work.encoderPositions)
    const start = cache.lengths[row]!
    tokens.set(work.tokens.subarray(start, start + counts[row]!), row * count)
  }
  const shape = { rows, capacity: cache.capacity, encoderPositions, count, logProbabilities: false }
  const feeds = { ...values, ...cache.feeds(), 'data.tokens': tokens }
  // A model may go on without keeping anything.
  const results = layout.growing.length > 0 ? await runExtension(programs, shape, feeds) : {}
  const computed = (entry: string) => results[freshOutput(entry)] as Float32Array
  for (const [row, work] of works.entries())
    work.segment = computedSegment(layout, work.segment, computed, row, count, counts[row]!)
}

export function runExtension(
  programs: SamplerPrograms,
  shape: ExtensionShape,
  feeds: Record<string, Float32Array | Int32Array>,
): Promise<Results> {
  const { model, parameters } = programs.options
  return programs.run(`extension ${JSON.stringify(shape)}`, () => extensionGraph(model, parameters, shape), feeds)
}
