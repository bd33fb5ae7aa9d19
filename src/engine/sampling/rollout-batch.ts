/**
 * Rows that are drawn together, each in a slot: takes in rows that wait, keeps their number and the room for their past in a few sizes, and
 * draws a piece of each.
 */
import { rounded } from '../passes/pieces.ts'
import { CacheRows } from './cache-rows.ts'
import { choiceFeeds } from './choice-feeds.ts'
import type { ChoiceVariant } from './choose-token.ts'
import { Context } from './context.ts'
import type { ContextMaker } from './contexts.ts'
import type { DrawnRow } from './drawn-row.ts'
import { type RolloutShape, rolloutGraph, writtenOutput } from './rollout-graph.ts'
import type { Feeds, Results } from './sampler-programs.ts'
import { wholeRolloutGraph } from './whole-rollout-graph.ts'

export interface RolloutPlan {
  readonly choice: ChoiceVariant
  readonly stops: number
  /** Most tokens of a row that are drawn in one piece. Default: as many as suit the model and the number of rows. */
  readonly length: number | undefined
  /** Positions that the longest row may have to keep. */
  readonly longest: number
  readonly encoderPositions: number
}

export interface Finished {
  readonly row: DrawnRow
  /** Where it was asked for. */
  readonly context: Context | null
}

const mostRows = 256
/** Numbers of all rows' pasts together, and of the logits of a step. */
const mostKept = 2 ** 26
const mostLogits = 2 ** 22
/**
 * Each token copies what its piece keeps: a long piece should keep no more than this. A short one takes the matrices that are prepared for each
 * piece too often.
 */
const keptInPiece = 2 ** 18
const [shortestPiece, longestPiece] = [8, 32]

export class RolloutBatch {
  readonly #maker: ContextMaker
  readonly #plan: RolloutPlan
  readonly #mostRows: number
  #slots: (DrawnRow | null)[] = []
  #cache: CacheRows

  constructor(maker: ContextMaker, plan: RolloutPlan) {
    this.#maker = maker
    this.#plan = plan
    const { layout, options } = maker.programs
    const kept = layout.growing.reduce((sum, { outer, inner }) => sum + outer * inner * plan.longest, 1)
    const fitting = Math.min(mostRows, mostKept / kept, mostLogits / options.model.vocabulary)
    this.#mostRows = 2 ** Math.floor(Math.log2(Math.max(1, fitting)))
    this.#cache = new CacheRows(layout, 0, 0, plan.encoderPositions)
  }

  get going(): number {
    return this.#slots.filter(row => row !== null).length
  }

  /** To be called when nothing is drawn any more. */
  end(): void {
    this.#cache.giveBack(this.#maker.programs.pool)
  }

