/**
 * What a model's samplers compile: shared by all snapshots of one trainer, since weights are inputs. It is freed when the last that
 * holds it lets go.
 */

import type { Tensor } from '../graph/graph.ts'
import { multiplicationsPerOperation, numbersComputed } from '../graph/graph-size.ts'
import { compile, type ResultArray } from '../graph/program.ts'
import type { Model } from '../models/model.ts'
import type { ParameterTensors } from '../passes/computation.ts'
import { Passes } from '../passes/passes.ts'
import { Programs } from '../passes/programs.ts'
import { ArrayPool } from './array-pool.ts'
import { type CacheLayout, cacheLayout } from './cache-rows.ts'
import { withTopTokens } from './changed-models.ts'

export interface SamplerProgramsOptions {
  readonly model: Model
  readonly parameters: ParameterTensors
  readonly hasAdapters: boolean
  readonly threads: number
  readonly tokensAtOnce: number
}

export type Feeds = Record<string, Float32Array | Float64Array | Int32Array>
export type Results = Readonly<Record<string, ResultArray>>

/** How many numbers the programs that are kept may compute together, and what a program counts however small it is: at most 64 are kept. */
const keptNumbers = 2 ** 28
const leastNumbers = 2 ** 22

/**
 * With fewer multiplications in an operation, threads wait for each other longer than they work: measured with two of them, decoders of
 * 0.1 to 10 million parameters and 1 to 256 rows.
 */
const dividedMultiplications = 300_000

export class SamplerPrograms {
  readonly options: SamplerProgramsOptions
  readonly layout: CacheLayout
  readonly pool = new ArrayPool()
  readonly #programs = new Programs<null>(keptNumbers)
  /** Whole forward passes, by how many of the most probable tokens they report. */
  readonly #passes = new Map<number, Passes>()
  #last: Promise<unknown> = Promise.resolve()
  #holders = 0

  constructor(options: SamplerProgramsOptions) {
    this.options = options
    const { incremental } = options.model
    this.layout = incremental ? cacheLayout(incremental) : { growing: [], fixed: [] }
  }

  hold(): this {
    this.#holders++
    return this
  }

  async release(): Promise<void> {
    this.#holders--
    if (this.#holders > 0) return
    await this.#alone(async () => {
      await this.#programs.dispose()
      for (const passes of this.#passes.values()) await passes.dispose()
    })
  }

  /** `key`: what is computed, in words; equal ones are compiled once. */
  run(key: string, build: () => Readonly<Record<string, Tensor>>, feeds: Feeds): Promise<Results> {
    return this.#alone(async () => {
      const { program } = await this.#programs.find(key, async () => {
        const outputs = build()
        const tensors = Object.values(outputs)
        const isWorthDividing = multiplicationsPerOperation(tensors) >= dividedMultiplications
        const program = await compile(outputs, { threads: isWorthDividing ? this.options.threads : 1 })
        return { program, about: null, size: leastNumbers + numbersComputed(tensors) }
      })
      return program.run(feeds)
    })
  }

  /** Whole forward passes of a model with so many of `topReadouts`. */
  pass<T>(top: number, work: (passes: Passes) => Promise<T>): Promise<T> {
    return this.#alone(() => {
      const { model } = this.options
      const known = this.#passes.get(top)
      const passes =
        known ?? new Passes({ ...this.options, trained: [], model: top > 0 ? withTopTokens(model, top) : model })
      this.#passes.set(top, passes)
      return work(passes)
    })
  }

  /** One at a time: a program that falls out of those that are kept may not be at work. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }
}
