/**
 * Losses of the GRPO family equal TRL's on the same numbers (fixtures/trl_losses.py called TRL's own functions): the built-in losses
 * with advantages scaled as each aggregation says, and custom losses for what is not built in: a KL term, ratios of whole sequences.
 */
import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { type CustomLossFunction, checkDerivative, forwardBackwardCustom } from './custom-loss.ts'
import { createEmbeddedEngine } from './embedded/engine.ts'
import { bigram } from './models/bigram.ts'

type Sequences = readonly (readonly number[])[]
interface Case {
  readonly lossType: 'grpo' | 'bnpo' | 'dapo' | 'dr_grpo' | 'cispo'
  readonly beta: number
  readonly level: 'token' | 'sequence'
  readonly loss: number
  /** By the log-probability of each token. */
  readonly gradients: Sequences
}
const fixture = JSON.parse(readFileSync(new URL('fixtures/trl-losses.json', import.meta.url), 'utf8')) as {
  readonly lengths: readonly number[]
  readonly longestCompletion: number
  readonly epsilonLow: number
  readonly epsilonHigh: number
  readonly cispoHigh: number
  readonly advantages: readonly number[]
  readonly logProbabilities: Sequences
  readonly oldLogProbabilities: Sequences
  readonly referenceLogProbabilities: Sequences
  readonly cases: readonly Case[]
}
const { lengths, advantages, oldLogProbabilities, referenceLogProbabilities } = fixture
const [low, high] = [1 - fixture.epsilonLow, 1 + fixture.epsilonHigh]
const total = lengths.reduce((sum, length) => sum + length, 0)

/** What a token of a sequence counts: the losses here are sums, TRL's are means of one kind or another. */
function tokenWeight({ lossType }: Case, sequence: number): number {
  if (lossType === 'grpo') return 1 / (lengths.length * lengths[sequence]!)
  return lossType === 'dr_grpo' ? 1 / (lengths.length * fixture.longestCompletion) : 1 / total
}

/**
 * Every position of every sequence has a token of its own, so that a row of the table makes the log-probability that the fixture says: of
 * the target, the next token; the rest is shared by the others.
 */
const vocabulary = total
const starts = lengths.map((_, index) => lengths.slice(0, index).reduce((sum, length) => sum + length, 0))
const inputs = lengths.map((length, index) => Int32Array.from({ length }, (_, position) => starts[index]! + position))
const targets = inputs.map(tokens => tokens.map(token => (token + 1) % vocabulary))
const table = new Float32Array(vocabulary ** 2)
for (const [row, logProbability] of fixture.logProbabilities.flat().entries()) {
  table.fill(Math.log((1 - Math.exp(logProbability)) / (vocabulary - 1)), row * vocabulary, (row + 1) * vocabulary)
  table[row * vocabulary + ((row + 1) % vocabulary)] = logProbability
}

const engine = createEmbeddedEngine()
const model = bigram({ vocabulary, contextLength: Math.max(...lengths) })
const trainer = await engine.createTrainer({ model, values: new Map([['logits', table]]) })
afterAll(() => engine.dispose())

/** Those that have accumulated, by the log-probabilities; they are cleared. */
async function gradients(): Promise<Sequences> {
  const byLogit = (await trainer.gradients()).get('logits')!
  await trainer.optimStep({ groups: [{ match: () => true, optimiser: { kind: 'sgd' }, learningRate: 0 }] })
  return inputs.map((tokens, sequence) =>
    Array.from(tokens, (token, position) => {
      // The derivative of a log-probability by its own logit is 1 - p.
      const p = Math.exp(fixture.logProbabilities[sequence]![position]!)
      return byLogit[token * vocabulary + ((token + 1) % vocabulary)]! / (1 - p)
    }),
  )
}

function expectClose(actual: Sequences, expected: Sequences): void {
  const largest = Math.max(...expected.flat().map(Math.abs))
  expect(actual.map(sequence => sequence.length)).toEqual(lengths)
  for (const [index, value] of expected.flat().entries())
    expect(Math.abs(actual.flat()[index]! - value) / largest).toBeLessThan(2e-6)
}

