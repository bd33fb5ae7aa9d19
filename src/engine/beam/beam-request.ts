/**
 * Whether requests for beams make sense for a model.
 */
import { checkTokens } from '../losses/check-data.ts'
import {
  described,
  type FieldsOf,
  requireFields,
  requireIntegers,
  requireList,
  requireRecord,
} from '../required-types.ts'
import type { BeamRequest, Sampler, Transitions } from '../sampling.ts'

const fields: FieldsOf<BeamRequest> = { prompt: true, beams: true, maximumTokens: true, stop: true, constraint: true }
const constraintFields: FieldsOf<Transitions> = { next: true }

type Sizes = Pick<Sampler, 'vocabulary' | 'contextLength'>

/** Throws one sentence for the first thing that is wrong. What a prompt consists of is for the model to check. */
export function checkBeamRequests(requests: readonly BeamRequest[], sizes: Sizes): void {
  // Requests often share a large one.
  const checked = new Set<Transitions>()
  requireList('beamSearch: requests', requests)
  for (const [index, request] of requests.entries()) {
    const place = `beamSearch: requests[${index}]`
    requireFields(place, request, fields)
    const { prompt, beams, maximumTokens, stop, constraint } = request
    requireRecord(`${place}.prompt`, prompt)
    requireIntegers(`${place}.prompt.tokens`, prompt.tokens)
    requireList(`${place}.stop`, stop)
    if (constraint !== undefined) requireFields(`${place}.constraint`, constraint, constraintFields)
    const refuse = (problem: string) => {
      throw new Error(`${place}: ${problem}`)
    }
    for (const [field, value] of Object.entries({ beams, maximumTokens }))
      if (!Number.isInteger(value) || value < 1)
        refuse(`${field} is ${described(value)}: expected a positive whole number`)
    // The last token is not read any more.
    const length = prompt.tokens.length + maximumTokens - 1
    if (length > sizes.contextLength)
      refuse(
        `a prompt of ${prompt.tokens.length} and ${maximumTokens} tokens more do not fit ` +
          `a context of ${sizes.contextLength}`,
      )
    for (const [index, token] of (stop as readonly unknown[]).entries())
      if (Array.isArray(token))
        throw new Error(`${place}.stop[${index}] is an array: expected a token; beams end at single tokens`)
    checkTokens(`${place}.stop`, stop, sizes.vocabulary)
    if (!constraint || checked.has(constraint)) continue
    const problem = constraintProblem(constraint, sizes)
    if (problem) refuse(`the constraint ${problem}`)
    checked.add(constraint)
  }
}

function constraintProblem({ next }: Transitions, sizes: Sizes): string | null {
  if (!Array.isArray(next) || !next.every(transitions => transitions instanceof Map))
    return 'has no array of Maps called next'
  if ((next[0]?.size ?? 0) === 0) return 'allows no first token'
  for (const [state, transitions] of next.entries())
    for (const [token, following] of transitions) {
      if (!isTokenOf(token, sizes))
        return `allows ${token} in state ${state}, which is not one of the ${sizes.vocabulary} tokens`
      if (!(Number.isInteger(following) && following in next))
        return `leads from state ${state} to ${following}, and has only ${next.length} states`
    }
  return null
}

function isTokenOf(token: number, { vocabulary }: Sizes): boolean {
  return Number.isInteger(token) && token >= 0 && token < vocabulary
}
