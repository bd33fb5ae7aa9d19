/**
 * What beam search needs of a model: rows that go on from what they have read.
 */
import type { ModelInput } from '../datum.ts'
import type { BeamRequest, CallOptions, Sampler } from '../sampling.ts'

/** Rows at a point of their continuation. */
export interface Frontier {
  /** By row, the log-probability of every token as the next one. */
  readonly logProbabilities: readonly Float32Array[]
  /** Row i of the result is row `parents[i]` of this one with `tokens[i]` behind it. This one is not used after. */
  extend(parents: readonly number[], tokens: readonly number[]): Promise<Frontier>
}

/** A row for the prompt of each request; prompts of any lengths. */
export type FrontierStart = (requests: readonly BeamRequest[]) => Promise<Frontier>

/** For models that keep nothing of what they have read: every step reads everything anew. */
export function wholeFrontier(
  sampler: Pick<Sampler, 'vocabulary' | 'distributions'>,
  options?: CallOptions,
): FrontierStart {
  const { vocabulary } = sampler
  const read = async (inputs: readonly ModelInput[]): Promise<Frontier> => {
    const distributions = await sampler.distributions(
      inputs.map(input => ({ input })),
      options,
    )
    return {
      logProbabilities: distributions.map(rows => rows.subarray(rows.length - vocabulary)),
      extend: (parents, tokens) =>
        read(
          parents.map((parent, row) => {
            const input = inputs[parent]!
            return { ...input, tokens: Int32Array.of(...input.tokens, tokens[row]!) }
          }),
        ),
    }
  }
  return requests => read(requests.map(({ prompt }) => prompt))
}
