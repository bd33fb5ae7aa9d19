/**
 * The embedded trainer: any model, trained on this machine's CPU. What a trainer does is said in training.ts. Data are read when a call's
 * turn comes: arrays that are given should not be written to before it has answered. Checkpoints and samplers are loaded when they are first
 * asked for: a program that only trains starts sooner.
 */
import { requireCapability } from '../capabilities.ts'
import type { Checkpoint } from '../checkpoints/checkpoint.ts'
import type { Datum } from '../datum.ts'
import type { Adapters } from '../engine.ts'
import { sizeOf } from '../graph/shape.ts'
import { checkData } from '../losses/check-data.ts'
import type { DatumFor, Loss } from '../losses/loss.ts'
import type { Model } from '../models/model.ts'
import { Optimisation } from '../optimisers/optimisation.ts'
import type { OptimStepOptions, OptimStepResult } from '../optimisers/optimiser.ts'
import { checkOptimStep } from '../optimisers/parameter-groups.ts'
import type { Parameter } from '../parameter.ts'
import { addInto } from '../passes/add-into.ts'
import { maskKey } from '../passes/dropout-masks.ts'
import { Passes } from '../passes/passes.ts'
import { described, type FieldsOf, requireFields, requireList } from '../required-types.ts'
import type { Sampler, SnapshotOptions } from '../sampling.ts'
import type { ForwardOptions, ForwardResult, LoadOptions, ParameterArrays, Trainer } from '../training.ts'
import { CallQueue } from './call-queue.ts'
import { embeddedCapabilities } from './embedded-capabilities.ts'
import type { EmbeddedSampler } from './sampler.ts'
import type { Samplers } from './samplers.ts'
import { allValues, checkValues, initialWeights, parameterTensors, type Weights } from './weights.ts'

const forwardFields: FieldsOf<ForwardOptions> = { capture: true, dropoutSeed: true }
const loadFields: FieldsOf<LoadOptions> = { optimiser: true }
const snapshotFields: FieldsOf<SnapshotOptions> = { quantisation: true, logitOffset: true, values: true }

export interface EmbeddedTrainerOptions {
  readonly model: Model
  readonly adapters: Adapters | null
  readonly seed: number
  /** Initial values, by name, for those that are given. */
  readonly values: ReadonlyMap<string, Float32Array>
  readonly threads: number
  readonly tokensAtOnce: number
  /** Told of every snapshot, so that whoever ends the engine can end it too. */
  readonly onSnapshot: (sampler: EmbeddedSampler) => void
}

export class EmbeddedTrainer implements Trainer {
  readonly parameters: readonly Parameter[]
  readonly vocabulary: number
  readonly contextLength: number
  readonly #model: Model
  readonly #adapters: Adapters | null
  readonly #passes: Passes
  readonly #optimisation: Optimisation
  #samplers: Samplers | null = null
  readonly #threads: number
  readonly #tokensAtOnce: number
  readonly #onSnapshot: (sampler: EmbeddedSampler) => void
  readonly #queue = new CallQueue('trainer')
  #weights: Weights
  #gradients: Map<string, Float32Array> | null = null
  #version = 0
  #seed: number
  /** Calls that took dropout masks of their own. */
  #dropoutCalls = 0

