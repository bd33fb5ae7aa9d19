/**
 * Steps of every optimiser equal PyTorch's and Lion's own (fixtures/torch_optimisers.py made them, in double precision); what is
 * remembered can be taken out, written down and put back, and then nothing is different.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Parameter } from '../parameter.ts'
import { Optimisation } from './optimisation.ts'
import type { Optimiser, ParameterGroup } from './optimiser.ts'
import type { StateRecord } from './state.ts'

interface Case {
  readonly optimiser: Optimiser
  readonly weightDecay: number
  /** By step. */
  readonly values: readonly (readonly number[])[]
}
const fixture = JSON.parse(readFileSync(new URL('fixtures/torch-optimisers.json', import.meta.url), 'utf8')) as {
  readonly size: number
  readonly rate: number
  readonly cases: readonly Case[]
}

const spread = (size: number, offset: number) =>
  Float32Array.from(
    { length: size },
    (_, index) => ((index * index * 7919 + index * 104729 + offset * 1299709) % 1009) / 1009 - 0.5,
  )

describe('steps', () => {
  it.each(fixture.cases)('of $optimiser with decay $weightDecay are those of the reference', async testCase => {
    const { size, rate } = fixture
    const optimisation = new Optimisation([{ name: 'weight', shape: [size], role: 'bias' }], 1)
    const values = spread(size, 0)
    const group: ParameterGroup = { match: 'bias', learningRate: rate, ...testCase }
    for (const [step, expected] of testCase.values.entries()) {
      const gradients = new Map([['weight', spread(size, step + 1)]])
      await optimisation.step(new Map([['weight', values]]), gradients, { groups: [group] })
      for (const [index, value] of expected.entries()) expect(values[index]).toBeCloseTo(value, 5)
    }
  })
})

const parameters: readonly Parameter[] = [
  { name: 'matrix', shape: [3, 4], role: 'matrix' },
  { name: 'gain', shape: [5], role: 'gain' },
]
const group = (match: ParameterGroup['match'], optimiser: Optimiser): ParameterGroup => ({
  match,
  optimiser,
  learningRate: 0.02,
  weightDecay: 0.1,
})

describe('what optimisers remember', () => {
  it.each([[{ kind: 'adamw' }], [{ kind: 'muon' }], [{ kind: 'lion' }], [{ kind: 'sgd' }]] as const)(
    'of $kind goes on in another one as if nothing had happened',
    async optimiser => {
      const groups = [group('matrix', optimiser), group('gain', { kind: 'adamw' })]
      const fresh = () => new Map([['matrix', spread(12, 1)] as const, ['gain', spread(5, 2)] as const])
      const steps = async (optimisation: Optimisation, values: Map<string, Float32Array>, from: number, to: number) => {
        for (let step = from; step < to; step++)
          await optimisation.step(
            values,
            new Map([...values].map(([name, { length }]) => [name, spread(length, step)])),
            {
              groups,
            },
          )
      }
      const through = fresh()
      const never = new Optimisation(parameters, 1)
      await steps(never, through, 0, 5)

      const stopped = fresh()
      const first = new Optimisation(parameters, 1)
      await steps(first, stopped, 0, 3)
      const second = new Optimisation(parameters, 1)
      second.importState(first.exportState())
      // The first goes on too: what the second took up must be its own.
      await steps(first, fresh(), 5, 7)
      await steps(second, stopped, 3, 5)
      expect(stopped).toEqual(through)
      expect(second.exportState()).toEqual(never.exportState())
      for (const optimisation of [never, first, second]) await optimisation.dispose()
    },
  )

  it('is left as it was by a record that does not fit, with a sentence', async () => {
    const optimisation = new Optimisation(parameters, 1)
    const values = new Map([['matrix', spread(12, 1)] as const, ['gain', spread(5, 2)] as const])
    await optimisation.step(values, values, { groups: [group(['matrix', 'gain'], { kind: 'adamw' })] })
    const before = structuredClone(optimisation.exportState())
    const momentum = (size: number): StateRecord => ({
      kind: 'sgd',
      numbers: {},
      arrays: { momentum: new Float32Array(size) },
    })
    const refuse = (name: string, record: unknown, sentence: string) =>
      expect(() =>
        optimisation.importState(new Map([['matrix', momentum(12)] as const, [name, record as StateRecord] as const])),
      ).toThrow(sentence)
    refuse('other', momentum(5), 'there is no parameter other')
    refuse('gain', momentum(6), 'momentum of gain has 6 values, and the parameter has 5')
    refuse('gain', { ...momentum(5), kind: 'adam' }, 'the optimiser of gain is adam, expected adamw, muon, lion, sgd')
    refuse('gain', { ...momentum(5), kind: 'constructor' }, 'the optimiser of gain is constructor')
    refuse(
      'gain',
      { ...momentum(5), numbers: { steps: 1 } },
      "the optimiser's numbers of gain are steps, expected none",
    )
    refuse('gain', { ...momentum(5), kind: 'adamw' }, "the optimiser's numbers of gain are none, expected steps")
    refuse(
      'gain',
      { kind: 'adamw', numbers: { steps: -1 }, arrays: { firstMoment: spread(5, 1), secondMoment: spread(5, 1) } },
      'steps of gain is -1, expected a whole number from 0 on',
    )
    expect(optimisation.exportState()).toEqual(before)
  })
})

describe('groups that make no sense are refused before anything moves', () => {
  it.each([
    [
      { kind: 'lion', betas: [0.9, 1] },
      'groups[1].optimiser.betas is [0.9, 1]: expected two numbers from 0 to below 1',
    ],
    [{ kind: 'sgd', momentum: -0.1 }, 'groups[1].optimiser.momentum is -0.1: expected a number from 0 to below 1'],
    [
      { kind: 'sgd', momentum: 0, nesterov: true },
      'groups[1].optimiser.nesterov is true: expected false where momentum is 0',
    ],
    [{ kind: 'adagrad' }, 'groups[1].optimiser.kind is "adagrad": expected adamw, muon, lion or sgd'],
  ] as const)('%j', async (optimiser, sentence) => {
    const optimisation = new Optimisation(parameters, 1)
    const values = new Map([['matrix', spread(12, 1)] as const, ['gain', spread(5, 2)] as const])
    const groups = [group('gain', { kind: 'sgd' }), group('matrix', optimiser as Optimiser)]
    await expect(optimisation.step(values, values, { groups })).rejects.toThrow(sentence)
    expect(values.get('gain')).toEqual(spread(5, 2))
  })
})
