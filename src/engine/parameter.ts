/**
 * What an engine says about a parameter: its name, shape and role. Roles decide which optimiser a parameter gets.
 */

/**
 * `embedding`: rows looked up by token (also the head, where they are tied). `matrix`: a linear map inside a block.
 * `head`: the map from the last hidden state to logits. `gain`: the scale of a norm. `bias`: what is added. `memory`: the slots
 * of a sparse memory, keys and values.
 */
export const parameterRoles = ['embedding', 'matrix', 'head', 'gain', 'bias', 'memory'] as const
export type ParameterRole = (typeof parameterRoles)[number]

export interface Parameter {
  /** Unique in a model: `blocks.0.attention.query`. */
  readonly name: string
  /** A matrix is (inputs, outputs): a row vector times the matrix; an embedding is (vocabulary, width). */
  readonly shape: readonly number[]
  readonly role: ParameterRole
}
