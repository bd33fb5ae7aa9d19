import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sizeOf } from '../graph/shape.ts'
import type { Parameter } from '../parameter.ts'
import { quantise, quantiseParameters } from './quantisation.ts'

const quantisations = fc.record({
  bits: fc.constantFrom(4 as const, 8 as const),
  groupSize: fc.integer({ min: 1, max: 7 }),
})

/** Weights of very different magnitudes, zeros and numbers too small for full precision among them. */
const matrices = fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 5 })).chain(shape =>
  fc.record({
    shape: fc.constant(shape),
    values: fc
      .array(
        fc.oneof(
          fc.float({ noNaN: true, noDefaultInfinity: true, max: 2 ** 100, min: -(2 ** 100) }),
          fc.integer({ min: -(2 ** 24), max: 2 ** 24 }).map(value => value / 2 ** 24),
        ),
        {
          minLength: sizeOf(shape),
          maxLength: sizeOf(shape),
        },
      )
      .map(values => Float32Array.from(values)),
  }),
)

/** The groups of a matrix along its inputs, as lists of places. */
function groupsOf([inputs, outputs]: readonly [number, number], groupSize: number): number[][] {
  const groups: number[][] = []
  for (let output = 0; output < outputs; output++)
    for (let first = 0; first < inputs; first += groupSize)
      groups.push(
        Array.from({ length: Math.min(groupSize, inputs - first) }, (_, index) => (first + index) * outputs + output),
      )
  return groups
}

test('every value moves by at most half a scale of its group, and a group has few values', () => {
  fc.assert(
    fc.property(matrices, quantisations, ({ shape, values }, quantisation) => {
      const rounded = quantise(values, shape, quantisation)
      const multiples = 2 ** (quantisation.bits - 1) - 1
      for (const group of groupsOf(shape, quantisation.groupSize)) {
        const largest = Math.max(...group.map(index => Math.abs(values[index]!)))
        const halfScale = largest / multiples / 2 + largest * 2 ** -24 + 2 ** -150
        for (const index of group) expect(Math.abs(rounded[index]! - values[index]!)).toBeLessThanOrEqual(halfScale)
        const distinct = new Set(group.map(index => Math.abs(rounded[index]!)))
        expect(distinct.size).toBeLessThanOrEqual(multiples + 1)
      }
    }),
  )
})

test('rounding what is rounded changes nothing', () => {
  fc.assert(
    fc.property(matrices, quantisations, ({ shape, values }, quantisation) => {
      const once = quantise(values, shape, quantisation)
      expect(quantise(once, shape, quantisation)).toEqual(once)
    }),
  )
})

test('multiples of a scale that the group can represent stay as they are', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -7, max: 7 }), { minLength: 1, maxLength: 12 }),
      fc.integer({ min: -20, max: 20 }),
      (multiples, exponent) => {
        const values = Float32Array.from([...multiples, 7], multiple => multiple * 3 * 2 ** exponent)
        expect(quantise(values, [values.length, 1], { bits: 4, groupSize: 64 })).toEqual(values)
      },
    ),
  )
})

test('worked by hand: groups along the inputs, a last one that is smaller, zeros, ties to even', () => {
  // Two outputs of five inputs in groups of two: scales 1 and 2, 0 and 1, 3 and 0.5.
  const values = Float32Array.from([7, 14, 2.5, -3, 0, 7, 0, 0.4, 21, -3.5])
  const rounded = quantise(values, [5, 2], { bits: 4, groupSize: 2 })
  expect([...rounded]).toEqual([7, 14, 2, -4, 0, 7, 0, 0, 21, -3.5])
})

test('matrices and heads are rounded along their inputs, embeddings along the width; the rest is shared', () => {
  const parameters: Parameter[] = [
    { name: 'embedding', shape: [3, 4], role: 'embedding' },
    { name: 'matrix', shape: [4, 3], role: 'matrix' },
    { name: 'head', shape: [4, 3], role: 'head' },
    { name: 'gain', shape: [4], role: 'gain' },
    { name: 'bias', shape: [4], role: 'bias' },
    { name: 'keys', shape: [3, 4], role: 'memory' },
  ]
  const rows = [1, 0.9, 0.1, 0.03, 1000, 900, 100, 30, 1, 2, 3, 4]
  const columns = Array.from({ length: 12 }, (_, index) => rows[(index % 3) * 4 + Math.floor(index / 3)]!)
  const values = new Map(
    parameters.map(({ name, shape }) => [
      name,
      Float32Array.from(name === 'embedding' || name === 'keys' ? rows : columns.slice(0, sizeOf(shape))),
    ]),
  )
  const before = new Map([...values].map(([name, array]) => [name, array.slice()]))
  const rounded = quantiseParameters(parameters, values, { bits: 8 })
  expect(values).toEqual(before)
  for (const name of ['gain', 'bias', 'keys']) expect(rounded.get(name)).toBe(values.get(name))
  // Large rows of the embedding and large outputs of a matrix do not spoil the others.
  const transposed = Array.from(
    rounded.get('embedding')!,
    (_, index) => rounded.get('embedding')![(index % 3) * 4 + Math.floor(index / 3)],
  )
  expect([...rounded.get('matrix')!]).toEqual(transposed)
  expect(rounded.get('head')).toEqual(rounded.get('matrix'))
  expect(rounded.get('embedding')![3]).toBeCloseTo(0.03, 2)
  expect(rounded.get('embedding')![3]).not.toBe(0)
  expect(rounded.get('embedding')).not.toEqual(values.get('embedding'))
})

test.each([
  [{ bits: 5 as never }, 'quantisation: bits is 5: expected 4 or 8'],
  [{ bits: 4 as const, groupSize: 0 }, 'quantisation: groupSize is 0: expected a positive whole number'],
])('what cannot be is refused (%#)', (quantisation, sentence) => {
  expect(() => quantise(new Float32Array(4), [2, 2], quantisation)).toThrow(sentence)
})

test('weights that are not finite, and a shape that does not fit, are refused', () => {
  expect(() => quantise(Float32Array.of(1, Number.NaN), [2, 1], { bits: 8 })).toThrow(
    'quantise: value 1 is NaN; only finite weights can be rounded',
  )
  expect(() => quantise(new Float32Array(3), [2, 2], { bits: 8 })).toThrow('3 values do not fill shape (2, 2)')
})
