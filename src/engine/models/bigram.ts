/**
 * The smallest model: logits by the token before, in a table. Its distributions are exact by construction, so that what losses and methods
 * promise can be checked by enumeration; and it is the shortest example of a model.
 */
import { seededRandom } from '../../statistics/random.ts'
import { lookUpRows } from '../algebra/lookup.ts'
import type { Parameter } from '../parameter.ts'
import { described, type FieldsOf, requireFields } from '../required-types.ts'
import type { Model } from './model.ts'

export interface BigramConfiguration {
  readonly vocabulary: number
  readonly contextLength: number
  /** Standard deviation of the initial logits. Default 0: every token is equally likely. */
  readonly initialDeviation?: number
}

const fields: FieldsOf<BigramConfiguration> = { vocabulary: true, contextLength: true, initialDeviation: true }

export function bigram(configuration: BigramConfiguration): Model {
  requireFields('bigram', configuration, fields)
  const { vocabulary, contextLength, initialDeviation = 0 } = configuration
  for (const [field, value] of Object.entries({ vocabulary, contextLength }))
    if (!(Number.isInteger(value) && value > 0))
      throw new Error(`bigram: ${field} is ${described(value)}: expected a positive whole number`)
  if (!(Number.isFinite(initialDeviation) && initialDeviation >= 0))
    throw new Error(`bigram: initialDeviation is ${described(initialDeviation)}: expected a number from 0 on`)
  const table: Parameter = { name: 'logits', shape: [vocabulary, vocabulary], role: 'matrix' }
  return {
    kind: 'bigram',
    configuration,
    vocabulary,
    contextLength,
    inputs: { tokens: true, encoderTokens: false, features: 0 },
    parameters: [table],
    readouts: {},
    initialValues(seed) {
      const random = seededRandom(seed)
      const values = Float32Array.from({ length: vocabulary ** 2 }, () => initialDeviation * random.normal())
      return new Map([[table.name, values]])
    },
    build: ({ parameters, tokens }) => ({
      logits: lookUpRows(parameters.get(table.name)!, tokens),
      readouts: new Map(),
    }),
    incremental: {
      entries: () => [],
      step: ({ parameters, tokens }) => ({ logits: lookUpRows(parameters.get(table.name)!, tokens) }),
    },
  }
}
