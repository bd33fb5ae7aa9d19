/**
 * The embedded trainer: any model, trained on this machine's CPU. What a trainer does is said in training.ts.
 */
import type { Datum } from '../datum.ts'
import { sizeOf } from '../graph/shape.ts'
import { checkData } from '../losses/check-data.ts'
import type { DatumFor, Loss } from '../losses/loss.ts'
import type { Model } from '../models/model.ts'
import { Optimisation } from '../optimisers/optimisation.ts'
import type { OptimStepOptions, OptimStepResult } from '../optimisers/optimiser.ts'
import type { Parameter } from '../parameter.ts'
import type { Sampler } from '../sampling.ts'
import type { ForwardOptions, ForwardResult, ParameterArrays, Trainer } from '../training.ts'
import { CallQueue } from './call-queue.ts'
import { plainParameters } from './computation.ts'
import { maskKey } from './dropout-masks.ts'
import { Passes } from './passes.ts'

export interface EmbeddedTrainerOptions {
  readonly model: Model
  readonly seed: number
  readonly values: ReadonlyMap<string, Float32Array> | undefined
  readonly threads: number
  readonly tokensAtOnce: number
}

export class EmbeddedTrainer implements Trainer {
  readonly parameters: readonly Parameter[]
  readonly vocabulary: number
  readonly contextLength: number
  readonly #model: Model
  readonly #seed: number
  /** What is trained: changed in place by steps. */
  readonly #values: ReadonlyMap<string, Float32Array>
  readonly #passes: Passes
  readonly #optimisation: Optimisation
  readonly #queue = new CallQueue('trainer')
  #gradients: Map<string, Float32Array> | null = null
  #version = 0
  /** Calls that took dropout masks of their own. */
  #dropoutCalls = 0

  constructor({ model, seed, values, threads, tokensAtOnce }: EmbeddedTrainerOptions) {
    const { parameters, vocabulary, contextLength } = model
    this.parameters = parameters
    this.vocabulary = vocabulary
    this.contextLength = contextLength
    this.#model = model
    this.#seed = seed
    const initial = model.initialValues(seed)
    this.#values = new Map(parameters.map(({ name }) => [name, initial.get(name)!]))
    if (values) this.#replace('createTrainer', values)
    this.#optimisation = new Optimisation(parameters, threads)
    this.#passes = new Passes({
      model,
      parameters: plainParameters(parameters),
      trained: parameters.map(({ name }) => name),
      hasAdapters: false,
      threads,
      tokensAtOnce,
    })
  }

  get version(): number {
    return this.#version
  }

  forward<L extends Loss>(
    data: readonly DatumFor<L>[],
    loss: L,
    { capture = [], dropoutSeed = null }: ForwardOptions = {},
  ): Promise<ForwardResult> {
    return this.#queue.add('forward', async () => {
      this.#check('forward', data, loss, capture)
      const options = { gradients: false, capture, dropoutSeed }
      return (await this.#passes.run(this.#record(), data, loss, options)).result
    })
  }

  forwardBackward<L extends Loss>(
    data: readonly DatumFor<L>[],
    loss: L,
    { capture = [], dropoutSeed }: ForwardOptions = {},
  ): Promise<ForwardResult> {
    return this.#queue.add('forwardBackward', async () => {
      this.#check('forwardBackward', data, loss, capture)
      const seed = dropoutSeed === undefined ? maskKey(this.#seed, this.#dropoutCalls, 'call') : dropoutSeed
      const options = { gradients: true, capture, dropoutSeed: seed }
      const { result, gradients } = await this.#passes.run(this.#record(), data, loss, options)
      if (dropoutSeed === undefined) this.#dropoutCalls++
      this.#accumulate(gradients ?? this.#zeros())
      return result
    })
  }

  optimStep(options: OptimStepOptions): Promise<OptimStepResult> {
    return this.#queue.add('optimStep', async () => {
      if (!this.#gradients) throw new Error('optimStep: there are no gradients; call forwardBackward first')
      const result = await this.#optimisation.step(this.#values, this.#gradients, options)
      this.#gradients = null
      this.#version++
      return result
    })
  }

  gradients(): Promise<ParameterArrays> {
    return this.#queue.add('gradients', () => copies(this.#gradients ?? this.#zeros()))
  }

  values(): Promise<ParameterArrays> {
    return this.#queue.add('values', () => copies(this.#values))
  }

  setValues(values: ParameterArrays): Promise<void> {
    return this.#queue.add('setValues', () => this.#replace('setValues', values))
  }

  save(): Promise<void> {
    return Promise.reject(new Error('save: not yet'))
  }

  load(): Promise<void> {
    return Promise.reject(new Error('load: not yet'))
  }

  snapshot(): Promise<Sampler> {
    return Promise.reject(new Error('snapshot: not yet'))
  }

  dispose(): Promise<void> {
    return this.#queue.close(async () => {
      await this.#passes.dispose()
      await this.#optimisation.dispose()
    })
  }

  #check(verb: string, data: readonly Datum[], loss: Loss, capture: readonly string[]): void {
    checkData(verb, data, loss, this.#model)
    for (const name of capture)
      if (!(name in this.#model.readouts))
        throw new Error(
          `${verb}: there is no read-out ${name}; this model has ${Object.keys(this.#model.readouts).join(', ') || 'none'}`,
        )
  }

  #replace(verb: string, values: ParameterArrays): void {
    for (const [name, array] of values) {
      const own = this.#values.get(name)
      if (!own) throw new Error(`${verb}: there is no parameter ${name}`)
      if (own.length !== array.length)
        throw new Error(`${verb}: ${name} has ${array.length} values: expected ${own.length}`)
    }
    for (const [name, array] of values) this.#values.get(name)!.set(array)
  }

  #accumulate(fresh: Map<string, Float32Array>): void {
    if (this.#gradients)
      for (const [name, sum] of fresh) {
        const earlier = this.#gradients.get(name)!
        for (let index = 0; index < sum.length; index++) sum[index]! += earlier[index]!
      }
    this.#gradients = fresh
  }

  #record(): Record<string, Float32Array> {
    return Object.fromEntries(this.#values)
  }

  #zeros(): Map<string, Float32Array> {
    return new Map(this.parameters.map(({ name, shape }) => [name, new Float32Array(sizeOf(shape))]))
  }
}

function copies(arrays: ParameterArrays): ParameterArrays {
  return new Map([...arrays].map(([name, array]) => [name, array.slice()]))
}
