/**
 * The decoder's blocks, from tokens to logits, as the whole forward pass and the step by step one share them. What
 * tells the two apart, where positions are and which keys a query sees, is given by the caller.
 */
import { softCap } from '../algebra/activation.ts'
import { add } from '../algebra/arithmetic.ts'
import { lookUpRows } from '../algebra/lookup.ts'
import { matrixProduct } from '../algebra/matrix-product.ts'
import type { Tensor } from '../graph/graph.ts'
import { type Heads, joinHeads, projectHeads, projectQueries } from './attention-branch.ts'
import type { DecoderConfiguration } from './decoder-configuration.ts'
import { feedForward } from './feed-forward.ts'
import { memoryBlock } from './memory-configuration.ts'
import type { MemoryAnswer } from './memory-layer.ts'
import { addAnswer, askByState } from './memory-recall.ts'
import { branchOutput, normalised } from './norm.ts'

export interface DecoderPass {
  readonly rows: number
  /**
   * Adds to each embedded token (rows × positions, width) the row of its position in a table, for learned positions.
   */
  addPositions(embedded: Tensor, table: Tensor): Tensor
  /**
   * What the queries of a block take from its values: the queries' shape. Rotary positions and ALiBi are applied here.
   */
  attend(block: number, heads: Heads): Tensor
  /** What the queries of a block take from an encoder's values, likewise; absent: there is no encoder. */
  attendEncoder?(block: number, queries: Tensor): Tensor
  /** As in BuildInputs; absent: none. */
  dropout?(name: string, tensor: Tensor, rate: number): Tensor
  /** (rows, width): what a memory that is asked by the history adds to each row. */
  readonly recalled?: Tensor | undefined
}

export interface DecoderResult {
  /** (tokens, vocabulary). */
  readonly logits: Tensor
  /** (tokens, width) each: after the embedding, then after each block, with what a memory adds there. */
  readonly hidden: readonly Tensor[]
  /** Of a memory that is asked by the state. */
  readonly answer: MemoryAnswer | null
}

/** Token ids, row after row, the same number in each. */
export function decoderStack(
  configuration: DecoderConfiguration,
  parameters: ReadonlyMap<string, Tensor>,
  tokens: Tensor,
  pass: DecoderPass,
): DecoderResult {
  const states = hiddenStates(configuration, parameters, tokens, pass)
  return { logits: decoderHead(configuration, parameters, states.hidden.at(-1)!), ...states }
}

/** Without the head. */
export function hiddenStates(
  configuration: DecoderConfiguration,
  parameters: ReadonlyMap<string, Tensor>,
  tokens: Tensor,
  pass: DecoderPass,
): Omit<DecoderResult, 'logits'> {
  const { depth, positions, residualScaling, memory, dropout: rate } = configuration
  const { graph } = tokens
  const branches = pass.attendEncoder ? 3 : 2
  const factor = residualScaling === 'depth' ? 1 / Math.sqrt(branches * depth) : 1
  const dropout = (name: string, tensor: Tensor) =>
    rate > 0 && pass.dropout ? pass.dropout(name, tensor, rate) : tensor

  /** Adds a branch to the hidden state, with its norm before or after it. */
  const residual = (hidden: Tensor, name: string, branch: (input: Tensor, gain: Tensor | null) => Tensor): Tensor =>
    graph.within(name, () =>
      add(hidden, dropout(name, branchOutput(configuration, parameters, name, hidden, factor, branch))),
    )

  const embedded = lookUpRows(parameters.get('embedding')!, tokens)
  const placed = positions === 'learned' ? pass.addPositions(embedded, parameters.get('positions')!) : embedded
  const hidden: Tensor[] = []
  let answer: MemoryAnswer | null = null
  const keep = (state: Tensor) => {
    if (!memory || hidden.length !== memoryBlock(memory, depth)) return hidden.push(state)
    if (!pass.recalled) answer = askByState(memory, parameters, state)
    return hidden.push(addAnswer(state, pass.recalled ?? answer!.added))
  }
  keep(dropout('embedding', placed))
  for (let block = 0; block < depth; block++) {
    const name = (branch: string) => `blocks.${block}.${branch}`
    let state = residual(hidden[block]!, name('attention'), (input, gain) => {
      const heads = projectHeads(configuration, parameters, name('attention'), input, gain, pass.rows)
      return joinHeads(parameters, name('attention'), pass.attend(block, heads))
    })
    const { attendEncoder } = pass
    if (attendEncoder)
      state = residual(state, name('cross'), (input, gain) => {
        const queries = projectQueries(configuration, parameters, name('cross'), input, gain, pass.rows)
        return joinHeads(parameters, name('cross'), attendEncoder(block, queries))
      })
    state = residual(state, name('feedForward'), (input, gain) =>
      feedForward(configuration, parameters, name('feedForward'), input, gain),
    )
    keep(state)
  }
  return { hidden, answer }
}

/** From the last hidden state, through the last norm, to logits. */
export function decoderHead(
  configuration: DecoderConfiguration,
  parameters: ReadonlyMap<string, Tensor>,
  hidden: Tensor,
): Tensor {
  const { tiedEmbeddings, logitSoftCap } = configuration
  const state = normalised(configuration, parameters, 'norm', hidden)
  const logits = tiedEmbeddings
    ? matrixProduct(state, parameters.get('embedding')!, { transposeB: true })
    : matrixProduct(state, parameters.get('head')!)
  return logitSoftCap === null ? logits : softCap(logits, logitSoftCap)
}
