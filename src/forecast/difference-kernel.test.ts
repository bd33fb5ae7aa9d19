import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Environment } from '../experiment/environment.ts'
import type { JsonObject } from '../experiment/json.ts'
import type { Candidate } from '../experiment/record.ts'
import { cholesky } from '../statistics/cholesky.ts'
import { differenceRows } from './difference-kernel.ts'
import { compareSubjects, gainCovariance, type KernelParameters } from './gain-kernel.ts'
import { optionScale } from './option-scale.ts'
import { compareOptions } from './option-values.ts'
import { candidateOf, environmentOf, literalsOf } from './planted/records.ts'

const base: KernelParameters = {
  additive: 1,
  interaction: 0,
  departure: 0,
  words: 0,
  tags: 0,
  mean: 0,
  length: 1.3,
  remainder: 0.5,
  family: 0.7,
}
const adamw = environmentOf('a', { optimiser: 'adamw', rate: 0.001, depth: 4 })
const muon = environmentOf('a', { optimiser: 'muon', rate: 0.001, depth: 4 })

function covarianceOf(
  subjects: readonly (readonly [Environment, JsonObject])[],
  parameters: Partial<KernelParameters>,
) {
  const compared = subjects.map(([environment, overrides]) => ({
    environment,
    ...candidateOf(environment, '', overrides),
  }))
  const covariance = gainCovariance(compareSubjects(compared, compared.length), { ...base, ...parameters })
  return (i: number, j: number) => covariance[i * subjects.length + j]!
}

test.each([{ additive: 1 }, { additive: 0, interaction: 1 }])('undoing a change has minus its gain: %o', parts => {
  const at = covarianceOf(
    [
      [adamw, { optimiser: 'muon' }],
      [muon, { optimiser: 'adamw' }],
      [adamw, { rate: 0.002 }],
      [adamw, {}],
    ],
    parts,
  )
  expect(at(0, 0)).toBeGreaterThan(0)
  expect(at(1, 1)).toBeCloseTo(at(0, 0), 12)
  expect(at(0, 1)).toBeCloseTo(-at(0, 0), 12)
  expect(at(1, 2)).toBeCloseTo(-at(0, 2), 12)
  // No change has no gain.
  expect([0, 1, 2, 3].map(other => at(3, other))).toEqual([0, 0, 0, 0])
})

test('without interaction the gain of a pair is the sum of its gains', () => {
  const at = covarianceOf(
    [
      [adamw, { optimiser: 'muon' }],
      [adamw, { rate: 0.004 }],
      [adamw, { optimiser: 'muon', rate: 0.004 }],
      [adamw, { rate: 0.002, depth: 6 }],
    ],
    {},
  )
  for (const other of [0, 1, 2, 3]) expect(at(2, other)).toBeCloseTo(at(0, other) + at(1, other), 12)
})

test('two steps of one option add up to the step across both', () => {
  const middle = environmentOf('a', { optimiser: 'adamw', rate: 0.002, depth: 4 })
  const at = covarianceOf(
    [
      [adamw, { rate: 0.002 }],
      [middle, { rate: 0.004 }],
      [adamw, { rate: 0.004 }],
    ],
    { interaction: 1 },
  )
  for (const other of [0, 1, 2]) expect(at(2, other)).toBeCloseTo(at(0, other) + at(1, other), 12)
})

test('the interaction part dies with the distance between recipes, the additive part does not', () => {
  const far = environmentOf('a', { optimiser: 'muon', rate: 0.1, depth: 12, schedule: 'linear', tied: true })
  const changes = [
    [adamw, { depth: 6 }],
    [muon, { depth: 6 }],
    [far, { depth: 18 }],
    [adamw, { rate: 0.01 }],
    [far, { rate: 0.01 }],
  ] as const
  const interaction = covarianceOf(changes, { additive: 0, interaction: 1 })
  expect(interaction(0, 1)).toBeCloseTo(0.5 * interaction(0, 0), 12)
  expect(interaction(3, 4)).toBeLessThan(0)
  expect(Math.abs(interaction(3, 4))).toBeLessThan(0.1 * interaction(3, 3))
  const additive = covarianceOf(changes, {})
  expect(additive(0, 1)).toBeCloseTo(additive(0, 0), 12)
})

test('a departure costs the same in both directions, and only numbers depart', () => {
  const at = covarianceOf(
    [
      [adamw, { rate: 0.002 }],
      [adamw, { rate: 0.0005 }],
      [adamw, { optimiser: 'muon' }],
    ],
    { additive: 0, departure: 1 },
  )
  expect(at(0, 1)).toBeCloseTo(at(0, 0), 3)
  expect(at(2, 2)).toBe(0)
})

test('is a covariance for whatever changes, environments and parameters', () => {
  const environments = fc.constantFrom(adamw, muon, environmentOf('b', { rate: 1, x: -2 }), environmentOf('c', null))
  const value = fc.oneof(fc.double({ min: -5, max: 5, noNaN: true }), fc.constantFrom('a', 'b', null, true, 0.001))
  const changes = fc.array(
    fc.record({ option: fc.constantFrom('optimiser', 'rate', 'depth', 't.py:RATE', 'x'), from: value, to: value }),
    { maxLength: 3 },
  )
  const words = fc.constantFrom('', 'raise the rate', 'raise the depth', 'lower it')
  const subject = fc.tuple(environments, words, changes)
  const share = fc.double({ min: 0.01, max: 0.99, noNaN: true })
  const size = fc.double({ min: 0, max: 3, noNaN: true })
  const parameters = fc.record({
    additive: size,
    interaction: size,
    departure: size,
    words: size,
    tags: size,
    mean: size,
    length: fc.double({ min: 0.1, max: 10, noNaN: true }),
    remainder: share,
    family: share,
  })
  fc.assert(
    fc.property(fc.array(subject, { minLength: 1, maxLength: 20 }), parameters, (rows, chosen) => {
      const subjects = rows.map(([environment, sentence, changed]) => ({
        environment,
        ...literalsOf(sentence, changed),
      }))
      const covariance = gainCovariance(compareSubjects(subjects, subjects.length), chosen)
      const size = subjects.length
      for (let i = 0; i < size; i++) covariance[i * size + i]! += 1e-7
      expect(cholesky(covariance, size)).not.toBeNull()
    }),
    { numRuns: 300 },
  )
})

