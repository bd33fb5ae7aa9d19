/**
 * The encoder of the encoder-decoder: from its tokens to the states that the decoder takes from.
 */
import { real } from '../algebra/attention-mask.ts'
import type { Tensor } from '../graph/graph.ts'
import { addPlaces, attendWholeRows } from './decoder-attention.ts'
import { hiddenStates } from './decoder-stack.ts'
import { type EncoderDecoderConfiguration, encoderHalf } from './encoder-decoder-configuration.ts'
import { ofEncoder } from './encoder-decoder-parameters.ts'
import { lastTokens } from './encoder-window.ts'
import type { MemoryAnswer } from './memory-layer.ts'
import { askByHistory } from './memory-recall.ts'
import type { BuildInputs } from './model.ts'
import { normalised } from './norm.ts'

export interface EncodedRows {
  /** (rows × positions, width), after the encoder's last norm. */
  readonly states: Tensor
  /** Real ones: bool (rows, 1, positions). */
  readonly mask: Tensor
}

type EncoderInputs = Pick<BuildInputs, 'graph' | 'parameters' | 'rows' | 'encoder'> &
  Partial<Pick<BuildInputs, 'dropout'>>

export function encodedRows(configuration: EncoderDecoderConfiguration, inputs: EncoderInputs): EncodedRows {
  const { graph, parameters, rows, dropout } = inputs
  const { encoderWindow = Number.POSITIVE_INFINITY } = configuration
  const encoder = lastTokens(given(inputs), encoderWindow)
  const half = encoderHalf(configuration)
  const own = ofEncoder(configuration, parameters)
  const states = graph.within('encoder', () => {
    const { hidden } = hiddenStates(half, own, encoder.tokens, {
      rows,
      addPositions: (embedded, table) => addPlaces(half, embedded, table, rows),
      attend: (_, heads) => attendWholeRows(half, encoder.lengths, heads),
      ...(dropout && { dropout: (name, tensor, rate) => dropout(`encoder.${name}`, tensor, rate) }),
    })
    return normalised(half, own, 'norm', hidden.at(-1)!)
  })
  return { states, mask: real(encoder.lengths, encoder.positions) }
}

/**
 * Of a memory that is asked with all that the encoder is given, also of what the encoder does not read; null: there is
 * none.
 */
export function answerOfHistory(
  configuration: EncoderDecoderConfiguration,
  inputs: Pick<BuildInputs, 'parameters' | 'encoder'>,
): MemoryAnswer | null {
  const { memory } = configuration
  if (memory?.query !== 'history') return null
  const embedding = ofEncoder(configuration, inputs.parameters).get('embedding')!
  return askByHistory(memory, inputs.parameters, embedding, given(inputs))
}

function given({ encoder }: Pick<BuildInputs, 'encoder'>): NonNullable<BuildInputs['encoder']> {
  if (!encoder) throw new Error('encoder-decoder: there is nothing for the encoder to read')
  return encoder
}
