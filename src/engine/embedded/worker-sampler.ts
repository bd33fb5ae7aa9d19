/**
 * A sampler of the engine's thread, as the main thread sees it.
 */
import type { Distribution, ModelInput } from '../datum.ts'
import type {
  Beam,
  BeamRequest,
  CallOptions,
  Prefix,
  Sample,
  SampleRequest,
  Sampler,
  Score,
  ScoreRequest,
} from '../sampling.ts'
import type {
  PlainSamplerVerb,
  SentPrefix,
  SentSample,
  SentSampleRequest,
  SentSampler,
  Work,
} from './worker-messages.ts'
import type { EngineThread } from './worker-thread.ts'

/** A prefix that is computed and kept in the engine's thread, until nothing refers to this any more. */
class WorkerPrefix implements Prefix {
  readonly number: number
  readonly sampler: WorkerSampler
  readonly length: number
  readonly tokens: Int32Array

  constructor(sampler: WorkerSampler, { prefixNumber, length, tokens }: SentPrefix) {
    this.number = prefixNumber
    this.sampler = sampler
    this.length = length
    this.tokens = tokens
  }
}

export class WorkerSampler implements Sampler {
  readonly version: number
  readonly vocabulary: number
  readonly contextLength: number
  readonly #thread: EngineThread
  readonly #number: number
  #disposed: Promise<void> | null = null

  constructor(thread: EngineThread, { number, vocabulary, contextLength, version }: SentSampler) {
    this.version = version
    this.vocabulary = vocabulary
    this.contextLength = contextLength
    this.#thread = thread
    this.#number = number
  }

  async sample(
    requests: readonly SampleRequest[],
    { signal }: CallOptions = {},
  ): Promise<readonly (readonly Sample[])[]> {
    const work = {
      verb: 'sample',
      sampler: this.#number,
      requests: requests.map(each => this.#sentRequest(each)),
    } as const
    const samples = await this.#call<readonly (readonly SentSample[])[]>(work, signal)
    return samples.map(ofRequest =>
      ofRequest.map(({ prefix, ...rest }) => ({ ...rest, ...(prefix && { prefix: this.#prefix(prefix) }) })),
    )
  }

  beamSearch(requests: readonly BeamRequest[], options?: CallOptions): Promise<readonly (readonly Beam[])[]> {
    return this.#plain('beamSearch', requests, options)
  }

  score(requests: readonly ScoreRequest[], options?: CallOptions): Promise<readonly Score[]> {
    return this.#plain('score', requests, options)
  }

  distributions(
    inputs: readonly { readonly input: ModelInput; readonly distribution?: Distribution; readonly adapter?: boolean }[],
    options?: CallOptions,
  ): Promise<readonly Float32Array[]> {
    return this.#plain('distributions', inputs, options)
  }

  async prefix(prompt: ModelInput): Promise<Prefix> {
    return this.#prefix(await this.#call({ verb: 'prefix', sampler: this.#number, prompt }))
  }

  async extend(prefix: Prefix, tokens: Int32Array): Promise<Prefix> {
    const number = this.#ownPrefix('extend', prefix)
    return this.#prefix(await this.#call({ verb: 'extend', sampler: this.#number, prefix: number, tokens }))
  }

  dispose(): Promise<void> {
    this.#disposed ??= this.#call({ verb: 'disposeSampler', sampler: this.#number })
    return this.#disposed
  }

  #plain<T>(verb: PlainSamplerVerb, given: unknown, { signal }: CallOptions = {}): Promise<T> {
    return this.#call({ verb, sampler: this.#number, given: [given] }, signal)
  }

  async #call<T>(work: Work, signal?: AbortSignal): Promise<T> {
    if (this.#disposed) throw new Error(`${work.verb}: the sampler was disposed of`)
    return (await this.#thread.call(work, signal)).value as T
  }

  #sentRequest({ prompt, ...rest }: SampleRequest): SentSampleRequest {
    if (!('length' in prompt)) return { ...rest, prompt }
    return { ...rest, prompt: { prefixNumber: this.#ownPrefix('sample', prompt) } }
  }

  #ownPrefix(verb: string, prefix: Prefix): number {
    if (prefix instanceof WorkerPrefix && prefix.sampler === this) return prefix.number
    throw new Error(`${verb}: the prefix belongs to another sampler`)
  }

  #prefix(sent: SentPrefix): Prefix {
    const prefix = new WorkerPrefix(this, sent)
    this.#thread.keepWith(prefix, prefix.number)
    return prefix
  }
}
