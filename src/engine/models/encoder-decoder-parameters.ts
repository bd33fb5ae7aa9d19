/**
 * The parameters of the encoder-decoder: the decoder's own with a cross-attention branch in each block, and the
 * encoder's under `encoder.`.
 */
import type { Tensor } from '../graph/graph.ts'
import type { Parameter } from '../parameter.ts'
import { attentionParameters, decoderParameters } from './decoder-parameters.ts'
import { decoderHalf, type EncoderDecoderConfiguration, encoderHalf } from './encoder-decoder-configuration.ts'

const encoderPrefix = 'encoder.'

export function encoderDecoderParameters(configuration: EncoderDecoderConfiguration): Parameter[] {
  const { depth, sharedEmbeddings } = configuration
  const encoder = decoderParameters(encoderHalf(configuration))
    .filter(({ name }) => !(sharedEmbeddings && name === 'embedding'))
    .map(parameter => ({ ...parameter, name: encoderPrefix + parameter.name }))
  const cross = Array.from({ length: depth }, (_, block) => attentionParameters(configuration, `blocks.${block}.cross`))
  return [...encoder, ...decoderParameters(decoderHalf(configuration)), ...cross.flat()]
}

/** The encoder's, by the names that they would have if it stood alone. */
export function ofEncoder(
  { sharedEmbeddings }: EncoderDecoderConfiguration,
  parameters: ReadonlyMap<string, Tensor>,
): Map<string, Tensor> {
  const own = new Map<string, Tensor>()
  if (sharedEmbeddings) own.set('embedding', parameters.get('embedding')!)
  for (const [name, tensor] of parameters)
    if (name.startsWith(encoderPrefix)) own.set(name.slice(encoderPrefix.length), tensor)
  return own
}
