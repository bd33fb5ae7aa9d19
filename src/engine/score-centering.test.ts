/**
 * Score centering (arXiv 2609.20807) as a custom loss: the score that the sampler expects at every position is taken away from that of the drawn
 * token, so that a constant reward moves nothing however far the sampler is from the trainer. Shows that what a sample carries suffices:
 * the sampler's most probable tokens, and the distribution that it was drawn from.
 */
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { type CustomDatum, type CustomLossFunction, forwardBackwardCustom } from './custom-loss.ts'
import { createEmbeddedEngine } from './embedded/engine.ts'
import { decoder } from './models/decoder.ts'
import type { Sample } from './sampling.ts'
import type { ParameterArrays } from './training.ts'

/** A drawn token, and the sampler's most probable ones (the head), at one position; log-probabilities as it was drawn. */
interface Draw {
  readonly advantage: number
  readonly drawn: number
  readonly head: readonly number[]
}

/**
 * Sum of -A (w log p_y - Σ over the head of c_v log p_v), without a gradient through w and c. What is beyond the head is taken to be as the
 * trainer's tail, scaled. Log-probabilities of a datum are, draw by draw, that of the drawn token and then those of the head. `cap`:
 * also corrects by importance, the ratio cut there; null: not.
 */
function scoreCentering(data: readonly (readonly Draw[])[], cap: number | null): CustomLossFunction {
  return logProbabilities => {
    let loss = 0
    const gradients = logProbabilities.map((values, datum) => {
      const gradient = new Float64Array(values.length)
      let place = 0
      for (const { advantage, drawn, head } of data[datum]!) {
        const lp = values[place]!
        const ofHead = values.subarray(place + 1, place + 1 + head.length)
        const weight = cap === null ? 1 : Math.min(Math.exp(lp - drawn), cap)
        gradient[place] = -advantage * weight
        loss += gradient[place]! * lp
        for (const [rank, c] of coefficients([...ofHead].map(Math.exp), head.map(Math.exp), cap).entries()) {
          gradient[place + 1 + rank] = advantage * c
          // A token without probability on either side has no share: 0 times minus infinity.
          if (c !== 0) loss += advantage * c * ofHead[rank]!
        }
        place += 1 + head.length
      }
      return gradient
    })
    return { loss, gradients }
  }
}

/** c of the head's tokens, from the probabilities that trainer and sampler give them. */
function coefficients(p: readonly number[], q: readonly number[], cap: number | null): number[] {
  const tail = (head: readonly number[]) => Math.max(1 - head.reduce((sum, value) => sum + value, 0), 1e-6)
  const ratio = tail(q) / tail(p)
  if (cap === null) return p.map((own, rank) => q[rank]! - ratio * own)
  return p.map((own, rank) => Math.min(own, cap * q[rank]!) - Math.min(1, cap * ratio) * own)
}

/** The expected gradient by the trainer's logits of one position, by enumeration of the drawn token, with rewards by token. */
function expectedGradient(
  p: Float64Array,
  q: Float64Array,
  head: readonly number[],
  rewards: readonly number[],
  cap: number | null,
): Float64Array {
  const sum = new Float64Array(p.length)
  for (const [token, probability] of q.entries()) {
    const draw = { advantage: rewards[token]!, drawn: Math.log(probability), head: head.map(v => Math.log(q[v]!)) }
    const targets = [token, ...head]
    const { gradients } = scoreCentering([[draw]], cap)([Float64Array.from(targets, v => Math.log(p[v]!))])
    for (const [index, slope] of gradients[0]!.entries())
      for (const v of p.keys()) sum[v]! += probability * slope * ((v === targets[index] ? 1 : 0) - p[v]!)
  }
  return sum
}

const size = 6
const all = Array.from({ length: size }, (_, token) => token)
const distribution = fc
  .array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: size, maxLength: size })
  .map(logits => {
    const total = logits.reduce((sum, value) => sum + Math.exp(value), 0)
    return Float64Array.from(logits, value => Math.exp(value) / total)
  })
