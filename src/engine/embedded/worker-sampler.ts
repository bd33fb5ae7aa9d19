/**
 * A sampler of the engine's thread, as the main thread sees it.
 */
import type { Distribution, ModelInput } from '../datum.ts'
import { requireList, requireRecord } from '../required-types.ts'
import { checkedCallOptions } from '../sampling/call-options.ts'
import { Context } from '../sampling/context.ts'
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
import type { NamedPrefix, PlainSamplerVerb, SentPrefix, SentSample, SentSampler, Work } from './worker-messages.ts'
import type { EngineThread } from './worker-thread.ts'

/** A prefix that is computed and kept in the engine's thread, until nothing refers to this any more. */
class WorkerPrefix implements Prefix {
  readonly number: number
  readonly thread: EngineThread
  readonly length: number
  readonly tokens: Int32Array

  constructor(thread: EngineThread, { prefixNumber, length, tokens }: SentPrefix) {
    this.number = prefixNumber
    this.thread = thread
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
    thread.freeWith(this, number)
  }

  async sample(requests: readonly SampleRequest[], options: CallOptions = {}): Promise<readonly (readonly Sample[])[]> {
    const work = { verb: 'sample', sampler: this.#number, requests: this.#sent('sample', requests) } as const
    const samples = await this.#call<readonly (readonly SentSample[])[]>(work, options)
    return samples.map(ofRequest =>
      ofRequest.map(({ prefix, ...rest }) => ({ ...rest, ...(prefix && { prefix: this.#prefix(prefix) }) })),
    )
  }

  async beamSearch(requests: readonly BeamRequest[], options: CallOptions = {}): Promise<readonly (readonly Beam[])[]> {
    const work = { verb: 'beamSearch', sampler: this.#number, requests: this.#sent('beamSearch', requests) } as const
    return this.#call(work, options)
  }

  async score(requests: readonly ScoreRequest[], options: CallOptions = {}): Promise<readonly Score[]> {
    requireList('score: requests', requests)
    const sent = requests.map((request, index) => {
      requireRecord(`score: requests[${index}]`, request)
      return request.prefix === undefined
        ? request
        : { ...request, prefix: this.#sentPrompt(request.prefix) as NamedPrefix }
    })
    return this.#call({ verb: 'score', sampler: this.#number, requests: sent }, options)
  }

  distributions(
    inputs: readonly { readonly input: ModelInput; readonly distribution?: Distribution; readonly adapter?: boolean }[],
    options?: CallOptions,
  ): Promise<readonly Float32Array[]> {
    return this.#plain('distributions', inputs, options)
  }

  async prefix(prompt: ModelInput): Promise<Prefix> {
    const work = { verb: 'prefix', sampler: this.#number, prompt: this.#sentPrompt(prompt) } as const
    return this.#prefix(await this.#call(work))
  }

  async extend(prefix: Prefix, tokens: Int32Array): Promise<Prefix> {
    requireRecord('extend: the prefix', prefix)
    const work = { verb: 'extend', sampler: this.#number, prefix: this.#named(prefix), tokens } as const
    return this.#prefix(await this.#call(work))
  }

  dispose(): Promise<void> {
    this.#disposed ??= this.#thread.free({ verb: 'disposeSampler', sampler: this.#number })
    return this.#disposed
  }

  #plain<T>(verb: PlainSamplerVerb, given: unknown, options?: CallOptions): Promise<T> {
    return this.#call({ verb, sampler: this.#number, given: [given] }, options)
  }

  async #call<T>(work: Work, options: CallOptions = {}): Promise<T> {
    const { signal } = checkedCallOptions(work.verb, options)
    if (this.#disposed) throw new Error(`${work.verb}: the sampler was disposed of`)
    return (await this.#thread.call(work, signal)).value as T
  }

  #sent<R extends { readonly prompt: ModelInput | Prefix }>(verb: string, requests: readonly R[]) {
    requireList(`${verb}: requests`, requests)
    return requests.map((request, index) => {
      requireRecord(`${verb}: requests[${index}]`, request)
      return { ...request, prompt: this.#sentPrompt(request.prompt) }
    })
  }

  #sentPrompt(prompt: ModelInput | Prefix): ModelInput | NamedPrefix {
    // What is neither is refused by the thread.
    return prompt instanceof WorkerPrefix || prompt instanceof Context ? this.#named(prompt) : prompt
  }

  /** By its number; one of elsewhere as what it looks like, which the thread will refuse. */
  #named(prefix: Prefix): NamedPrefix {
    if (prefix instanceof WorkerPrefix && prefix.thread === this.#thread) return { prefixNumber: prefix.number }
    return { length: prefix.length, tokens: prefix.tokens }
  }

  #prefix(sent: SentPrefix): Prefix {
    const prefix = new WorkerPrefix(this.#thread, sent)
    this.#thread.keepWith(prefix, prefix.number)
    return prefix
  }
}
