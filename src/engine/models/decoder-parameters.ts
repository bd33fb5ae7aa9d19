/**
 * The parameters of the decoder: names, shapes, roles, how each begins; how many they are and what training costs.
 */
import { seededRandom } from '../../statistics/random.ts'
import { sizeOf } from '../graph/shape.ts'
import type { Parameter } from '../parameter.ts'
import { type DecoderConfiguration, feedForwardWidthOf } from './decoder-configuration.ts'

export function decoderParameters(configuration: DecoderConfiguration): Parameter[] {
  const { vocabulary, depth, width, heads, keyValueHeads, queryKeyNorm, activation, tiedEmbeddings } = configuration
  const headWidth = width / heads
  const feedForwardWidth = feedForwardWidthOf(configuration)
  const matrix = (name: string, inputs: number, outputs: number): Parameter => ({
    name,
    shape: [inputs, outputs],
    role: 'matrix',
  })
  const gain = (name: string, size: number): Parameter => ({ name, shape: [size], role: 'gain' })

  const parameters: Parameter[] = [{ name: 'embedding', shape: [vocabulary, width], role: 'embedding' }]
  for (let block = 0; block < depth; block++) {
    const attention = `blocks.${block}.attention`
    const feedForward = `blocks.${block}.feedForward`
    parameters.push(gain(`${attention}.norm`, width))
    parameters.push(matrix(`${attention}.query`, width, width))
    parameters.push(matrix(`${attention}.key`, width, keyValueHeads * headWidth))
    parameters.push(matrix(`${attention}.value`, width, keyValueHeads * headWidth))
    if (queryKeyNorm)
      parameters.push(gain(`${attention}.queryNorm`, headWidth), gain(`${attention}.keyNorm`, headWidth))
    parameters.push(matrix(`${attention}.output`, width, width))
    parameters.push(gain(`${feedForward}.norm`, width))
    if (activation === 'swiglu') parameters.push(matrix(`${feedForward}.gate`, width, feedForwardWidth))
    parameters.push(matrix(`${feedForward}.up`, width, feedForwardWidth))
    parameters.push(matrix(`${feedForward}.down`, feedForwardWidth, width))
  }
  parameters.push(gain('norm', width))
  if (!tiedEmbeddings) parameters.push({ name: 'head', shape: [width, vocabulary], role: 'head' })
  return parameters
}

/** Standard deviation of the normal distribution that a parameter begins with; gains begin at 1. */
function initialDeviation({ role, shape }: Parameter, scale: number): number {
  if (role === 'embedding') return scale / Math.sqrt(shape[1]!)
  return (role === 'head' ? scale / 4 : scale) / Math.sqrt(shape[0]!)
}

/** Initial values by name. Each parameter has a stream of its own, so adding one leaves the others as they were. */
export function initialDecoderValues(configuration: DecoderConfiguration, seed: number): Map<string, Float32Array> {
  const random = seededRandom(seed)
  const values = new Map<string, Float32Array>()
  for (const parameter of decoderParameters(configuration)) {
    const array = new Float32Array(sizeOf(parameter.shape))
    if (parameter.role === 'gain') array.fill(1)
    else {
      const stream = random.fork(parameter.name)
      const deviation = initialDeviation(parameter, configuration.initialisationScale)
      for (let index = 0; index < array.length; index++) array[index] = deviation * stream.normal()
    }
    values.set(parameter.name, array)
  }
  return values
}

export function parameterCount(configuration: DecoderConfiguration): number {
  return decoderParameters(configuration).reduce((sum, { shape }) => sum + sizeOf(shape), 0)
}

/**
 * Floating-point operations of training per token at the full context: 6 for each weight that is multiplied (matrices and
 * the head, tied or not; looking up an embedding is free), and 12 × depth × width × contextLength for attention, whose
 * causal half is computed in full (Chowdhery et al., 2022, appendix B). Forward alone is a third of it.
 */
export function estimatedFlopsPerToken(configuration: DecoderConfiguration): number {
  const { vocabulary, contextLength, depth, width } = configuration
  const matrices = decoderParameters(configuration).filter(({ role }) => role === 'matrix')
  const multiplied = matrices.reduce((sum, { shape }) => sum + sizeOf(shape), vocabulary * width)
  return 6 * multiplied + 12 * depth * width * contextLength
}
