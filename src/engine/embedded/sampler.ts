/**
 * The embedded sampler: a snapshot of any model's weights on this machine's CPU. What a sampler does is said in sampling.ts.
 */
import { checkBeamRequests } from '../beam/beam-request.ts'
import { beamSearch } from '../beam/beam-search.ts'
import { cachedFrontier, fittingRows } from '../beam/cached-frontier.ts'
import { wholeFrontier } from '../beam/frontier.ts'
import { requireCapability } from '../capabilities.ts'
import type { Datum, Distribution, ModelInput } from '../datum.ts'
import { checkDistribution, checkInput, checkTokens } from '../losses/check-data.ts'
import type { Model } from '../models/model.ts'
import { type FieldsOf, requireFields, requireIntegers, requireList } from '../required-types.ts'
import { checkedCallOptions } from '../sampling/call-options.ts'
import { topReadouts } from '../sampling/changed-models.ts'
import { type ContextMaker, contextsOf, extended } from '../sampling/contexts.ts'
import { rollOut } from '../sampling/rollout.ts'
import { checkPrefix, checkPrompt, checkSampleRequests, requireContinuable } from '../sampling/sample-request.ts'
import type { SamplerPrograms } from '../sampling/sampler-programs.ts'
import { checkScoreRequests } from '../sampling/score-request.ts'
import { scored, withInfinities } from '../sampling/scores.ts'
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
import { CallQueue } from './call-queue.ts'
import { embeddedCapabilities } from './embedded-capabilities.ts'

export interface EmbeddedSamplerOptions {
  readonly programs: SamplerPrograms
  /** Of all parameters. They are not copied, and must not change while the sampler lives. */
  readonly values: ReadonlyMap<string, Float32Array>
  readonly version: number
  /**
   * Tokens of a row that are drawn in one run, between which a call can be ended. Samples do not depend on it. Default: 8 to
   * 32, fewer where rows are many and wide.
   */
  readonly pieceLength?: number | undefined
}

type DistributionInput = Parameters<Sampler['distributions']>[0][number]

const distributionInputFields: FieldsOf<DistributionInput> = { input: true, distribution: true, adapter: true }

export class EmbeddedSampler implements Sampler {
  readonly version: number
  readonly vocabulary: number
  readonly contextLength: number
  readonly #model: Model
  readonly #programs: SamplerPrograms
  readonly #pieceLength: number | undefined
  readonly #queue = new CallQueue('sampler')
  #values: Readonly<Record<string, Float32Array>>

  constructor({ programs, values, version, pieceLength }: EmbeddedSamplerOptions) {
    const { model } = programs.options
    this.version = version
    this.vocabulary = model.vocabulary
    this.contextLength = model.contextLength
    this.#model = model
    this.#programs = programs.hold()
    this.#values = Object.fromEntries(values)
    this.#pieceLength = pieceLength
  }

  get isDisposed(): boolean {
    return this.#queue.closed
  }

