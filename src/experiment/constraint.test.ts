import { describe, expect, test } from 'vitest'
import { brokenConstraint } from './constraint.ts'
import type { Constraint } from './environment.ts'

const size: Constraint = { metric: 'parameters', atMost: 1.25, relativeTo: 'reference' }

describe('brokenConstraint', () => {
  test('says which metric, which value and which bound', () => {
    expect(brokenConstraint([size], { parameters: 130_000 }, { parameters: 100_000 })).toMatchInlineSnapshot(
      `"parameters is 130000, and may be at most 1.25 times the reference's 100000 (125000)"`,
    )
    expect(brokenConstraint([{ metric: 'accuracy', atLeast: 0.5 }], { accuracy: 0.4 }, null)).toMatchInlineSnapshot(
      `"accuracy is 0.4, and must be at least 0.5"`,
    )
    expect(brokenConstraint([size], { loss: 1 }, { parameters: 1 })).toMatchInlineSnapshot(
      `"parameters was not read, and a constraint needs it"`,
    )
  })

  test('a bound met exactly, up to rounding, is met', () => {
    expect(brokenConstraint([size], { parameters: 125_000 }, { parameters: 100_000 })).toBeNull()
    const tenth: Constraint = { metric: 'x', atMost: 1.1, relativeTo: 'reference' }
    expect(brokenConstraint([tenth], { x: 0.33 }, { x: 0.3 })).toBeNull()
    expect(brokenConstraint([tenth], { x: 0.3300001 }, { x: 0.3 })).not.toBeNull()
  })

  test('a relative bound waits for the reference; an absolute one does not', () => {
    expect(brokenConstraint([size], { parameters: 1e9 }, null)).toBeNull()
    expect(brokenConstraint([size], { parameters: 1e9 }, {})).toBeNull()
    expect(brokenConstraint([{ metric: 'parameters', atMost: 1e6 }], { parameters: 1e9 }, null)).not.toBeNull()
  })

  test('a factor above one allows more, for a negative reference too', () => {
    const score: Constraint = { metric: 'score', atMost: 1.25, relativeTo: 'reference' }
    expect(brokenConstraint([score], { score: -2 }, { score: -2 })).toBeNull()
    expect(brokenConstraint([score], { score: -1.5 }, { score: -2 })).toBeNull()
    expect(brokenConstraint([score], { score: -1.4 }, { score: -2 })).not.toBeNull()
  })

  test('names the first that is broken', () => {
    const both: Constraint[] = [
      { metric: 'a', atMost: 1 },
      { metric: 'b', atLeast: 1, atMost: 2 },
    ]
    expect(brokenConstraint(both, { a: 1, b: 3 }, null)).toContain('b is 3')
    expect(brokenConstraint(both, { a: 1, b: 1.5 }, null)).toBeNull()
  })
})