const rewardsByToken = fc.array(fc.double({ min: -2, max: 2, noNaN: true }), { minLength: size, maxLength: size })
const largest = (values: Iterable<number>) => Math.max(...[...values].map(Math.abs))

/** The most probable under the sampler. */
const headOf = (q: Float64Array, count: number) => all.toSorted((a, b) => q[b]! - q[a]! || a - b).slice(0, count)

describe('by enumeration of one position', () => {
  it('has the coefficients of the worked example', () => {
    expect(coefficients([0.4, 0.4], [0.5, 0.3], null)).toEqual([0.1, -0.1].map(value => expect.closeTo(value, 12)))
  })

  it.each([null, 1.3, 2])('a constant reward has an expected gradient of 0, with ratios cut at %s', cap => {
    fc.assert(
      fc.property(distribution, distribution, (p, q) => {
        const rewards = new Array<number>(size).fill(1.7)
        expect(largest(expectedGradient(p, q, all, rewards, cap))).toBeLessThan(1e-12)
        // Without centering it pulls towards the sampler.
        const drift = all.map(v => p[v]! - q[v]!)
        if (cap === null && largest(drift) > 0.01)
          expect(largest(expectedGradient(p, q, [], rewards, cap))).toBeGreaterThan(0.01)
      }),
      { numRuns: 50 },
    )
  })

  it('ratios that are not cut leave nothing to take away, and a sampler that is the trainer makes it REINFORCE to the bit', () => {
    fc.assert(
      fc.property(distribution, distribution, fc.integer({ min: 1, max: size }), (p, q, count) => {
        const head = headOf(q, count)
        const probabilities = (of: Float64Array) => head.map(v => of[v]!)
        expect(largest(coefficients(probabilities(p), probabilities(q), 1e9))).toBe(0)
        expect(largest(coefficients(probabilities(q), probabilities(q), null))).toBe(0)
        const draw = { advantage: 0.7, drawn: Math.log(q[head[0]!]!), head: probabilities(q).map(Math.log) }
        const own = Float64Array.from([head[0]!, ...head], v => Math.log(q[v]!))
        for (const cap of [null, 2]) {
          const { gradients } = scoreCentering([[draw]], cap)([own])
          expect([...gradients[0]!].map(value => value + 0)).toEqual([-0.7, ...head.map(() => 0)])
        }
      }),
      { numRuns: 50 },
    )
  })

  it('puts the sampler in the place of the trainer in the softmax score: A (q - e_y), with the tail that is assumed', () => {
    fc.assert(
      fc.property(distribution, distribution, rewardsByToken, fc.integer({ min: 1, max: size }), (p, q, rewards, n) => {
        const head = headOf(q, n)
        const outside = all.filter(v => !head.includes(v))
        const mass = (of: Float64Array) => outside.reduce((sum, v) => sum + of[v]!, 0)
        const ratio = outside.length > 0 ? Math.max(mass(q), 1e-6) / Math.max(mass(p), 1e-6) : 1
        fc.pre(outside.length === 0 || (mass(p) > 1e-5 && mass(q) > 1e-5))
        const assumed = Float64Array.from(all, v => (head.includes(v) ? q[v]! : ratio * p[v]!))
        const mean = all.reduce((sum, v) => sum + q[v]! * rewards[v]!, 0)
        const gradient = expectedGradient(p, q, head, rewards, null)
        for (const v of all) expect(gradient[v]! + q[v]! * rewards[v]! - mean * assumed[v]!).toBeCloseTo(0, 9)
      }),
      { numRuns: 50 },
    )
  })
})

/**
 * What a sample carries, as draws. Its most probable tokens are the model's own: as drawn, their log-probabilities are divided by the temperature,
 * less one number, which the drawn token tells; or they have none.
 */
