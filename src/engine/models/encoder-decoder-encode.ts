/**
 * The encoder of the encoder-decoder: from its tokens to the states that the decoder takes from.
 */
import { real } from '../algebra/attention-mask.ts'
import type { Tensor } from '../graph/graph.ts'
import { addPlaces, attendWholeRows } from './decoder-attention.ts'
import { hiddenStates } from './decoder-stack.ts'
import { type EncoderDecoderConfiguration, encoderHalf } from './encoder-decoder-configuration.ts'
import { ofEncoder } from './encoder-decoder-parameters.ts'
import type { BuildInputs } from './model.ts'
import { normalised } from './norm.ts'

export interface EncodedRows {
  /** (rows × positions, width), after the encoder's last norm. */
  readonly states: Tensor
  /** Real ones: bool (rows, 1, positions). */
  readonly mask: Tensor
}

export function encodedRows(
  configuration: EncoderDecoderConfiguration,
  inputs: Pick<BuildInputs, 'graph' | 'parameters' | 'rows' | 'encoder'> & Partial<Pick<BuildInputs, 'dropout'>>,
): EncodedRows {
  const { graph, parameters, rows, encoder, dropout } = inputs
  if (!encoder) throw new Error('encoder-decoder: there is nothing for the encoder to read')
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
