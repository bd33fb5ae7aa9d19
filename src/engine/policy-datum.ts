/**
 * From a prompt and what was drawn behind it to a datum of a policy loss.
 */
import type { PolicyDatum } from './datum.ts'
import { distributionBehind } from './positions-behind.ts'
import { described, type FieldsOf, requireFields, requireIntegers, requireRecord } from './required-types.ts'
import type { Sample, SampleRequest } from './sampling.ts'

export interface PolicyDatumOptions {
  /**
   * Whose log-probabilities are meant. `drawn`: those of the distribution that the tokens were drawn from, so that ratios are those of what
   * was really done; ask with returnSupport where top-p or top-k take tokens away. `model`: the model's own. Default drawn;
   * there is no difference at temperature 1 where nothing is taken away.
   */
  readonly distribution?: 'drawn' | 'model'
}

const fields: FieldsOf<PolicyDatumOptions> = { distribution: true }

/**
 * The datum reads the prompt and all drawn tokens but the last. Advantages are one for all drawn tokens, or one for each; positions that predict
 * the prompt have 0, which leaves them out. Losses are sums: for a mean over n, divide by n. A prefix does not show an encoder's
 * text: of a model that has an encoder, give the prompt.
 */
export function policyDatum(
  prompt: SampleRequest['prompt'],
  sample: Sample,
  advantages: number | ArrayLike<number>,
  options: PolicyDatumOptions = {},
): PolicyDatum {
  checkKinds(prompt, sample, advantages)
  requireFields('policyDatum: options', options, fields)
  const { distribution: meant = 'drawn' } = options
  if (meant !== 'drawn' && meant !== 'model')
    throw new Error(`policyDatum: distribution is ${described(meant)}: expected drawn or model`)
  const { tokens, distribution } = sample
  if (typeof advantages !== 'number' && advantages.length !== tokens.length)
    throw new Error(
      `policyDatum: there are ${advantages.length} advantages: expected one number, or ${tokens.length}, one for each drawn token`,
    )
  const isOwn = meant === 'model' || Object.keys(distribution).length === 0
  if (isOwn && meant === 'drawn') requireNothingLeftOut(sample)
  const before = prompt.tokens.length - 1
  const all = new Int32Array(prompt.tokens.length + tokens.length)
  all.set(prompt.tokens)
  all.set(tokens, prompt.tokens.length)
  const behind = (values: ArrayLike<number>) => {
    const numbers = new Float32Array(before + tokens.length)
    numbers.set(values, before)
    return numbers
  }
  return {
    input: { ...('length' in prompt ? {} : prompt), tokens: all.subarray(0, -1) },
    targets: all.subarray(1),
    logProbabilities: behind(meant === 'model' ? sample.logProbabilities : sample.drawnLogProbabilities),
    advantages: behind(typeof advantages === 'number' ? new Float32Array(tokens.length).fill(advantages) : advantages),
    ...(!isOwn && { distribution: distributionBehind(distribution, before) }),
  }
}

function checkKinds(prompt: SampleRequest['prompt'], sample: Sample, advantages: number | ArrayLike<number>): void {
  requireRecord('policyDatum: the prompt', prompt)
  requireIntegers('policyDatum: the tokens of the prompt', prompt.tokens)
  if (Array.isArray(sample))
    throw new Error('policyDatum: the sample is an array: expected one of the samples of a request')
  requireRecord('policyDatum: the sample', sample)
  requireIntegers('policyDatum: the tokens of the sample', sample.tokens)
  const isList = Array.isArray(advantages) || ArrayBuffer.isView(advantages)
  if (typeof advantages !== 'number' && !isList)
    throw new Error(
      `policyDatum: the advantages are ${described(advantages)}: expected a number, or one for each drawn token`,
    )
}

/** At temperature 1, with nothing blocked, only top-p or top-k can have made a difference. */
function requireNothingLeftOut({ logProbabilities, drawnLogProbabilities }: Sample): void {
  const index = logProbabilities.findIndex((value, index) => Math.abs(value - drawnLogProbabilities[index]!) > 1e-3)
  if (index >= 0)
    throw new Error(
      `policyDatum: token ${index} was drawn with log-probability ${drawnLogProbabilities[index]}, and has ` +
        `${logProbabilities[index]} under the distribution that the sample tells of: ask with returnSupport`,
    )
}