function drawsOf(sample: Sample, temperature: number, advantage: number): { draws: Draw[]; targets: number[][] } {
  const { count, tokens, logProbabilities } = sample.topLogProbabilities!
  const { support, blocked = [] } = sample.distribution
  const targets: number[][] = []
  const draws = Array.from(sample.tokens, (token, position): Draw => {
    const allowed =
      support?.tokens.subarray(support.offsets[position], support.offsets[position + 1]) ?? Int32Array.of()
    const isPossible = (v: number) => !blocked.includes(v) && (allowed.length === 0 || allowed.includes(v))
    const shift = sample.logProbabilities[position]! / temperature - sample.drawnLogProbabilities[position]!
    const head = tokens.subarray(position * count, (position + 1) * count)
    targets.push([token, ...head])
    return {
      advantage,
      drawn: sample.drawnLogProbabilities[position]!,
      head: Array.from(head, (v, rank) =>
        isPossible(v) ? logProbabilities[position * count + rank]! / temperature - shift : Number.NEGATIVE_INFINITY,
      ),
    }
  })
  return { draws, targets }
}

describe('whole sequences, by the verbs', () => {
  const model = decoder({
    vocabulary: 4,
    contextLength: 3,
    depth: 1,
    width: 8,
    heads: 2,
    positions: 'learned',
    activation: 'gelu',
  })
  const engine = createEmbeddedEngine()
  afterAll(() => engine.dispose())
  const norm = (gradients: ParameterArrays) => Math.hypot(...[...gradients.values()].flatMap(values => [...values]))

  it.each([
    { what: 'a sampler with other logits, all tokens known', temperature: 0.9, count: 4 },
    // One token is as the trainer's tail, scaled, whatever its probability.
    { what: 'a tail of one token', temperature: 1.2, count: 3 },
    { what: 'a blocked token', temperature: 0.8, count: 4, blocked: [2] },
    { what: 'top-p on both sides', temperature: 1.1, count: 4, topP: 0.8 },
  ])('a constant reward moves nothing: $what', async ({ temperature, count, what: _, ...options }) => {
    const trainer = await engine.createTrainer({ model, seed: 2 })
    const sampler = await trainer.snapshot({ logitOffset: Float32Array.of(0.5, -0.3, 0, 0.6) })
    const [samples] = await sampler.sample([
      {
        prompt: { tokens: Int32Array.of(1) },
        maximumTokens: 3,
        samples: 2000,
        temperature,
        topLogProbabilities: count,
        returnSupport: true,
        ...options,
      },
    ])
    // Every sequence once, with its probability: together they are all there are.
    const different = [...new Map(samples!.map(sample => [sample.tokens.join(), sample])).values()]
    const probabilities = different.map(({ drawnLogProbabilities }) =>
      Math.exp(drawnLogProbabilities.reduce((sum, value) => sum + value, 0)),
    )
    const missing = 1 - probabilities.reduce((sum, value) => sum + value, 0)
    expect(Math.abs(missing)).toBeLessThan(1e-5)

    const parts = different.map((sample, index) => drawsOf(sample, temperature, probabilities[index]!))
    const data = different.map(({ tokens, distribution }, index): CustomDatum => {
      const { targets } = parts[index]!
      const offsets = Int32Array.from({ length: targets.length + 1 }, (_, position) => position * (1 + count))
      return {
        input: { tokens: Int32Array.of(1, ...tokens.subarray(0, -1)) },
        targets: { tokens: Int32Array.from(targets.flat()), offsets },
        distribution,
      }
    })
    const draws = parts.map(part => part.draws)
    const gradientOf = async (f: CustomLossFunction) => {
      await forwardBackwardCustom(trainer, data, f)
      const gradients = await trainer.gradients()
      await trainer.clearGradients()
      return norm(gradients)
    }
    const uncentred: CustomLossFunction = logProbabilities => ({
      loss: 0,
      gradients: logProbabilities.map((values, datum) =>
        Float64Array.from(values, (_, index) => (index % (1 + count) === 0 ? -probabilities[datum]! : 0)),
      ),
    })
    const drift = await gradientOf(uncentred)
    expect(drift).toBeGreaterThan(0.1)
    for (const cap of [null, 1.3]) expect(await gradientOf(scoreCentering(draws, cap))).toBeLessThan(1e-4 * drift)
    await sampler.dispose()
    await trainer.dispose()
  })
})
