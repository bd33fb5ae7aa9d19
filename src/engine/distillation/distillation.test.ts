/**
 * Distillation over the verbs of a trainer: positions that belong together, prompts of either side, and what identical sides give.
 */
import { afterAll, describe, expect, it } from 'vitest'
import { createEmbeddedEngine } from '../embedded/engine.ts'
import { bigram } from '../models/bigram.ts'
import { decoder } from '../models/decoder.ts'
import { type DistillationDatum, forwardBackwardDistillation, teacherOf } from './distillation.ts'
import { type Divergence, divergenceAt } from './divergences.ts'

const vocabulary = 7
const model = decoder({
  vocabulary,
  contextLength: 8,
  depth: 1,
  width: 8,
  heads: 2,
  initialisationScale: 2,
})
const engine = createEmbeddedEngine()
afterAll(() => engine.dispose())
const groups = [{ match: () => true, optimiser: { kind: 'adamw' }, learningRate: 0.05 } as const]

/** A prompt for each side, and one continuation that both predict from the last token of the prompt on. */
function datum(prompt: number[], teacherPrompt: number[], continuation: number[], more = {}): DistillationDatum {
  const tokensOf = (before: number[]) => ({ tokens: Int32Array.from([...before, ...continuation.slice(0, -1)]) })
  const from = (before: number[]) => Int32Array.from(continuation, (_, index) => before.length - 1 + index)
  return {
    student: tokensOf(prompt),
    teacher: tokensOf(teacherPrompt),
    studentPositions: from(prompt),
    teacherPositions: from(teacherPrompt),
    weights: new Float32Array(continuation.length).fill(1 / continuation.length),
    ...more,
  }
}

describe('a model and itself', () => {
  it.each<Divergence>([
    { kind: 'forward-kl' },
    { kind: 'forward-kl', clip: 0.05 },
    { kind: 'reverse-kl' },
    { kind: 'jensen-shannon', beta: 0.5 },
  ])('with the same prompts are not apart, and nothing is to be learned: %j', async divergence => {
    const trainer = await engine.createTrainer({ model, seed: 1, adapters: { rank: 2 } })
    const data = [datum([1, 2], [1, 2], [3, 4, 5]), datum([6], [6], [0, 0], { temperature: 1.3 })]
    const withoutAdapters = data.map(one => ({ ...one, teacherAdapter: false }))
    for (const pairs of [data, withoutAdapters]) {
      const { lossSum, divergences } = await forwardBackwardDistillation(trainer, teacherOf(trainer), pairs, divergence)
      expect(lossSum).toBe(0)
      expect(divergences).toEqual([new Float64Array(3), new Float64Array(2)])
    }
    for (const gradient of (await trainer.gradients()).values()) expect(gradient.every(value => value === 0)).toBe(true)
    await trainer.dispose()
  })

  it('with other prompts are apart, by what the rows say at the positions that belong together', async () => {
    const trainer = await engine.createTrainer({ model, seed: 1 })
    const pair = datum([1, 2], [5, 1, 2, 6], [3, 4, 5], { temperature: 0.7 })
    const divergence = { kind: 'reverse-kl' } as const
    const { losses, lossSum } = await forwardBackwardDistillation(trainer, teacherOf(trainer), [pair], divergence)
    const sampler = await trainer.snapshot()
    const [student, teacher] = await sampler.distributions(
      [pair.student, pair.teacher].map(input => ({ input, distribution: { temperature: 0.7 } })),
    )
    const row = (rows: Float32Array, position: number) =>
      rows.subarray(position * vocabulary, (position + 1) * vocabulary)
    for (const [index, loss] of losses[0]!.entries()) {
      const at = divergenceAt(
        divergence,
        row(student!, 1 + index),
        row(teacher!, 3 + index),
        new Float64Array(vocabulary),
      )
      expect(loss).toBeCloseTo(at.loss, 5)
      expect(loss).toBeGreaterThan(1e-3)
    }
    const gradients = await trainer.gradients()
    const doubled = { ...pair, weights: pair.weights.map(weight => 2 * weight) }
    await trainer.clearGradients()
    await forwardBackwardDistillation(trainer, teacherOf(trainer), [doubled], divergence)
    const largest = Math.max(...gradients.get('head')!.map(Math.abs))
    for (const [index, value] of (await trainer.gradients()).get('head')!.entries())
      expect(Math.abs(value - 2 * gradients.get('head')![index]!)).toBeLessThan(1e-4 * largest)
    expect(lossSum).toBeCloseTo(losses[0]!.reduce((sum, value) => sum + value) / 3, 7)
    await trainer.dispose()
  })
})

