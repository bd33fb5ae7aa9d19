/**
 * Divergences and their derivatives against PyTorch (fixtures/losses_torch.py), against finite differences by the logits, and their laws.
 */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkDivergence, type Divergence, type DivergenceKind, divergenceAt } from './divergences.ts'

const fixture = JSON.parse(readFileSync(new URL('../fixtures/losses-torch.json', import.meta.url), 'utf8')) as {
  readonly positions: number
  readonly vocabulary: number
  readonly logits: readonly number[]
  readonly teacherLogits: readonly number[]
  readonly divergenceWeights: readonly number[]
  readonly divergences: readonly {
    readonly kind: 'forward' | 'reverse' | 'jsd'
    readonly beta: number | null
    readonly clip: number | null
    readonly temperature: number
    readonly losses: readonly number[]
    readonly divergences: readonly number[]
    readonly gradient: readonly number[]
  }[]
}
const { positions, vocabulary } = fixture

function logSoftmax(logits: readonly number[], temperature = 1): Float64Array {
  const scaled = logits.map(value => value / temperature)
  const largest = Math.max(...scaled)
  const sum = largest + Math.log(scaled.reduce((total, value) => total + Math.exp(value - largest), 0))
  return Float64Array.from(scaled, value => value - sum)
}

/** By the logits, from that by the log-probabilities. */
function byLogits(student: Float64Array, derivative: Float64Array): Float64Array {
  const sum = derivative.reduce((total, value) => total + value)
  return derivative.map((value, token) => value - Math.exp(student[token]!) * sum)
}

describe.each(fixture.divergences)('$kind $beta, clip $clip, temperature $temperature', example => {
  it('has the losses and gradients of PyTorch', () => {
    const { kind, beta, clip, temperature } = example
    const divergence: Divergence = {
      ...(kind === 'jsd'
        ? { kind: 'jensen-shannon', beta: beta! }
        : { kind: kind === 'forward' ? 'forward-kl' : 'reverse-kl' }),
      ...(clip !== null && { clip }),
    }
    for (let position = 0; position < positions; position++) {
      const row = (logits: readonly number[]) =>
        logSoftmax(logits.slice(position * vocabulary, (position + 1) * vocabulary), temperature)
      const [student, teacher] = [row(fixture.logits), row(fixture.teacherLogits)]
      const derivative = new Float64Array(vocabulary)
      const at = divergenceAt(divergence, student, teacher, derivative)
      expect(at.loss).toBeCloseTo(example.losses[position]!, 10)
      expect(at.divergence).toBeCloseTo(example.divergences[position]!, 10)
      const weight = fixture.divergenceWeights[position]! / temperature
      for (const [token, value] of byLogits(student, derivative).entries())
        expect(weight * value).toBeCloseTo(example.gradient[position * vocabulary + token]!, 10)
    }
  })
})

const logits = fc.array(fc.double({ min: -4, max: 4, noNaN: true }), { minLength: 5, maxLength: 5 })
const kinds: readonly DivergenceKind[] = [
  { kind: 'forward-kl' },
  { kind: 'reverse-kl' },
  ...[0, 0.1, 0.5, 0.9, 1].map(beta => ({ kind: 'jensen-shannon' as const, beta })),
]
const nowhere = () => new Float64Array(5)
const apart = (divergence: Divergence, s: Float64Array, t: Float64Array) => divergenceAt(divergence, s, t, nowhere())

describe.each(kinds)('$kind $beta', kind => {
  it('has the derivative of finite differences, with and without a clip', () => {
    fc.assert(
      fc.property(logits, logits, fc.constantFrom(undefined, 0.05, 0.3), (z, teacherLogits, clip) => {
        const divergence = { ...kind, ...(clip !== undefined && { clip }) }
        const teacher = logSoftmax(teacherLogits)
        const derivative = nowhere()
        divergenceAt(divergence, logSoftmax(z), teacher, derivative)
        const gradient = byLogits(logSoftmax(z), derivative)
        for (const [index, logit] of z.entries()) {
          const at = (moved: number) => apart(divergence, logSoftmax(z.with(index, moved)), teacher).loss
          const [up, down] = [at(logit + 1e-6), at(logit - 1e-6)]
          const [right, left] = [(up - at(logit)) / 1e-6, (at(logit) - down) / 1e-6]
          // Where an entry begins to be clipped there are two slopes.
          if (Math.abs(right - left) < 1e-4) expect(gradient[index]).toBeCloseTo((right + left) / 2, 4)
        }
      }),
    )
  })

  it('is never negative, and exactly 0 with a derivative of exactly 0 where both are equal', () => {
    fc.assert(
      fc.property(logits, logits, (z, teacherLogits) => {
        const student = Float32Array.from(logSoftmax(z))
        const derivative = new Float64Array(5).fill(1)
        expect(divergenceAt({ ...kind, clip: 1e-9 }, student, student.slice(), derivative)).toEqual({
          loss: 0,
          divergence: 0,
        })
        expect(derivative.every(value => value === 0)).toBe(true)
        expect(apart(kind, logSoftmax(z), logSoftmax(teacherLogits)).divergence).toBeGreaterThan(-1e-12)
      }),
    )
  })

  it('a clip beyond every entry changes nothing; a small one only makes the loss smaller', () => {
    fc.assert(
      fc.property(logits, logits, (z, teacherLogits) => {
        const [student, teacher] = [logSoftmax(z), logSoftmax(teacherLogits)]
        const plain = apart(kind, student, teacher)
        expect(apart({ ...kind, clip: 100 }, student, teacher)).toEqual(plain)
        const clipped = apart({ ...kind, clip: 0.05 }, student, teacher)
        expect(clipped.divergence).toBe(plain.divergence)
        expect(clipped.loss).toBeLessThanOrEqual(plain.loss)
      }),
    )
  })
})