  sample(requests: readonly SampleRequest[], options: CallOptions = {}): Promise<Sample[][]> {
    return this.#queue.add('sample', async () => {
      const { signal } = checkedCallOptions('sample', options)
      requireContinuable('sample', this.#model)
      checkSampleRequests(requests, this.#model, this)
      requireCapability(embeddedCapabilities, 'sample', { samples: requests })
      const maker = this.#maker(signal)
      const given = await contextsOf(
        maker,
        requests.flatMap(({ prompt }) => ('length' in prompt ? [] : [prompt])),
      )
      const computed = given.values()
      const contexts = requests.map(({ prompt }) => {
        if (!('length' in prompt)) return computed.next().value!
        checkPrefix('sample', prompt, this)
        return prompt
      })
      return rollOut(maker, requests, contexts, this.#pieceLength)
    })
  }

  beamSearch(requests: readonly BeamRequest[], options: CallOptions = {}): Promise<Beam[][]> {
    return this.#queue.add('beamSearch', async () => {
      const { signal } = checkedCallOptions('beamSearch', options)
      requireCapability(embeddedCapabilities, 'beamSearch', { beamSearch: true })
      requireContinuable('beamSearch', this.#model)
      checkBeamRequests(requests, this)
      for (const [index, { prompt }] of requests.entries())
        checkPrompt(`beamSearch: requests[${index}].prompt`, prompt, this.#model, this)
      if (this.#model.incremental) {
        const maker = this.#maker(signal)
        return beamSearch(cachedFrontier(maker), requests, { ...options, rowsAtOnce: fittingRows(maker, requests) })
      }
      const { vocabulary } = this
      const distributions: Sampler['distributions'] = (inputs, { signal } = {}) => this.#distributions(inputs, signal)
      return beamSearch(wholeFrontier({ vocabulary, distributions }, options), requests, options)
    })
  }

  score(requests: readonly ScoreRequest[], options: CallOptions = {}): Promise<Score[]> {
    return this.#queue.add('score', async () => {
      const { signal } = checkedCallOptions('score', options)
      checkScoreRequests(requests, this.#model, this)
      requireCapability(embeddedCapabilities, 'score', { scores: requests })
      return scored(this.#maker(signal), requests, (data, top) => this.#forward(data, top, signal))
    })
  }

  distributions(inputs: readonly DistributionInput[], options: CallOptions = {}): Promise<Float32Array[]> {
    return this.#queue.add('distributions', () => {
      const { signal } = checkedCallOptions('distributions', options)
      requireList('distributions: inputs', inputs)
      for (const [index, each] of inputs.entries()) {
        const place = `distributions: inputs[${index}]`
        requireFields(place, each, distributionInputFields)
        this.#check(place, each.input, each.distribution)
      }
      return this.#distributions(inputs, signal)
    })
  }

  prefix(prompt: ModelInput): Promise<Prefix> {
    return this.#queue.add('prefix', async () => {
      checkPrompt('prefix: prompt', prompt, this.#model, this)
      const [context] = await contextsOf(this.#maker(undefined), [prompt])
      return context!
    })
  }

  extend(prefix: Prefix, tokens: Int32Array): Promise<Prefix> {
    return this.#queue.add('extend', async () => {
      checkPrefix('extend: what is given', prefix, this)
      requireIntegers('extend: tokens', tokens)
      if (tokens.length === 0) return prefix
      checkTokens('extend: tokens', tokens, this.vocabulary)
      const length = prefix.length + tokens.length
      if (length > this.contextLength)
        throw new Error(
          `extend: a prefix of ${prefix.length} tokens and ${tokens.length} more do not fit the ${this.contextLength} positions of the model`,
        )
      return extended(this.#maker(undefined), prefix, tokens)
    })
  }

  dispose(): Promise<void> {
    return this.#queue.close(async () => {
      this.#values = {}
      await this.#programs.release()
    })
  }

  async #distributions(inputs: readonly DistributionInput[], signal: AbortSignal | undefined): Promise<Float32Array[]> {
    if (inputs.length === 0) return []
    const data = inputs.map(({ input, distribution, adapter = true }): Datum => {
      const weights = new Float32Array(input.tokens.length * this.vocabulary)
      return { input, targets: 'vocabulary', weights, adapter, ...(distribution && { distribution }) }
    })
    const { logProbabilities } = await this.#forward(data, 0, signal)
    return logProbabilities.map(withInfinities)
  }

  #forward(data: readonly Datum[], top: number, signal: AbortSignal | undefined) {
    const capture = top > 0 ? Object.values(topReadouts) : []
    return this.#programs.pass(top, async passes => {
      const options = { gradients: false, capture, dropoutSeed: null, signal }
      return (await passes.run(this.#values, data, { kind: 'cross_entropy' }, options)).result
    })
  }

  #check(place: string, input: ModelInput, distribution: Distribution | undefined): void {
    checkInput(`${place}.input`, input, this.#model)
    if (distribution !== undefined) checkDistribution(place, distribution, input.tokens.length, this.vocabulary)
  }

  #maker(signal: AbortSignal | undefined): ContextMaker {
    return { programs: this.#programs, values: this.#values, owner: this, signal }
  }
}
