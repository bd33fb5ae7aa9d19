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
import { addInto } from './add-into.ts'
import {
  buildComputation,
  type ComputationShape,
  type DropoutMask,
  gradientOf,
  type ParameterTensors,
} from './computation.ts'
import { ForwardResults } from './forward-results.ts'
import { dropoutInputs, pieceInputs } from './piece-inputs.ts'
import { Programs } from './programs.ts'
import { shapedPieces } from './shaped-pieces.ts'

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
    const { model, tokensAtOnce, trained, hasAdapters } = this.#options
    const longest = {
      positions: model.contextLength,
      encoderPositions: model.inputs.encoderContextLength ?? Number.POSITIVE_INFINITY,
    }
    const results = new ForwardResults(data, model.vocabulary, capture)
    let gradients: Map<string, Float32Array> | null = null
    const lengths = data.map(({ input: { tokens, encoderTokens = [] } }) => {
      return { positions: tokens.length, encoderPositions: encoderTokens.length }
    })
    for (const { piece, shape: ofPiece } of shapedPieces(data, lengths, { tokensAtOnce, longest, hasAdapters })) {
      signal?.throwIfAborted()
      // Without adapters nothing that is trained takes part.
      const gradientsToo = withGradients && ofPiece.adapter
      const shape: ComputationShape = { ...ofPiece, loss, gradients: gradientsToo, dropout: false, capture }
      const dropout = dropoutSeed !== null && this.#usesDropout(shape)
      const { program, about: masks } = await this.#compiled({ ...shape, dropout })
      const outputs = await program.run({
        ...values,
        ...pieceInputs(data, piece, shape, model),
        ...dropoutInputs(piece, masks, dropoutSeed ?? 0),
      })
      results.add(piece, shape, outputs)
      if (!shape.gradients) continue
      const ofThisPiece = new Map(trained.map(name => [name, outputs[gradientOf(name)] as Float32Array]))
      gradients = gradients ? addInto(gradients, ofThisPiece) : ofThisPiece
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
}