const clip = (ratio: number) => Math.min(Math.max(ratio, low), high)

/** Value and derivative by the logarithm of the ratio. */
function surrogate(logRatio: number, advantage: number): readonly [number, number] {
  const ratio = Math.exp(logRatio)
  const clipped = clip(ratio) * advantage < ratio * advantage
  return clipped ? [-clip(ratio) * advantage, 0] : [-ratio * advantage, -ratio * advantage]
}

/** Ratios of tokens, with a KL divergence from the reference by the estimator exp(d) - d - 1 (k3 of Schulman, 2020). */
function tokenLevel(example: Case): CustomLossFunction {
  return logProbabilities => {
    let loss = 0
    const derivatives = logProbabilities.map((values, sequence) => {
      const weight = tokenWeight(example, sequence)
      return Float64Array.from(values, (value, position) => {
        const logRatio = value - oldLogProbabilities[sequence]![position]!
        const [part, derivative] = surrogate(logRatio, advantages[sequence]!)
        const gap = referenceLogProbabilities[sequence]![position]! - value
        loss += weight * (part + example.beta * (Math.exp(gap) - gap - 1))
        return weight * (derivative + example.beta * (1 - Math.exp(gap)))
      })
    })
    return { loss, gradients: derivatives }
  }
}

/** One ratio a sequence, the geometric mean of those of its tokens (GSPO; Zheng et al., 2025, equation 7). */
const sequenceLevel: CustomLossFunction = logProbabilities => {
  let loss = 0
  const derivatives = logProbabilities.map((values, sequence) => {
    const differences = Float64Array.from(
      values,
      (value, position) => value - oldLogProbabilities[sequence]![position]!,
    )
    const mean = differences.reduce((sum, difference) => sum + difference, 0) / values.length
    const [part, derivative] = surrogate(mean, advantages[sequence]!)
    loss += part / lengths.length
    return differences.map(() => derivative / values.length / lengths.length)
  })
  return { loss, gradients: derivatives }
}

describe.each(fixture.cases)('$lossType with beta $beta, ratios by $level', example => {
  const { lossType, beta, level } = example
  if (beta === 0 && level === 'token')
    it('is the built-in loss with scaled advantages', async () => {
      const data = inputs.map((tokens, sequence) => ({
        input: { tokens },
        targets: targets[sequence]!,
        logProbabilities: Float32Array.from(oldLogProbabilities[sequence]!),
        advantages: new Float32Array(tokens.length).fill(advantages[sequence]! * tokenWeight(example, sequence)),
      }))
      const loss =
        lossType === 'cispo'
          ? ({ kind: 'cispo', clipHigh: fixture.cispoHigh } as const)
          : ({ kind: 'ppo', clipLow: low, clipHigh: high } as const)
      const result = await trainer.forwardBackward(data, loss)
      expect(result.lossSum).toBeCloseTo(example.loss, 6)
      for (const [sequence, values] of result.logProbabilities.entries())
        for (const [position, value] of values.entries())
          expect(value).toBeCloseTo(fixture.logProbabilities[sequence]![position]!, 5)
      expectClose(await gradients(), example.gradients)
    })

  if (lossType !== 'cispo')
    it('is a custom loss', async () => {
      const f = level === 'token' ? tokenLevel(example) : sequenceLevel
      // Without a trainer, in double precision.
      const exact = f(fixture.logProbabilities.map(values => Float64Array.from(values)))
      expect(exact.loss).toBeCloseTo(example.loss, 10)
      for (const [sequence, values] of exact.gradients.entries())
        for (const [position, value] of values.entries())
          expect(value).toBeCloseTo(example.gradients[sequence]![position]!, 10)
      expect(
        checkDerivative(
          f,
          fixture.logProbabilities.map(values => Float64Array.from(values)),
        ),
      ).toBeLessThan(1e-7)

      const data = inputs.map((tokens, sequence) => ({ input: { tokens }, targets: targets[sequence]! }))
      expect((await forwardBackwardCustom(trainer, data, f)).loss).toBeCloseTo(example.loss, 6)
      expectClose(await gradients(), example.gradients)
    })
})