it('adapters learn what the base says with a longer prompt; the clip bounds what is learned from, not what is reported', async () => {
  const trainer = await engine.createTrainer({ model, seed: 1, adapters: { rank: 4 } })
  const teacher = teacherOf(trainer)
  const base = await trainer.snapshot()
  const data = [datum([1, 2], [5, 1, 2, 6], [3, 4, 5], { teacherAdapter: false })]
  const before = await forwardBackwardDistillation(trainer, teacher, data, { kind: 'forward-kl', clip: 0.05 })
  expect(before.losses[0]![0]).toBeLessThan(before.divergences[0]![0]!)
  for (let step = 0; step < 80; step++) {
    await trainer.optimStep({ groups })
    await forwardBackwardDistillation(trainer, teacher, data, { kind: 'forward-kl' })
  }
  const after = await forwardBackwardDistillation(trainer, teacher, data, { kind: 'forward-kl' })
  expect(after.lossSum).toBeLessThan(before.divergences[0]!.reduce((sum, value) => sum + value) / 3 / 20)
  const [taught] = await base.distributions([{ input: data[0]!.teacher }])
  const [learned] = await (await trainer.snapshot()).distributions([{ input: data[0]!.student }])
  for (let index = 0; index < 3 * vocabulary; index++)
    expect(Math.exp(learned![vocabulary + index]!)).toBeCloseTo(Math.exp(taught![3 * vocabulary + index]!), 1)
})

it('a sampler teaches a student of another kind to its own table', async () => {
  const table = bigram({ vocabulary, contextLength: 8, initialDeviation: 1 })
  const teacher = await (await engine.createTrainer({ model: table, seed: 2 })).snapshot()
  const student = await engine.createTrainer({ model: bigram({ vocabulary, contextLength: 8 }) })
  const tokens = Int32Array.from({ length: vocabulary }, (_, token) => token)
  const data: DistillationDatum[] = [
    {
      student: { tokens },
      teacher: { tokens },
      studentPositions: tokens,
      teacherPositions: tokens,
      weights: new Float32Array(vocabulary).fill(1),
    },
  ]
  for (let step = 0; step < 150; step++) {
    await forwardBackwardDistillation(student, teacher, data, { kind: 'jensen-shannon', beta: 0.5 })
    await student.optimStep({ groups })
  }
  const sampler = await student.snapshot()
  const [taught, learned] = await Promise.all([teacher, sampler].map(one => one.distributions([{ input: { tokens } }])))
  for (const [index, value] of taught![0]!.entries()) expect(learned![0]![index]).toBeCloseTo(value, 1)
})

it('positions and weights that do not fit are refused before anything is computed', async () => {
  const trainer = await engine.createTrainer({ model, seed: 1 })
  const good = datum([1, 2], [5, 1, 2], [3, 4])
  const refused = (more: Partial<DistillationDatum>) =>
    expect(
      forwardBackwardDistillation(trainer, teacherOf(trainer), [good, { ...good, ...more }], { kind: 'forward-kl' }),
    ).rejects
  await refused({ weights: new Float32Array(3) }).toThrow(
    'data[1] has 2 student positions, 2 teacher positions and 3 weights: expected as many of each',
  )
  await refused({ studentPositions: Int32Array.from([1, 3]) }).toThrow(
    'data[1].studentPositions[1] is 3: its input has positions 0 to 2',
  )
  await refused({ teacherPositions: Int32Array.from([-1, 2]) }).toThrow('data[1].teacherPositions[0] is -1')
  await refused({ weights: Float32Array.from([1, -1]) }).toThrow(
    'data[1].weights[1] is -1: expected a number from 0 on',
  )
  const other = teacherOf(await engine.createTrainer({ model: bigram({ vocabulary: 3, contextLength: 8 }) }))
  await expect(forwardBackwardDistillation(trainer, other, [good], { kind: 'forward-kl' })).rejects.toThrow(
    'the teacher has a vocabulary of 3, the student one of 7',
  )
  await expect(trainer.optimStep({ groups })).rejects.toThrow('there are no gradients')
})
