/**
 * Low-rank adapters (LoRA, Hu et al., 2022): which matrices of a model get one, and the parameters that they add. How
 * they change a model's weights is in adapted-weights.ts. A model need not know of them.
 */
import { seededRandom } from '../../statistics/random.ts'
import type { Adapters } from '../engine.ts'
import { sizeOf } from '../graph/shape.ts'
import type { Parameter } from '../parameter.ts'
import { described, type FieldsOf, requireFields, requireList } from '../required-types.ts'

const fields: FieldsOf<Adapters> = { rank: true, alpha: true, projections: true }

/** (inputs, rank); `adapterB` is (rank, outputs). */
export const adapterA = (matrix: string): string => `${matrix}.adapter.a`
export const adapterB = (matrix: string): string => `${matrix}.adapter.b`

/** What A B is multiplied by. */
export function adapterScale({ rank, alpha = rank }: Adapters): number {
  return alpha / rank
}

/**
 * The matrices that get an adapter, in the model's order. A projection `query` means every parameter that is called so
 * or whose name ends in `.query`; any parameter with two axes may be named, an embedding or a head too. Throws a
 * sentence for a rank or alpha that cannot be and for a projection that matches nothing or something that is not a
 * matrix.
 */
export function adaptedMatrices(parameters: readonly Parameter[], adapters: Adapters): readonly Parameter[] {
  requireFields('adapters', adapters, fields)
  const { rank, alpha = rank, projections } = adapters
  if (!Number.isInteger(rank) || rank < 1)
    throw new Error(`adapters: rank is ${described(rank)}: expected a positive whole number`)
  if (!(Number.isFinite(alpha) && alpha > 0))
    throw new Error(`adapters: alpha is ${described(alpha)}: expected a positive number`)
  const matrices = chosenMatrices(parameters, projections)
  const largest = matrices.reduce((most, { shape }) => Math.max(most, ...shape), 0)
  if (rank > largest)
    throw new Error(`adapters: rank is ${rank}: above ${largest}, the largest side of the matrices, it adds nothing`)
  return matrices
}

function chosenMatrices(
  parameters: readonly Parameter[],
  projections: readonly string[] | undefined,
): readonly Parameter[] {
  const matrices = parameters.filter(({ role }) => role === 'matrix')
  if (projections === undefined) {
    if (matrices.length === 0)
      throw new Error(
        `adapters: the model has no parameters of role matrix; name projections among ${listed(parameters)}`,
      )
    return matrices
  }
  requireList('adapters: projections', projections)
  if (projections.length === 0)
    throw new Error('adapters: projections is empty, so that nothing would be trained; leave it out for all matrices')
  for (const projection of projections) {
    const named = parameters.filter(parameter => matches(parameter, projection))
    if (named.length === 0)
      throw new Error(`adapters: no parameter's name ends in ${projection}; there are ${listed(parameters)}`)
    for (const { name, shape } of named)
      if (shape.length !== 2)
        throw new Error(`adapters: ${name} has shape (${shape.join(', ')}); only a matrix can have an adapter`)
  }
  return parameters.filter(parameter => projections.some(projection => matches(parameter, projection)))
}

/** What is trained: `<matrix>.adapter.a` and `.b` of each adapted matrix. */
export function adapterParameters(parameters: readonly Parameter[], adapters: Adapters): readonly Parameter[] {
  return adaptedMatrices(parameters, adapters).flatMap(({ name, shape }): Parameter[] => [
    { name: adapterA(name), shape: [shape[0]!, adapters.rank], role: 'matrix' },
    { name: adapterB(name), shape: [adapters.rank, shape[1]!], role: 'matrix' },
  ])
}

/**
 * A is normal with deviation 1/sqrt(inputs), B is 0: the adapted model begins as its base. Each A has a stream of its
 * own.
 */
export function initialAdapterValues(
  parameters: readonly Parameter[],
  adapters: Adapters,
  seed: number,
): Map<string, Float32Array> {
  const random = seededRandom(seed)
  const begin = ({ name, shape }: Parameter): Float32Array => {
    const values = new Float32Array(sizeOf(shape))
    if (!name.endsWith('.adapter.a')) return values
    const stream = random.fork(name)
    const deviation = 1 / Math.sqrt(shape[0]!)
    return values.map(() => deviation * stream.normal())
  }
  return new Map(adapterParameters(parameters, adapters).map(parameter => [parameter.name, begin(parameter)]))
}

function matches({ name }: Parameter, projection: string): boolean {
  return name === projection || name.endsWith(`.${projection}`)
}

/** The ends of the matrices' names, each once, without the numbers of blocks. */
function listed(parameters: readonly Parameter[]): string {
  const names = parameters.filter(({ shape }) => shape.length === 2).map(({ name }) => name.replace(/^.*\.\d+\./, ''))
  return [...new Set(names)].join(', ')
}
