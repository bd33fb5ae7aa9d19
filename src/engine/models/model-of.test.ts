/**
 * Every model that is built in can be built again from what JSON keeps of it, and says itself what a configuration lacks.
 */
import { describe, expect, it } from 'vitest'
import { bigram } from './bigram.ts'
import { decoder } from './decoder.ts'
import type { DecoderOptions } from './decoder-configuration.ts'
import { encoderDecoder } from './encoder-decoder.ts'
import { inContextRegressor } from './in-context-regressor.ts'
import { modelOf } from './model-of.ts'

const configuration: DecoderOptions = {
  vocabulary: 5,
  contextLength: 4,
  depth: 1,
  width: 4,
  heads: 2,
  keyValueHeads: 1,
  positions: 'learned',
  queryKeyNorm: true,
}

describe.each([
  decoder(configuration),
  encoderDecoder({ ...configuration, encoderDepth: 1, sharedEmbeddings: true }),
  inContextRegressor({ features: 2, bins: 3, contextLength: 4, depth: 1, width: 4, heads: 2 }),
  bigram({ vocabulary: 3, contextLength: 4 }),
])('$kind', model => {
  it('is the same when it is built from its kind and configuration', () => {
    const { kind, configuration, vocabulary, contextLength, inputs, parameters, readouts } = model
    const again = modelOf(kind, JSON.parse(JSON.stringify(configuration)) as object)
    expect(again).toMatchObject({ kind, configuration, vocabulary, contextLength, inputs, parameters, readouts })
    expect(again.initialValues(3)).toEqual(model.initialValues(3))
  })

  it('is refused with a sentence of its own where something is missing', () => {
    expect(() => modelOf(model.kind, {})).toThrow(/is undefined: expected|contextLength/)
  })
})

it('an unknown kind is refused with the known ones', () => {
  expect(() => modelOf('toString', {})).toThrow(
    'there is no model of kind "toString" built in (decoder, encoder-decoder, in-context-regressor, bigram are); it must be given',
  )
})
