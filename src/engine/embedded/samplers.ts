/**
 * Makes the samplers of one model: whatever weights they hold, they share what was compiled.
 */
import type { Adapters } from '../engine.ts'
import { checkLogitOffset } from '../mismatch/logit-offset.ts'
import { quantiseParameters } from '../mismatch/quantisation.ts'
import type { Model } from '../models/model.ts'
import { logitOffset, withLogitOffset } from '../sampling/changed-models.ts'
import { SamplerPrograms } from '../sampling/sampler-programs.ts'
import type { SnapshotOptions } from '../sampling.ts'
import { EmbeddedSampler } from './sampler.ts'
import { parameterTensors } from './weights.ts'

export interface SamplersOptions {
  readonly model: Model
  readonly adapters: Adapters | null
  readonly threads: number
  readonly tokensAtOnce: number
}

export interface Snapshot {
  /**
   * Of the model and its adapters. They are not copied, and must not change while the sampler lives. Quantisation rounds those of the
   * model; adapters stay as they are.
   */
  readonly values: ReadonlyMap<string, Float32Array>
  readonly version: number
  readonly options?: SnapshotOptions | undefined
  /** As in EmbeddedSamplerOptions. */
  readonly pieceLength?: number
}

export class Samplers {
  readonly #options: SamplersOptions
  readonly #plain: SamplerPrograms
  /** Of the model with an offset on its logits. */
  #offset: SamplerPrograms | null = null

  constructor(options: SamplersOptions) {
    this.#options = options
    this.#plain = this.#programsOf(options.model)
  }

  create({ values, version, options = {}, pieceLength }: Snapshot): EmbeddedSampler {
    const { model } = this.#options
    const { quantisation, logitOffset: offset } = options
    const rounded = quantisation
      ? new Map([...values, ...quantiseParameters(model.parameters, values, quantisation)])
      : values
    if (!offset) return new EmbeddedSampler({ programs: this.#plain, values: rounded, version, pieceLength })
    checkLogitOffset(offset, model.vocabulary)
    this.#offset ??= this.#programsOf(withLogitOffset(model))
    const all = new Map([...rounded, [logitOffset, offset.slice()]])
    return new EmbeddedSampler({ programs: this.#offset, values: all, version, pieceLength })
  }

  /** No more samplers are made; those that there are live on. */
  async release(): Promise<void> {
    await this.#plain.release()
    await this.#offset?.release()
  }

  #programsOf(model: Model): SamplerPrograms {
    const { adapters, threads, tokensAtOnce } = this.#options
    const parameters = parameterTensors(model, adapters)
    return new SamplerPrograms({ model, parameters, hasAdapters: adapters !== null, threads, tokensAtOnce }).hold()
  }
}
