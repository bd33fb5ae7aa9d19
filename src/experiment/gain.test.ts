import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../statistics/random.ts'
import type { Direction } from './environment.ts'
import { measureGain, pooledNoise, sideOf, uncertaintyOf, varianceOfMedian, verdictOf } from './gain.ts'

interface Case {
  name: string
  reference: number[]
  candidate: number[]
  others: number[][]
  direction: Direction
  gain: number
  standardError: number
  degreesOfFreedom: number
  probabilityBetter: number
}
const fixture = JSON.parse(readFileSync(new URL('fixtures/gain.json', import.meta.url), 'utf8')) as {
  varianceOfMedian: number[]
  cases: Case[]
}

function measure(candidate: number[], reference: number[], others: number[][], direction: Direction = 'maximize') {
  return measureGain(candidate, reference, direction, pooledNoise(reference, [candidate, ...others]))
}

const value = fc.double({ min: -100, max: 100, noNaN: true })
const seeds = fc.array(value, { minLength: 1, maxLength: 5 })
// Not arbitrary doubles: squares of tiny ones underflow, and then a unit does matter.
const plainSeeds = fc.array(
  fc.integer({ min: -100_000, max: 100_000 }).map(each => each / 1024),
  { minLength: 1, maxLength: 5 },
)

describe('measureGain', () => {
  test.each(fixture.cases)('agrees with SciPy: $name', given => {
    const measured = measure(given.candidate, given.reference, given.others, given.direction)!
    expect(measured.gain).toBeCloseTo(given.gain, 12)
    expect(measured.standardError! / given.standardError).toBeCloseTo(1, 9)
    expect(measured.degreesOfFreedom).toBe(given.degreesOfFreedom)
    expect(measured.probabilityBetter).toBeCloseTo(given.probabilityBetter, 9)
  })

  test('has no gain without a finished seed on either side', () => {
    expect(measureGain([], [1, 2], 'maximize', pooledNoise([1, 2], []))).toBeNull()
    expect(measureGain([1], [], 'maximize', null)).toBeNull()
  })

  test('knows the gain but not how sure it is when nothing was repeated', () => {
    expect(measure([2], [1], [[5]])).toEqual({
      gain: 1,
      standardError: null,
      degreesOfFreedom: 0,
      probabilityBetter: null,
    })
  })

  test('is certain where repeats agree exactly', () => {
    expect(measure([2, 2], [1, 1, 1], [])!.probabilityBetter).toBe(1)
    expect(measure([0, 0], [1, 1, 1], [])!.probabilityBetter).toBe(0)
    expect(measure([1, 1], [1, 1, 1], [])).toMatchObject({ gain: 0, standardError: 0, probabilityBetter: 0.5 })
  })

  test('turns its sign with the direction and nothing else', () => {
    fc.assert(
      fc.property(seeds, seeds, (candidate, reference) => {
        const up = measure(candidate, reference, [], 'maximize')!
        const down = measure(candidate, reference, [], 'minimize')!
        expect(down.gain).toBe(up.gain === 0 ? 0 : -up.gain)
        expect(down.standardError).toBe(up.standardError)
        if (up.probabilityBetter !== null) {
          expect(up.probabilityBetter + down.probabilityBetter!).toBeCloseTo(1, 12)
        }
      }),
    )
  })

  test('does not depend on the order of seeds, and scales with the unit', () => {
    fc.assert(
      fc.property(plainSeeds, plainSeeds, fc.array(plainSeeds, { maxLength: 4 }), (candidate, reference, others) => {
        const scale = (values: number[]) => values.map(each => 1024 * each)
        const measured = measure(candidate, reference, others)!
        const turned = measure(candidate.toReversed(), reference.toReversed(), others.toReversed())!
        expect(turned.gain).toBe(measured.gain)
        expect(turned.standardError ?? 0).toBeCloseTo(measured.standardError ?? 0, 9)
        const scaled = measure(scale(candidate), scale(reference), others.map(scale))!
        expect(scaled.gain).toBeCloseTo(1024 * measured.gain, 6)
        expect(scaled.probabilityBetter ?? 0).toBeCloseTo(measured.probabilityBetter ?? 0, 9)
      }),
    )
  })
})

describe('sideOf and uncertaintyOf', () => {
  const noise = { variance: 0.04, degreesOfFreedom: 6 }

  test('each side counts with its own number of seeds and the noise of the pool', () => {
    expect(sideOf([3], noise)).toEqual({ median: 3, variance: 0.04, degreesOfFreedom: 6, pooled: true })
    expect(sideOf([1, 1.2], noise)).toEqual({ median: 1.1, variance: 0.02, degreesOfFreedom: 6, pooled: true })
    const five = sideOf([1, 1.1, 1.2, 1.3, 1.4], noise)
    expect(five.variance).toBeCloseTo(0.04 * 0.286833661605877, 12)
    const { standardError, degreesOfFreedom } = uncertaintyOf(sideOf([1, 1.2], noise), five)
    expect(standardError).toBeCloseTo(Math.sqrt(0.02 + 0.04 * 0.286833661605877), 12)
    expect(degreesOfFreedom).toBe(6)
  })

  test('what is far noisier counts with its own variance: Welch, Satterthwaite', () => {
    // (0 − 10)² / 2 = 50 a run, 25 a median of two.
    const wild = sideOf([0, 10], noise)
    expect(wild).toEqual({ median: 5, variance: 25, degreesOfFreedom: 1, pooled: false })
    const { standardError, degreesOfFreedom } = uncertaintyOf(wild, sideOf([1, 1.2], noise))
    expect(standardError).toBeCloseTo(Math.sqrt(25.02), 12)
    expect(degreesOfFreedom).toBeCloseTo(25.02 ** 2 / (25 ** 2 / 1 + 0.02 ** 2 / 6), 12)
    expect(uncertaintyOf(wild, wild).degreesOfFreedom).toBeCloseTo(2, 12)
  })
})

