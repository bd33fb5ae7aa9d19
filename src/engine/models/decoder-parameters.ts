/**
 * The parameters of the decoder: names, shapes, roles, how each begins; how many they are and what training costs.
 */
import { type Random, seededRandom } from '../../statistics/random.ts'
import { sizeOf } from '../graph/shape.ts'
import type { Parameter } from '../parameter.ts'
import {
  completeDecoder,
  type DecoderConfiguration,
  type DecoderOptions,
  positionCountOf,
} from './decoder-configuration.ts'
import { initialSlotValues, memoryFlopsPerQuery, memoryParameters } from './memory-configuration.ts'

export function decoderParameters(configuration: DecoderConfiguration): Parameter[] {
  const { vocabulary, depth, width, positions, normKind, tiedEmbeddings, memory } = configuration
  const parameters: Parameter[] = [{ name: 'embedding', shape: [vocabulary, width], role: 'embedding' }]
  if (positions === 'learned')
    parameters.push({ name: 'positions', shape: [positionCountOf(configuration), width], role: 'embedding' })
  for (let block = 0; block < depth; block++) {
    parameters.push(...attentionParameters(configuration, `blocks.${block}.attention`))
    parameters.push(...feedForwardParameters(configuration, `blocks.${block}.feedForward`))
  }
  parameters.push(...normParameters('norm', width, normKind))
  if (!tiedEmbeddings) parameters.push({ name: 'head', shape: [width, vocabulary], role: 'head' })
  if (memory) parameters.push(...memoryParameters(memory, width))
  return parameters
}

const matrix = (name: string, inputs: number, outputs: number): Parameter => ({
  name,
  shape: [inputs, outputs],
  role: 'matrix',
})

/** A gain under the norm's own name, and a bias beside it for layer norm. */
export function normParameters(name: string, size: number, kind: 'rms' | 'layer'): Parameter[] {
  const gain: Parameter = { name, shape: [size], role: 'gain' }
  return kind === 'rms' ? [gain] : [gain, { name: `${name}Bias`, shape: [size], role: 'bias' }]
}

export type AttentionShape = Pick<
  DecoderConfiguration,
  'width' | 'heads' | 'headWidth' | 'keyValueHeads' | 'queryKeyNorm' | 'normKind'
>

export function attentionParameters(configuration: AttentionShape, name: string): Parameter[] {
  const { width, heads, headWidth, keyValueHeads, queryKeyNorm, normKind } = configuration
  return [
    ...normParameters(`${name}.norm`, width, normKind),
    matrix(`${name}.query`, width, heads * headWidth),
    matrix(`${name}.key`, width, keyValueHeads * headWidth),
    matrix(`${name}.value`, width, keyValueHeads * headWidth),
    ...(queryKeyNorm
      ? [
          ...normParameters(`${name}.queryNorm`, headWidth, 'rms'),
          ...normParameters(`${name}.keyNorm`, headWidth, 'rms'),
        ]
      : []),
    matrix(`${name}.output`, heads * headWidth, width),
  ]
}

export type FeedForwardShape = Pick<DecoderConfiguration, 'width' | 'activation' | 'feedForwardWidth' | 'normKind'>

export function feedForwardParameters(configuration: FeedForwardShape, name: string): Parameter[] {
  const { width, activation, feedForwardWidth: inner, normKind } = configuration
  return [
    ...normParameters(`${name}.norm`, width, normKind),
    ...(activation === 'swiglu' ? [matrix(`${name}.gate`, width, inner)] : []),
    matrix(`${name}.up`, width, inner),
    matrix(`${name}.down`, inner, width),
  ]
}

/** Standard deviation of the normal distribution that a parameter begins with; gains begin at 1, biases at 0. */
function initialDeviation({ role, shape }: Parameter, scale: number): number {
  if (role === 'embedding') return scale / Math.sqrt(shape[1]!)
  return (role === 'head' ? scale / 4 : scale) / Math.sqrt(shape[0]!)
}

/** Initial values by name. Each parameter has a stream of its own, so adding one leaves the others as they were. */
export function initialValues(
  parameters: readonly Parameter[],
  initialisationScale: number,
  seed: number,
): Map<string, Float32Array> {
  const random = seededRandom(seed)
  const values = new Map<string, Float32Array>()
  for (const parameter of parameters) values.set(parameter.name, initialArray(parameter, initialisationScale, random))
  return values
}

function initialArray(parameter: Parameter, initialisationScale: number, random: Random): Float32Array {
  const { name, shape, role } = parameter
  if (role === 'memory') return initialSlotValues(parameter, random.fork(name))
  const array = new Float32Array(sizeOf(shape))
  if (role === 'gain') return array.fill(1)
  if (role === 'bias') return array
  const stream = random.fork(name)
  const deviation = initialDeviation(parameter, initialisationScale)
  return array.map(() => deviation * stream.normal())
}

export function parameterCount(options: DecoderOptions): number {
  return decoderParameters(completeDecoder(options)).reduce((sum, { shape }) => sum + sizeOf(shape), 0)
}

/**
 * Floating-point operations of training per token at the full context: 6 for each weight that is multiplied (matrices
 * and the head, tied or not; looking up an embedding is free), and 12 × depth × heads × headWidth × contextLength for
 * attention, which is computed in full whatever its pattern (Chowdhery et al., 2022, appendix B). Forward alone is a
 * third of it. A memory that each token asks adds its own; one that a row asks once is not counted.
 */
export function estimatedFlopsPerToken(options: DecoderOptions): number {
  const configuration = completeDecoder(options)
  const { vocabulary, contextLength, depth, width, heads, headWidth, memory } = configuration
  const { memory: _, ...backbone } = configuration
  const matrices = decoderParameters(backbone).filter(({ role }) => role === 'matrix')
  const multiplied = matrices.reduce((sum, { shape }) => sum + sizeOf(shape), vocabulary * width)
  const asked = memory && memory.query !== 'history' ? memoryFlopsPerQuery(memory, width) : 0
  return 6 * multiplied + 12 * depth * heads * headWidth * contextLength + asked
}
