/**
 * The trainer over compiled graphs: splits batches, accumulates gradients, hands them to the optimisers.
 */

import type { ForwardResult, TokenBatch, Trainer } from './batch-training.ts'
import type { DecoderComputation } from './decoder-computation.ts'
import { sizeOf } from './graph/shape.ts'
import { microBatches } from './micro-batch.ts'
import type { Optimisation } from './optimisers/optimisation.ts'
import type { OptimStepOptions, OptimStepResult } from './optimisers/optimiser.ts'
import type { Parameter } from './parameter.ts'

export class GraphTrainer implements Trainer {
  readonly parameters: readonly Parameter[]
  readonly sequence: number
  readonly #values: ReadonlyMap<string, Float32Array>
  readonly #computation: DecoderComputation
  readonly #optimisation: Optimisation
  #gradients: ReadonlyMap<string, Float32Array> | null = null
  #state: 'idle' | 'busy' | 'disposed' = 'idle'

  constructor(
    parameters: readonly Parameter[],
    values: ReadonlyMap<string, Float32Array>,
    computation: DecoderComputation,
    optimisation: Optimisation,
  ) {
    this.parameters = parameters
    this.sequence = computation.sequence
    this.#values = values
    this.#computation = computation
    this.#optimisation = optimisation
  }

  forward(batch: TokenBatch): Promise<ForwardResult> {
    return this.#alone('forward', () => this.#compute(batch, false))
  }

  forwardBackward(batch: TokenBatch): Promise<ForwardResult> {
    return this.#alone('forwardBackward', () => this.#compute(batch, true))
  }

  optimStep(options: OptimStepOptions): Promise<OptimStepResult> {
    return this.#alone('optimStep', async () => {
      if (!this.#gradients) throw new Error('optimStep: there are no gradients; call forwardBackward first')
      const result = await this.#optimisation.step(this.#values, this.#gradients, options)
      this.#gradients = null
      return result
    })
  }

  gradients(): ReadonlyMap<string, Float32Array> {
    return this.#gradients ?? new Map(this.parameters.map(({ name, shape }) => [name, new Float32Array(sizeOf(shape))]))
  }

  values(): ReadonlyMap<string, Float32Array> {
    return this.#values
  }

  async dispose(): Promise<void> {
    if (this.#state === 'disposed') return
    await this.#alone('dispose', async () => {
      await this.#computation.dispose()
      await this.#optimisation.dispose()
    })
    this.#state = 'disposed'
  }

  async #compute(batch: TokenBatch, withGradients: boolean): Promise<ForwardResult> {
    const { rows, sequence } = this.#computation
    const tokenLogProbabilities = new Float32Array(batch.tokens.length)
    let zLossSum = 0
    let start = 0
    // Gradients of a batch count as a whole or not at all: a bad token in a later piece leaves none of an earlier one.
    let gradients = this.#gradients
    for (const piece of microBatches(batch, rows, sequence)) {
      const computed = await this.#computation.run(this.#values, piece, withGradients)
      const present = computed.tokenLogProbabilities.subarray(0, batch.tokens.length - start)
      tokenLogProbabilities.set(present, start)
      start += piece.tokens.length
      zLossSum += computed.zLossSum
      if (computed.gradients) gradients = gradients ? sums(gradients, computed.gradients) : computed.gradients
    }
    this.#gradients = gradients
    return { lossSum: weightedLoss(batch.weights, tokenLogProbabilities), zLossSum, tokenLogProbabilities }
  }

  /** Two calls at once would mix their gradients. */
  async #alone<T>(verb: string, work: () => Promise<T>): Promise<T> {
    if (this.#state !== 'idle')
      throw new Error(
        this.#state === 'busy'
          ? `${verb}: the trainer is still at work; await each call before the next`
          : `${verb}: the trainer was disposed`,
      )
    this.#state = 'busy'
    try {
      return await work()
    } finally {
      this.#state = 'idle'
    }
  }
}

/** Into the second, which are new arrays. */
function sums(accumulated: ReadonlyMap<string, Float32Array>, fresh: ReadonlyMap<string, Float32Array>) {
  for (const [name, array] of fresh) {
    const earlier = accumulated.get(name)!
    for (let index = 0; index < array.length; index++) array[index]! += earlier[index]!
  }
  return fresh
}

/** In double precision; positions of weight 0 do not count, whatever their log-probability. */
function weightedLoss(weights: Float32Array, logProbabilities: Float32Array): number {
  let sum = 0
  for (let index = 0; index < weights.length; index++)
    if (weights[index] !== 0) sum -= weights[index]! * logProbabilities[index]!
  return sum
}
