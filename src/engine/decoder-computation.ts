/**
 * The compiled graphs of a decoder at one shape of batch: the loss alone, and the loss with its gradients.
 */

import type { TokenBatch } from './batch-training.ts'
import { gradientsOf } from './graph/gradients.ts'
import { Graph, type Tensor } from './graph/graph.ts'
import { compile, type Program } from './graph/program.ts'
import { type TokenLoss, tokenLoss } from './losses/token-loss.ts'
import { decoderInputs, decoderLogits } from './models/decoder.ts'
import type { DecoderConfiguration } from './models/decoder-configuration.ts'

export interface ComputedLoss {
  readonly zLossSum: number
  readonly tokenLogProbabilities: Float32Array
  /** By parameter name, new arrays; null where none were asked for. */
  readonly gradients: ReadonlyMap<string, Float32Array> | null
}

export class DecoderComputation {
  readonly rows: number
  readonly sequence: number
  readonly #parameters: ReadonlyMap<string, Tensor>
  readonly #loss: TokenLoss
  readonly #threads: number
  #forward: Promise<Program> | null = null
  #forwardBackward: Promise<Program> | null = null

  constructor(configuration: DecoderConfiguration, rows: number, sequence: number, zLoss: number, threads: number) {
    this.rows = rows
    this.sequence = sequence
    this.#threads = threads
    const graph = new Graph()
    const count = rows * sequence
    this.#parameters = decoderInputs(graph, configuration)
    const tokens = graph.indices('tokens', [count], configuration.vocabulary)
    const targets = graph.indices('targets', [count], configuration.vocabulary)
    const weights = graph.input('weights', [count, 1])
    const logits = decoderLogits(configuration, this.#parameters, tokens, rows)
    this.#loss = graph.within('loss', () => tokenLoss(logits, targets, weights, zLoss))
  }

  /** Compiles what it needs when it is first needed. The batch has exactly the rows of this computation. */
  async run(
    values: ReadonlyMap<string, Float32Array>,
    batch: TokenBatch,
    withGradients: boolean,
  ): Promise<ComputedLoss> {
    const program = await (withGradients ? this.#compileForwardBackward() : this.#compileForward())
    const results = await program.run({ ...Object.fromEntries(values), ...batch })
    const names = withGradients ? [...this.#parameters.keys()] : []
    return {
      zLossSum: results['zLossSum']?.[0] ?? 0,
      tokenLogProbabilities: results['tokenLogProbabilities'] as Float32Array,
      gradients: withGradients ? new Map(names.map(name => [name, results[gradientOf(name)] as Float32Array])) : null,
    }
  }

  async dispose(): Promise<void> {
    for (const program of [this.#forward, this.#forwardBackward]) if (program) await (await program).dispose()
    this.#forward = null
    this.#forwardBackward = null
  }

  #lossOutputs(): Record<string, Tensor> {
    const { zLossSum, tokenLogProbabilities } = this.#loss
    return { tokenLogProbabilities, ...(zLossSum && { zLossSum }) }
  }

  #compileForward(): Promise<Program> {
    this.#forward ??= compile(this.#lossOutputs(), { threads: this.#threads })
    return this.#forward
  }

  #compileForwardBackward(): Promise<Program> {
    if (this.#forwardBackward) return this.#forwardBackward
    const names = [...this.#parameters.keys()]
    const gradients = gradientsOf(this.#loss.objective, [...this.#parameters.values()])
    const outputs = {
      ...this.#lossOutputs(),
      ...Object.fromEntries(gradients.map((g, i) => [gradientOf(names[i]!), g])),
    }
    this.#forwardBackward = compile(outputs, { threads: this.#threads })
    return this.#forwardBackward
  }
}

const gradientOf = (name: string) => `gradient.${name}`