test('is what the definition says, over whole configurations', () => {
  const value = fc.constantFrom(0.001, 0.002, 0.01, 'adamw', 'muon', null)
  const configuration = fc.record({ rate: value, optimiser: value, depth: value })
  const overrides = fc.record({ rate: value, optimiser: value, depth: value }, { requiredKeys: [] })
  const share = fc.double({ min: 0.01, max: 0.99, noNaN: true })
  const subjects = fc.array(fc.tuple(configuration, overrides), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(subjects, share, fc.double({ min: 0.2, max: 5, noNaN: true }), (rows, remainder, length) => {
      const compared = compareSubjects(
        rows.map(([reference, changed]) => {
          const environment = environmentOf('a', reference)
          return { environment, ...candidateOf(environment, '', changed) }
        }),
        rows.length,
      )
      const { options, reference } = compared
      const sides = rows.map((_, subject) => {
        const before = options.map(option => option.places[option.before[reference[subject]!]!]!)
        const after = options.map((option, index) => {
          const changed = option.changed.indexOf(subject)
          return changed === -1 ? before[index]! : option.places[option.to[changed]!]!
        })
        return { before, after }
      })
      const alike = (one: number | string, other: number | string) =>
        typeof one === 'number' && typeof other === 'number'
          ? Math.exp(-0.5 * ((one - other) / length) ** 2)
          : Number(one === other)
      type Places = readonly (number | string)[]
      const sum = (one: Places, other: Places) => one.reduce<number>((all, at, i) => all + alike(at, other[i]!), 0)
      const product = (one: Places, other: Places) =>
        one.reduce<number>((all, at, i) => all * ((1 - remainder) * alike(at, other[i]!) + remainder), 1)
      const found = differenceRows(options, reference, { length, remainder })
      for (const [i, one] of sides.entries()) {
        found.fill(i)
        for (const [j, other] of sides.slice(0, i + 1).entries()) {
          const difference = (k: typeof sum) =>
            k(one.after, other.after) -
            k(one.after, other.before) -
            k(one.before, other.after) +
            k(one.before, other.before)
          expect(found.additive[j]).toBeCloseTo(difference(sum), 9)
          expect(found.interaction[j]).toBeCloseTo(difference(product), 9)
        }
      }
    }),
  )
})

test('options go by their name, across files, spellings, configurations and diffs', () => {
  const subjects: (Candidate & { environment: Environment })[] = [
    {
      environment: environmentOf('a', null),
      ...literalsOf('', [{ option: 'train.py:MATRIX_LR', from: 0.04, to: 0.02 }]),
    },
    {
      environment: environmentOf('b', null),
      ...literalsOf('', [{ option: 'src/model.py:matrix_lr', from: 0.04, to: 0.08 }]),
    },
    { environment: environmentOf('c', { matrixLr: 0.02, optimiser: { name: 'muon' } }), ...literalsOf('', []) },
  ]
  const { options, reference } = compareOptions(subjects)
  expect(options.map(({ name }) => name)).toEqual(['matrixlr', 'optimiser.name'])
  expect(options[0]).toMatchObject({ before: [0.04, 0.04, 0.02], changed: [0, 1], after: [0.02, 0.08] })
  expect(options[1]!.before).toEqual(['?', '?', '"muon"'])
  expect([...reference]).toEqual([0, 1, 2])
})

test('what a version does not say is taken from its family', () => {
  const changes = [{ option: 'a.py:LR', from: 3, to: 4 }]
  const subjects = [
    { environment: environmentOf('a', null, 'first'), ...literalsOf('', changes) },
    { environment: environmentOf('a', null, 'second'), ...literalsOf('', [{ option: 'a.py:WD', from: 1, to: 0 }]) },
  ]
  expect(compareOptions(subjects).options.map(({ before }) => before)).toEqual([
    [3, 3],
    [1, 1],
  ])
})

test('an option is measured by what its numbers are', () => {
  const rate = optionScale([1e-4, 1e-3, 1e-2], [[1e-4, 1e-3]])!
  expect(rate(1e-2) - rate(1e-3)).toBeCloseTo(1, 1)
  const beta = optionScale([0.9, 0.99], [[0.9, 0.99]])!
  expect(beta(0.999) - beta(0.99)).toBeGreaterThan(0.5)
  const width = optionScale([64, 128], [[64, 128]])!
  expect(width(256)).toBeCloseTo(width(128) + 1, 12)
  const offset = optionScale([-1, 0, 2], [[-1, 1]])!
  expect([offset(1), offset(3)]).toEqual([0.5, 1.5])
  const decay = optionScale([0, 0.1, 0.2], [[0.1, 0.2]])!
  expect(decay(0)).toBeLessThan(decay(0.1))
  expect(Number.isFinite(decay(-1))).toBe(true)
  expect(optionScale([1, 2], [])).toBeNull()
})