describe('laws', () => {
  it('swapping the roles makes one KL the other; at beta 0.5 the Jensen-Shannon divergence does not change', () => {
    fc.assert(
      fc.property(logits, logits, (a, b) => {
        const [p, q] = [logSoftmax(a), logSoftmax(b)]
        expect(apart({ kind: 'forward-kl' }, p, q).divergence).toBe(apart({ kind: 'reverse-kl' }, q, p).divergence)
        const middle = { kind: 'jensen-shannon', beta: 0.5 } as const
        expect(apart(middle, p, q).divergence).toBeCloseTo(apart(middle, q, p).divergence, 12)
      }),
    )
  })

  it('at the ends beta means the two KLs, near them only the divergence over beta does', () => {
    const [p, q] = [logSoftmax([1, 0, -1, 2, 0.5]), logSoftmax([0, 0.3, 1, -1, 0.2])]
    const at = (beta: number) => apart({ kind: 'jensen-shannon', beta }, p, q).divergence
    const [forward, reverse] = [apart({ kind: 'forward-kl' }, p, q), apart({ kind: 'reverse-kl' }, p, q)]
    expect(at(0)).toBe(forward.divergence)
    expect(at(1)).toBe(reverse.divergence)
    expect(at(1e-6)).toBeLessThan(1e-5)
    expect(at(1e-6) / 1e-6).toBeCloseTo(forward.divergence, 4)
    expect(at(1 - 1e-6) / 1e-6).toBeCloseTo(reverse.divergence, 4)
  })

  it('the clipped forward KL has the gradient p_S(j) Σ_C p_T - p_T(j) 1[j ∈ C] by the logits', () => {
    fc.assert(
      fc.property(logits, logits, (a, b) => {
        const [student, teacher] = [logSoftmax(a), logSoftmax(b)]
        const derivative = nowhere()
        divergenceAt({ kind: 'forward-kl', clip: 0.05 }, student, teacher, derivative)
        const p = student.map(Math.exp)
        const t = teacher.map(Math.exp)
        const isOpen = t.map((value, token) => Number(value * (teacher[token]! - student[token]!) <= 0.05))
        const mass = t.reduce((sum, value, token) => sum + value * isOpen[token]!, 0)
        for (const [token, value] of byLogits(student, derivative).entries())
          expect(value).toBeCloseTo(p[token]! * mass - t[token]! * isOpen[token]!, 12)
      }),
    )
  })

  it('tokens without probability add nothing where the other side has none either, and make a divergence infinite where it has', () => {
    const none = Number.NEGATIVE_INFINITY
    const [p, q] = [
      Float64Array.of(Math.log(0.5), Math.log(0.5), none),
      Float64Array.of(Math.log(0.25), Math.log(0.75), none),
    ]
    for (const kind of kinds) {
      const derivative = new Float64Array(3)
      const { divergence } = divergenceAt(kind, p, q, derivative)
      expect(divergence).toBeGreaterThan(0)
      expect(divergence).toBeLessThan(1)
      expect(derivative.every(Number.isFinite)).toBe(true)
    }
    const one = Float64Array.of(0, none, none)
    expect(divergenceAt({ kind: 'forward-kl' }, one, q, new Float64Array(3)).divergence).toBe(Number.POSITIVE_INFINITY)
    expect(divergenceAt({ kind: 'reverse-kl' }, q, one, new Float64Array(3)).divergence).toBe(Number.POSITIVE_INFINITY)
    // The most that two distributions can be apart.
    const other = Float64Array.of(none, 0, none)
    const middle = { kind: 'jensen-shannon', beta: 0.5 } as const
    expect(divergenceAt(middle, one, other, new Float64Array(3)).divergence).toBeCloseTo(Math.LN2, 12)
    // The ratio of these probabilities is beyond every number.
    const [left, right] = [Float64Array.of(-720, 0), Float64Array.of(0, -720)]
    const derivative = new Float64Array(2)
    expect(divergenceAt(middle, left, right, derivative).divergence).toBeCloseTo(Math.LN2, 12)
    expect(derivative.every(Number.isFinite)).toBe(true)
  })

  it('numbers that make no sense are refused', () => {
    expect(() => checkDivergence({ kind: 'jensen-shannon', beta: 1.5 })).toThrow(
      'beta is 1.5: expected a number from 0 to 1',
    )
    expect(() => checkDivergence({ kind: 'forward-kl', clip: 0 })).toThrow('clip is 0: expected a positive number')
  })
})
