/**
 * A trainer of the engine's thread, as the main thread sees it.
 */
import type { DatumFor, Loss } from '../losses/loss.ts'
import type { OptimStepOptions, OptimStepResult, ParameterGroup } from '../optimisers/optimiser.ts'
import { checkOptimStep } from '../optimisers/parameter-groups.ts'
import type { Parameter } from '../parameter.ts'
import type { Sampler, SnapshotOptions } from '../sampling.ts'
import type { ForwardOptions, ForwardResult, LoadOptions, ParameterArrays, Trainer } from '../training.ts'
import type { PlainTrainerVerb, SentGroup, SentSampler, SentTrainer, Work } from './worker-messages.ts'
import { WorkerSampler } from './worker-sampler.ts'
import type { EngineThread } from './worker-thread.ts'

export class WorkerTrainer implements Trainer {
  readonly parameters: readonly Parameter[]
  readonly vocabulary: number
  readonly contextLength: number
  readonly #thread: EngineThread
  readonly #number: number
  #version: number
  #disposed: Promise<void> | null = null

  constructor(thread: EngineThread, { number, parameters, vocabulary, contextLength, version }: SentTrainer) {
    this.parameters = parameters
    this.vocabulary = vocabulary
    this.contextLength = contextLength
    this.#thread = thread
    this.#number = number
    this.#version = version
  }

  get version(): number {
    return this.#version
  }

  forward<L extends Loss>(data: readonly DatumFor<L>[], loss: L, options: ForwardOptions = {}): Promise<ForwardResult> {
    return this.#plain('forward', data, loss, options)
  }

  forwardBackward<L extends Loss>(
    data: readonly DatumFor<L>[],
    loss: L,
    options: ForwardOptions = {},
  ): Promise<ForwardResult> {
    return this.#plain('forwardBackward', data, loss, options)
  }

  async optimStep(given: OptimStepOptions): Promise<OptimStepResult> {
    checkOptimStep(given)
    const { groups, ...rest } = given
    const options = { ...rest, groups: groups.map(group => sentGroup(group, this.parameters)) }
    return this.#call({ verb: 'optimStep', trainer: this.#number, options })
  }

  gradients(): Promise<ParameterArrays> {
    return this.#plain('gradients')
  }

  clearGradients(): Promise<void> {
    return this.#plain('clearGradients')
  }

  values(): Promise<ParameterArrays> {
    return this.#plain('values')
  }

  setValues(values: ParameterArrays): Promise<void> {
    return this.#plain('setValues', values)
  }

  save(folder: string): Promise<void> {
    return this.#plain('save', folder)
  }

  load(folder: string, options: LoadOptions = {}): Promise<void> {
    return this.#plain('load', folder, options)
  }

  async snapshot(options: SnapshotOptions = {}): Promise<Sampler> {
    const sent = await this.#call<SentSampler>({ verb: 'snapshot', trainer: this.#number, given: [options] })
    return new WorkerSampler(this.#thread, sent)
  }

  dispose(): Promise<void> {
    this.#disposed ??= this.#thread.free({ verb: 'disposeTrainer', trainer: this.#number })
    return this.#disposed
  }

  #plain<T>(verb: PlainTrainerVerb, ...given: readonly unknown[]): Promise<T> {
    return this.#call({ verb, trainer: this.#number, given })
  }

  async #call<T>(work: Work): Promise<T> {
    if (this.#disposed) throw new Error(`${work.verb}: the trainer was disposed of`)
    const { value, version } = await this.#thread.call(work)
    if (version !== undefined) this.#version = version
    return value as T
  }
}

/** A predicate is asked here, about each parameter: it cannot go to another thread. */
function sentGroup({ match, ...rest }: ParameterGroup, parameters: readonly Parameter[]): SentGroup {
  if (typeof match !== 'function') return { ...rest, match }
  return { ...rest, match: { names: parameters.filter(match).map(({ name }) => name) } }
}