  /** Takes as many rows as there is place for from the front of those that wait. */
  join(waiting: DrawnRow[]): void {
    const { going } = this
    const wanted = Math.min(this.#mostRows, going + waiting.length)
    // Fewer rows are not worth a program of their own before half are gone.
    const current = this.#slots.length
    const rows = wanted <= current && 2 * wanted > current ? current : rounded(wanted)
    const joining = waiting.splice(0, Math.min(rows, this.#mostRows) - going)
    this.#arrange(rows, Math.max(0, ...joining.map(({ context }) => context.segment?.end ?? 0)))
    for (const row of joining) {
      const slot = this.#slots.indexOf(null)
      this.#slots[slot] = row
      const { segment, fixed, encoderPositions } = row.context
      this.#cache.fill(slot, segment, fixed, encoderPositions)
    }
  }

  /** The next tokens of every row; returns those that have ended. */
  async draw(): Promise<Finished[]> {
    const { programs, owner } = this.#maker
    const { incremental } = programs.options.model
    const slots = this.#slots
    const { results, length } = await (incremental ? this.#drawStepByStep() : this.#drawWhole())
    const taken = slots.map((row, slot) => row?.accept(results, slot, slots.length) ?? 0)
    const goesOn = (row: DrawnRow | null) => row !== null && (!row.ended || row.request.keepPrefix === true)
    if (incremental) {
      const needed = slots.map((row, slot) => (goesOn(row) ? this.#cache.lengths[slot]! + taken[slot]! : 0))
      this.#arrange(slots.length, Math.max(0, ...needed))
      const computed = (entry: string) => results[writtenOutput(entry)] as Float32Array
      for (const [slot, row] of slots.entries())
        if (goesOn(row)) this.#cache.append(slot, computed, slot, length, taken[slot]!)
    }
    const finished: Finished[] = []
    for (const [slot, row] of slots.entries()) {
      if (!row?.ended) continue
      let context: Context | null = null
      if (row.request.keepPrefix) {
        const segment = incremental ? this.#cache.segment(slot, row.context.segment) : null
        const { encoderTokens, fixed, encoderPositions } = row.context
        context = new Context({ tokens: row.allTokens, segment, encoderTokens, fixed, encoderPositions, owner })
      }
      finished.push({ row, context })
      this.#slots[slot] = null
    }
    return finished
  }

  /** Changes the number of slots, the rows in them moving to the front, or the room for their past to hold at least `needed`. */
  #arrange(rows: number, needed: number): void {
    const from = this.#cache
    const kept = this.#slots.flatMap((row, slot) => (row ? [slot] : []))
    const most = Math.max(needed, ...kept.map(slot => from.lengths[slot]!))
    const isRoomy = most <= from.capacity
    if (rows === from.rows && isRoomy) return
    const { longest, encoderPositions } = this.#plan
    const capacity = isRoomy && from.capacity > 0 ? from.capacity : roomFor(most, longest)
    const { layout, pool } = this.#maker.programs
    const next = new CacheRows(layout, rows, capacity, encoderPositions, pool)
    const order = rows === from.rows ? this.#slots.map((_, slot) => slot) : kept
    const slots = new Array<DrawnRow | null>(rows).fill(null)
    for (const [slot, earlier] of order.entries()) {
      slots[slot] = this.#slots[earlier]!
      if (slots[slot]) next.take(slot, from, earlier)
    }
    this.#slots = slots
    this.#cache = next
    from.giveBack(pool)
  }

  async #drawStepByStep(): Promise<{ results: Results; length: number }> {
    const { programs } = this.#maker
    const { model, parameters } = programs.options
    const { encoderPositions, stops, choice } = this.#plan
    const { rows, capacity } = this.#cache
    const most = Math.max(...this.#slots.map(row => row?.remaining ?? 0))
    const length = Math.min(this.#plan.length ?? this.#suitingLength(), 2 ** Math.ceil(Math.log2(most)))
    const shape: RolloutShape = { rows, capacity, encoderPositions, length, stops, choice }
    const uniforms = new Float64Array(length * rows)
    for (const [slot, row] of this.#slots.entries())
      if (row) for (let ahead = 0; ahead < length; ahead++) uniforms[ahead * rows + slot] = row.uniform(ahead)
    const results = await programs.run(
      `rollout ${JSON.stringify(shape)}`,
      () => rolloutGraph(model, parameters, shape),
      {
        ...this.#commonFeeds(),
        ...this.#cache.feeds(),
        'data.tokens': Int32Array.from(this.#slots, row => row?.lastToken ?? 0),
        'data.uniforms': uniforms,
        'data.iterations': Int32Array.of(Math.min(length, most)),
        'row.limit': Int32Array.from(this.#slots, row => row?.remaining ?? 0),
      },
    )
    return { results, length }
  }

  #suitingLength(): number {
    const { growing } = this.#maker.programs.layout
    const ofPosition = growing.reduce((sum, { outer, inner }) => sum + outer * inner, 1) * this.#cache.rows
    const length = 2 ** Math.floor(Math.log2(keptInPiece / ofPosition))
    return Math.min(longestPiece, Math.max(shortestPiece, length))
  }

  /** One token of every row, by a pass over all that it has read. */
  async #drawWhole(): Promise<{ results: Results; length: number }> {
    const { programs } = this.#maker
    const { model, parameters } = programs.options
    const texts = this.#slots.map(row => row?.allTokens ?? new Int32Array(1))
    const encoderTexts = this.#slots.map(row => row?.context.encoderTokens ?? new Int32Array(0))
    const longest = (arrays: readonly Int32Array[]) => rounded(Math.max(...arrays.map(({ length }) => length)))
    const rows = this.#slots.length
    const positions = Math.min(longest(texts), model.contextLength)
    const { encoderContextLength = Number.POSITIVE_INFINITY } = model.inputs
    const encoderPositions = Math.min(longest(encoderTexts), encoderContextLength)
    const shape = { rows, positions, encoderPositions, choice: this.#plan.choice }
    const results = await programs.run(
      `whole rollout ${JSON.stringify(shape)}`,
      () => wholeRolloutGraph(model, parameters, shape),
      {
        ...this.#commonFeeds(),
        ...padded('data.tokens', 'data.lengths', texts, positions),
        ...padded('data.encoderTokens', 'data.encoderLengths', encoderTexts, encoderPositions),
        'data.uniforms': Float64Array.from(this.#slots, row => row?.uniform(0) ?? 0.5),
      },
    )
    return { results, length: 1 }
  }

  #commonFeeds(): Feeds {
    const { programs, values } = this.#maker
    const requests = this.#slots.map(row => row?.request ?? null)
    return {
      ...values,
      ...choiceFeeds(requests, this.#plan.choice, this.#plan.stops, programs.options.model.vocabulary),
    }
  }
}

/**
 * Room for twice as many positions, at least 32, but no more than will be needed; in steps of an eighth of the next power of two. All of it
 * is read for every token, and each other size is compiled anew.
 */
function roomFor(positions: number, longest: number): number {
  const wanted = Math.min(longest, Math.max(2 * positions, 32))
  const step = Math.max(1, 2 ** Math.ceil(Math.log2(Math.max(1, wanted))) / 8)
  return Math.ceil(wanted / step) * step
}

function padded(tokens: string, lengths: string, texts: readonly Int32Array[], positions: number): Feeds {
  const all = new Int32Array(texts.length * positions)
  for (const [row, text] of texts.entries()) all.set(text, row * positions)
  return { [tokens]: all, [lengths]: Int32Array.from(texts, ({ length }) => Math.max(1, length)) }
}
