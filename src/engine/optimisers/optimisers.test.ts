/**
 * The optimisers' own properties: what Newton-Schulz does to singular values, invariances of the steps, bias correction.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../statistics/random.ts'
import { adamwStep, newAdamWState } from './adamw.ts'
import { muonDirection, muonMove, newMuonState } from './muon.ts'
import { compileNewtonSchulz } from './newton-schulz.ts'
import { globalNorm } from './optimisation.ts'

const randomArray = (size: number, seed: number) => {
  const random = seededRandom(seed)
  return Float32Array.from({ length: size }, () => random.normal())
}

/** Rows times rows of a matrix given row after row. */
function gram(matrix: ArrayLike<number>, rows: number, columns: number): number[][] {
  return Array.from({ length: rows }, (_, a) =>
    Array.from({ length: rows }, (_, b) => {
      let sum = 0
      for (let column = 0; column < columns; column++)
        sum += matrix[a * columns + column]! * matrix[b * columns + column]!
      return sum
    }),
  )
}

describe('newtonSchulz', () => {
  it('brings all singular values near one, wide or tall, whatever the scale', async () => {
    const shapes = new Map([
      ['wide', [6, 20]],
      ['tall', [20, 6]],
    ])
    const program = await compileNewtonSchulz(shapes, 5, 1)
    for (const scale of [1e-4, 1, 1e4]) {
      const input = randomArray(120, 1).map(value => value * scale)
      const { wide, tall } = await program.run({ wide: input, tall: transposed(input, 6, 20) })
      // The sum of the squares of singular values is the trace, and of their fourth powers the squared norm of the Gram matrix.
      const products = gram(wide!, 6, 20)
      const squares = products.reduce((sum, row, index) => sum + row[index]!, 0)
      const fourths = products.flat().reduce((sum, value) => sum + value * value, 0)
      expect(squares / 6).toBeGreaterThan(0.5)
      expect(squares / 6).toBeLessThan(1.4)
      expect(fourths / 6 - (squares / 6) ** 2).toBeLessThan(0.15)
      const back = transposed(tall!, 20, 6)
      for (const [index, value] of back.entries()) expect(value).toBeCloseTo(wide![index]!, 5)
    }
    await program.dispose()
  })

  it('leaves a matrix of zeros at zero', async () => {
    const program = await compileNewtonSchulz(new Map([['zero', [3, 4]]]), 5, 1)
    expect(new Set((await program.run({ zero: new Float32Array(12) }))['zero'])).toEqual(new Set([0]))
    await program.dispose()
  })
})

function transposed(matrix: ArrayLike<number>, rows: number, columns: number): Float32Array {
  return Float32Array.from(
    { length: rows * columns },
    (_, index) => matrix[(index % rows) * columns + Math.floor(index / rows)]!,
  )
}

describe('AdamW', () => {
  it('moves by the learning rate at first, whatever the scale of the gradient', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-3, max: 1e3, noNaN: true }), fc.boolean(), (size, negative) => {
        const values = Float32Array.of(1)
        adamwStep(values, Float32Array.of(negative ? -size : size), newAdamWState(1), { kind: 'adamw' }, 0.1, 0, 1)
        expect(values[0]).toBeCloseTo(negative ? 1.1 : 0.9, 4)
      }),
    )
  })

  it('decays by learning rate times weight decay, not through the moments', () => {
    const values = Float32Array.of(2)
    adamwStep(values, Float32Array.of(0), newAdamWState(1), { kind: 'adamw' }, 0.1, 0.5, 1)
    expect(values[0]).toBeCloseTo(2 * (1 - 0.05), 6)
  })
})

describe('Muon', () => {
  it('points the same way whatever constant scales all gradients', () => {
    const [small, large] = [1, 1000].map(scale => {
      const state = newMuonState(6)
      let direction = new Float32Array(6)
      for (let step = 0; step < 3; step++)
        direction = new Float32Array(muonDirection(randomArray(6, step), state, { kind: 'muon' }, scale))
      return direction
    })
    for (const [index, value] of large!.entries()) expect(value / 1000).toBeCloseTo(small![index]!, 5)
  })

  it('without Nesterov follows the momentum, with it looks one step ahead', () => {
    const direction = (nesterov: boolean) => {
      const state = newMuonState(1)
      muonDirection(Float32Array.of(1), state, { kind: 'muon', momentum: 0.5, nesterov }, 1)
      return muonDirection(Float32Array.of(1), state, { kind: 'muon', momentum: 0.5, nesterov }, 1)[0]!
    }
    expect(direction(false)).toBeCloseTo(0.75, 6)
    expect(direction(true)).toBeCloseTo(0.875, 6)
  })

  it('moves a wide matrix further: by the root of outputs over inputs', () => {
    for (const [shape, factor] of [
      [[2, 8], 2],
      [[8, 2], 1],
    ] as const) {
      const values = new Float32Array(16).fill(1)
      muonMove(values, new Float32Array(16).fill(1), shape, 0.1, 0.5)
      expect(values[0]).toBeCloseTo(1 - 0.05 - 0.1 * factor, 6)
    }
  })
})

it('the global norm is that of all arrays as one vector', () => {
  expect(globalNorm([Float32Array.of(3), Float32Array.of(0, 4)])).toBe(5)
  expect(globalNorm([])).toBe(0)
})