  constructor({ model, adapters, seed, values, threads, tokensAtOnce, onSnapshot }: EmbeddedTrainerOptions) {
    if (!Number.isFinite(seed)) throw new Error(`createTrainer: seed is ${described(seed)}: expected a finite number`)
    this.#model = model
    this.#adapters = adapters
    this.#seed = seed
    this.#weights = initialWeights(model, adapters, seed, values)
    this.parameters = this.#weights.parameters
    this.vocabulary = model.vocabulary
    this.contextLength = model.contextLength
    this.#optimisation = new Optimisation(this.parameters, threads)
    this.#threads = threads
    this.#tokensAtOnce = tokensAtOnce
    this.#onSnapshot = onSnapshot
    this.#passes = new Passes({
      model,
      parameters: parameterTensors(model, adapters),
      trained: this.parameters.map(({ name }) => name),
      hasAdapters: adapters !== null,
      threads,
      tokensAtOnce,
    })
  }

  get version(): number {
    return this.#version
  }

  get isDisposed(): boolean {
    return this.#queue.closed
  }

  forward<L extends Loss>(data: readonly DatumFor<L>[], loss: L, options: ForwardOptions = {}): Promise<ForwardResult> {
    return this.#queue.add('forward', async () => {
      this.#check('forward', data, loss, options)
      const { capture = [], dropoutSeed = null } = options
      const pass = { gradients: false, capture, dropoutSeed }
      return (await this.#passes.run(this.#feeds(), data, loss, pass)).result
    })
  }

  forwardBackward<L extends Loss>(
    data: readonly DatumFor<L>[],
    loss: L,
    options: ForwardOptions = {},
  ): Promise<ForwardResult> {
    return this.#queue.add('forwardBackward', async () => {
      this.#check('forwardBackward', data, loss, options)
      const { capture = [], dropoutSeed } = options
      const seed = dropoutSeed === undefined ? maskKey(this.#seed, this.#dropoutCalls, 'call') : dropoutSeed
      const pass = { gradients: true, capture, dropoutSeed: seed }
      const { result, gradients } = await this.#passes.run(this.#feeds(), data, loss, pass)
      if (dropoutSeed === undefined) this.#dropoutCalls++
      const fresh = gradients ?? this.#zeros()
      this.#gradients = this.#gradients ? addInto(fresh, this.#gradients) : fresh
      return result
    })
  }

  optimStep(options: OptimStepOptions): Promise<OptimStepResult> {
    return this.#queue.add('optimStep', async () => {
      checkOptimStep(options)
      requireCapability(embeddedCapabilities, 'optimStep', { optimStep: options })
      if (!this.#gradients) throw new Error('optimStep: there are no gradients; call forwardBackward first')
      const result = await this.#optimisation.step(this.#weights.trained, this.#gradients, options)
      this.#gradients = null
      this.#version++
      return result
    })
  }

  gradients(): Promise<ParameterArrays> {
    return this.#queue.add('gradients', () => copies(this.#gradients ?? this.#zeros()))
  }

  clearGradients(): Promise<void> {
    return this.#queue.add('clearGradients', () => {
      this.#gradients = null
    })
  }

  values(): Promise<ParameterArrays> {
    return this.#queue.add('values', () => copies(this.#weights.trained))
  }

  setValues(values: ParameterArrays): Promise<void> {
    return this.#queue.add('setValues', () => {
      checkValues('setValues', this.parameters, values)
      for (const [name, array] of values) this.#weights.trained.get(name)!.set(array)
    })
  }

  save(folder: string): Promise<void> {
    return this.#queue.add('save', async () => {
      const { writeCheckpoint } = await import('../checkpoints/write-checkpoint.ts')
      writeCheckpoint(folder, {
        model: this.#model,
        adapters: this.#adapters,
        values: allValues(this.#weights),
        version: this.#version,
        counters: { seed: this.#seed, dropoutCalls: this.#dropoutCalls },
        optimiser: this.#optimisation.exportState(),
      })
    })
  }

  load(folder: string, options: LoadOptions = {}): Promise<void> {
    return this.#queue.add('load', async () => {
      requireFields('load: options', options, loadFields)
      const { optimiser = true } = options
      const { readCheckpoint } = await import('../checkpoints/read-checkpoint.ts')
      this.takeUp(readCheckpoint(folder, { model: this.#model, adapters: this.#adapters, optimiser }))
    })
  }

  /** Goes on from a checkpoint of this model. */
  takeUp({ values, version, counters, optimiser }: Checkpoint): void {
    this.#optimisation.importState(optimiser)
    this.#weights = initialWeights(this.#model, this.#adapters, 0, values)
    this.#version = version
    this.#seed = counters['seed'] ?? this.#seed
    this.#dropoutCalls = counters['dropoutCalls'] ?? 0
    this.#gradients = null
  }

  snapshot(options: SnapshotOptions = {}): Promise<Sampler> {
    return this.#queue.add('snapshot', async () => {
      requireFields('snapshot: options', options, snapshotFields)
      requireCapability(embeddedCapabilities, 'snapshot', { snapshot: options })
      const given = options.values ?? new Map<string, Float32Array>()
      checkValues('snapshot', this.parameters, given)
      const values = new Map([...this.#weights.base, ...copies(new Map([...this.#weights.trained, ...given]))])
      const sampler = (await this.#samplersOfModel()).create({ values, version: this.#version, options })
      this.#onSnapshot(sampler)
      return sampler
    })
  }

  dispose(): Promise<void> {
    return this.#queue.close(async () => {
      await this.#passes.dispose()
      await this.#optimisation.dispose()
      await this.#samplers?.release()
    })
  }

  async #samplersOfModel(): Promise<Samplers> {
    const { Samplers } = await import('./samplers.ts')
    this.#samplers ??= new Samplers({
      model: this.#model,
      adapters: this.#adapters,
      threads: this.#threads,
      tokensAtOnce: this.#tokensAtOnce,
    })
    return this.#samplers
  }

  #check(verb: string, data: readonly Datum[], loss: Loss, options: ForwardOptions): void {
    checkData(verb, data, loss, this.#model)
    requireFields(`${verb}: options`, options, forwardFields)
    const { capture = [], dropoutSeed } = options
    requireList(`${verb}: capture`, capture)
    requireCapability(embeddedCapabilities, verb, { loss, data, capture })
    if (!(dropoutSeed === undefined || dropoutSeed === null || Number.isFinite(dropoutSeed)))
      throw new Error(
        `${verb}: dropoutSeed is ${described(dropoutSeed)}: expected a finite number, or null for no dropout`,
      )
    const { readouts } = this.#model
    for (const name of capture)
      if (!Object.hasOwn(readouts, name))
        throw new Error(
          `${verb}: there is no read-out ${name}; this model has ${Object.keys(readouts).join(', ') || 'none'}`,
        )
  }

  #feeds(): Record<string, Float32Array> {
    return Object.fromEntries(allValues(this.#weights))
  }

  #zeros(): Map<string, Float32Array> {
    return new Map(this.parameters.map(({ name, shape }) => [name, new Float32Array(sizeOf(shape))]))
  }
}

function copies(arrays: ParameterArrays): ParameterArrays {
  return new Map([...arrays].map(([name, array]) => [name, array.slice()]))
}