describe('pooledNoise', () => {
  test('is null when nothing was repeated', () => {
    expect(pooledNoise([1], [[2], [3]])).toBeNull()
    expect(pooledNoise([], [])).toBeNull()
  })

  test('one nearly diverged intervention does not blow up the noise of the others, and is judged by its own', () => {
    const random = seededRandom('wild')
    const draw = (n: number, spread: number) => Array.from({ length: n }, () => 1 + spread * random.normal())
    const reference = draw(5, 0.01)
    const calm = Array.from({ length: 20 }, () => draw(2, 0.01))
    const wild = [1, 9]
    const before = pooledNoise(reference, calm)!
    const after = pooledNoise(reference, [...calm, wild])!
    expect(after).toEqual(before)
    const measured = measureGain(wild, reference, 'maximize', after)!
    expect(measured.standardError).toBeGreaterThan(3)
    expect(measured.degreesOfFreedom).toBeLessThan(1.1)
    expect(measured.probabilityBetter).toBeLessThan(0.95)
  })

  test('among few interventions a wild one does not hide what is worse', () => {
    const reference = [1, 1.01, 0.99, 1.005, 0.995]
    const candidate = [0.97, 0.975]
    const measured = measure(candidate, reference, [[1, 1.12]])!
    expect(measured.degreesOfFreedom).toBe(5)
    expect(verdictOf({ evidence: 2, finished: 2, referenceFinished: 5, measured })).toBe('worse')
    // Less wild, it stays: as far apart as that come two seeds of the same noise now and then.
    expect(measure(candidate, reference, [[1, 1.05]])!.degreesOfFreedom).toBe(6)
  })

  test('two wild ones beside a quiet reference do not vouch for each other', () => {
    const quiet = pooledNoise(
      [1, 1.01, 0.99, 1.005, 0.995],
      [
        [1, 3],
        [5, 2],
        [1, 1.01],
      ],
    )!
    expect(Math.sqrt(quiet.variance)).toBeLessThan(0.02)
  })

  test('a quiet reference keeps its say among many noisier interventions', () => {
    const random = seededRandom('shrink')
    const reference = Array.from({ length: 5 }, () => 0.01 * random.normal())
    const others = Array.from({ length: 200 }, () => [0.02 * random.normal(), 0.02 * random.normal()])
    expect(pooledNoise(reference, others)!.degreesOfFreedom).toBe(4 + 24)
  })

  test('calls an idea without effect better about one time in twenty, not more', () => {
    const random = seededRandom('calibration')
    const draw = (n: number) => Array.from({ length: n }, () => random.normal())
    const repetitions = 4000
    let better = 0
    for (let i = 0; i < repetitions; i++) {
      const measured = measure(draw(2), draw(5), [draw(2), draw(2), draw(2), draw(2)])!
      if (measured.probabilityBetter! >= 0.95) better++
    }
    const rate = better / repetitions
    const bound = 4 * Math.sqrt((0.05 * 0.95) / repetitions)
    expect(rate).toBeGreaterThan(0.05 - bound - 0.01)
    expect(rate).toBeLessThan(0.05 + bound)
  })
})

describe('varianceOfMedian', () => {
  test('agrees with quadrature, exactly to 20 values and within 0.2 % beyond', () => {
    for (const [index, exact] of fixture.varianceOfMedian.entries()) {
      const n = index + 1
      expect(Math.abs(varianceOfMedian(n) / exact - 1), `n = ${n}`).toBeLessThan(n <= 20 ? 1e-11 : 2e-3)
    }
  })
})

describe('verdictOf', () => {
  const measured = (probabilityBetter: number | null) => ({
    gain: 0.1,
    standardError: 0.1,
    degreesOfFreedom: 5,
    probabilityBetter,
  })
  const ended = { evidence: 2, finished: 2, referenceFinished: 5 }

  test.each([
    [0.95, 'better'],
    [0.949, 'inconclusive'],
    [0.051, 'inconclusive'],
    [0.05, 'worse'],
    [null, 'inconclusive'],
  ])('P(gain > 0) = %s is %s', (probability, verdict) => {
    expect(verdictOf({ ...ended, measured: measured(probability) })).toBe(verdict)
  })

  test('a reference measured once leaves everything inconclusive', () => {
    expect(verdictOf({ ...ended, referenceFinished: 1, measured: measured(1) })).toBe('inconclusive')
  })

  test('failed when no run finished, nothing while none has ended', () => {
    expect(verdictOf({ evidence: 1, finished: 0, referenceFinished: 5, measured: null })).toBe('failed')
    expect(verdictOf({ evidence: 0, finished: 0, referenceFinished: 5, measured: null })).toBeNull()
  })
})
