/**
 * One pass over data: cuts them into pieces, compiles what is not yet compiled, and runs it piece after piece.
 */
import type { Datum } from '../datum.ts'
import { Graph } from '../graph/graph.ts'
import { numbersComputed } from '../graph/graph-size.ts'
import { compile } from '../graph/program.ts'
import type { Loss } from '../losses/loss.ts'
import type { Model } from '../models/model.ts'
import type { ForwardResult } from '../training.ts'
import {
  buildComputation,
  type ComputationShape,
  type DropoutMask,
  gradientOf,
  type ParameterTensors,
} from './computation.ts'
import { ForwardResults } from './forward-results.ts'
import { dropoutInputs, pieceInputs } from './piece-inputs.ts'
import { cutIntoPieces, rounded } from './pieces.ts'
import { Programs } from './programs.ts'

export interface PassesOptions {
  readonly model: Model
  readonly parameters: ParameterTensors
  /** Names of the parameters that gradients are made for. */
  readonly trained: readonly string[]
  readonly hasAdapters: boolean
  readonly threads: number
  readonly tokensAtOnce: number
}

export interface PassOptions {
  readonly gradients: boolean
  readonly capture: readonly string[]
  /** Null: dropout is off. */
  readonly dropoutSeed: number | null
  /** Ends the pass between two pieces. */
  readonly signal?: AbortSignal | undefined
}

export interface Pass {
  readonly result: ForwardResult
  /** Summed over the pieces, new arrays; null where none were asked for, or none can be other than zero. */
  readonly gradients: Map<string, Float32Array> | null
}

/**
 * How many numbers the tensors of all programs that are kept may have together. The runtime needs about half of them at once, so this is about
 * two gigabytes.
 */
const keptNumbers = 2 ** 30
/** What a program costs however small it is, so that there are at most 64. */
const leastNumbers = 2 ** 24

export class Passes {
  readonly #options: PassesOptions
  readonly #programs: Programs<readonly DropoutMask[]>
  /** Whether the model has dropout; null until it is needed. Where it has none, one program serves with and without a seed. */
  #hasDropout: boolean | null = null

  constructor(options: PassesOptions) {
    this.#options = options
    this.#programs = new Programs(keptNumbers)
  }

  /** The data were checked. */
  async run(
    values: Readonly<Record<string, Float32Array>>,
    data: readonly Datum[],
    loss: Loss,
    { gradients: withGradients, capture, dropoutSeed, signal }: PassOptions,
  ): Promise<Pass> {
    const { model, tokensAtOnce, trained } = this.#options
    const longest = {
      positions: model.contextLength,
      encoderPositions: model.inputs.encoderContextLength ?? Number.POSITIVE_INFINITY,
    }
    const results = new ForwardResults(data, model.vocabulary, capture)
    let gradients: Map<string, Float32Array> | null = null
    for (const { members, targets, adapter } of this.#groups(data)) {
      const lengths = members.map(member => ({
        positions: data[member]!.input.tokens.length,
        encoderPositions: data[member]!.input.encoderTokens?.length ?? 0,
      }))
      const temperature = members.some(member => (data[member]!.distribution?.temperature ?? 1) !== 1)
      const mask = members.some(member => removesTokens(data[member]!))
      for (const inGroup of cutIntoPieces(lengths, tokensAtOnce, longest)) {
        signal?.throwIfAborted()
        const piece = { ...inGroup, members: inGroup.members.map(index => members[index]!) }
        const { rows, positions, encoderPositions } = piece
        const shape: ComputationShape = {
          loss,
          // Without adapters nothing that is trained takes part.
          gradients: withGradients && adapter,
          rows,
          positions,
          encoderPositions,
          targets: targets === 'several' ? widestTargets(piece.members.map(member => data[member]!)) : targets,
          temperature,
          mask,
          dropout: false,
          adapter,
          capture,
        }
        const dropout = dropoutSeed !== null && this.#usesDropout(shape)
        const { program, about: masks } = await this.#compiled({ ...shape, dropout })
        const outputs = await program.run({
          ...values,
          ...pieceInputs(data, piece, shape, model),
          ...dropoutInputs(piece, masks, dropoutSeed ?? 0),
        })
        results.add(piece, shape, outputs)
        if (!shape.gradients) continue
        if (gradients) addInto(gradients, outputs)
        else gradients = new Map(trained.map(name => [name, outputs[gradientOf(name)] as Float32Array]))
      }
    }
    return { result: results.result(), gradients }
  }

  dispose(): Promise<void> {
    return this.#programs.dispose()
  }

  #compiled(shape: ComputationShape) {
    const { model, parameters, threads } = this.#options
    return this.#programs.find(JSON.stringify(shape), async () => {
      const { outputs, dropoutMasks } = buildComputation(new Graph(), model, parameters, shape)
      const size = leastNumbers + numbersComputed(Object.values(outputs))
      return { program: await compile(outputs, { threads }), about: dropoutMasks, size }
    })
  }

  #usesDropout(shape: ComputationShape): boolean {
    const { model, parameters } = this.#options
    const probe = { ...shape, gradients: false, dropout: true }
    this.#hasDropout ??= buildComputation(new Graph(), model, parameters, probe).dropoutMasks.length > 0
    return this.#hasDropout
  }

  /** Data that one computation can take together, in the order in which each kind comes first. */
  #groups(data: readonly Datum[]) {
    const groups = new Map<
      string,
      { members: number[]; targets: 'single' | 'several' | 'vocabulary'; adapter: boolean }
    >()
    for (const [index, datum] of data.entries()) {
      const targets =
        datum.targets === 'vocabulary' ? 'vocabulary' : datum.targets instanceof Int32Array ? 'single' : 'several'
      const adapter = !this.#options.hasAdapters || datum.adapter !== false
      const key = `${targets} ${adapter}`
      const group = groups.get(key)
      if (group) group.members.push(index)
      else groups.set(key, { members: [index], targets, adapter })
    }
    return groups.values()
  }
}

function removesTokens({ distribution }: Datum): boolean {
  return distribution !== undefined && ((distribution.blocked?.length ?? 0) > 0 || distribution.support !== undefined)
}

/** Rounded up like lengths. */
function widestTargets(data: readonly Datum[]): number {
  let widest = 1
  for (const { targets } of data)
    if (typeof targets === 'object' && 'offsets' in targets)
      for (let position = 0; position + 1 < targets.offsets.length; position++)
        widest = Math.max(widest, targets.offsets[position + 1]! - targets.offsets[position]!)
  return rounded(widest)
}

function addInto(gradients: Map<string, Float32Array>, outputs: Readonly<Record<string, ArrayLike<number>>>): void {
  for (const [name, sum] of gradients) {
    const fresh = outputs[gradientOf(name)]!
    for (let index = 0; index < sum.length; index++) sum[index]! += fresh[index]!
  }
}
