/**
 * A teacher and a student half as wide, which never sees the right answers, only the teacher's distributions; then beam search along the
 * words that are allowed. Takes some seconds.
 *
 * Run:  node examples/engine/distil.ts
 */
import { trieOf } from '../../src/engine/beam/trie.ts'
import { forwardBackwardDistillation } from '../../src/engine/distillation/distillation.ts'
import { createEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import { decoder } from '../../src/engine/models/decoder.ts'
import type { OptimStepOptions } from '../../src/engine/optimisers/optimiser.ts'
import { characterTokeniser } from '../../src/engine/tokenisers/character-tokeniser.ts'

const rhyme = 'monday tuesday wednesday thursday friday saturday sunday '
const tokeniser = characterTokeniser(rhyme)
const text = tokeniser.encode(rhyme.repeat(2))
const [rows, positions] = [8, 24]
const optimStep: OptimStepOptions = {
  groups: [{ match: () => true, optimiser: { kind: 'adamw' }, learningRate: 0.01 }],
  clipNorm: 1,
}

export async function learnFromTeacher() {
  const engine = createEmbeddedEngine()
  const sizes = { vocabulary: tokeniser.vocabulary, contextLength: 32, depth: 2, heads: 2 }
  const teacher = await engine.createTrainer({ model: decoder({ ...sizes, width: 32 }), seed: 1 })
  const student = await engine.createTrainer({ model: decoder({ ...sizes, width: 16 }), seed: 2 })
  const window = (row: number, step: number) => {
    const start = (7 * row + 11 * step) % rhyme.length
    return text.subarray(start, start + positions + 1)
  }
  for (let step = 0; step < 60; step++) {
    const data = Array.from({ length: rows }, (_, row) => ({
      input: { tokens: window(row, step).subarray(0, positions) },
      targets: window(row, step).subarray(1),
      weights: new Float32Array(positions).fill(1 / (rows * positions)),
    }))
    await teacher.forwardBackward(data, { kind: 'cross_entropy' })
    await teacher.optimStep(optimStep)
  }

  const snapshot = await teacher.snapshot()
  // Both read the same text here. A teacher may have a prompt of its own: then other positions belong together.
  const same = Int32Array.from({ length: positions }, (_, position) => position)
  const divergences: number[] = []
  for (let step = 0; step < 120; step++) {
    const data = Array.from({ length: rows }, (_, row) => {
      const input = { tokens: window(row, step).subarray(0, positions) }
      const weights = new Float32Array(positions).fill(1 / (rows * positions))
      return { student: input, teacher: input, studentPositions: same, teacherPositions: same, weights }
    })
    const { lossSum } = await forwardBackwardDistillation(student, snapshot, data, { kind: 'forward-kl' })
    divergences.push(lossSum)
    await student.optimStep(optimStep)
  }

  const sampler = await student.snapshot()
  const days = rhyme.trim().split(' ')
  const [beams] = await sampler.beamSearch([
    {
      prompt: { tokens: tokeniser.encode('tuesday ') },
      beams: 3,
      maximumTokens: 12,
      stop: [],
      constraint: trieOf(days.map(day => tokeniser.encode(`${day} `))),
    },
  ])
  await engine.dispose()
  const found = beams!.map(({ tokens, logProbability }) => ({ text: tokeniser.decode(tokens), logProbability }))
  return { divergences, found }
}

if (import.meta.main) {
  const { divergences, found } = await learnFromTeacher()
  console.log(`forward KL ${divergences[0]!.toFixed(2)} → ${divergences.at(-1)!.toFixed(3)} nats a character`)
  for (const { text, logProbability } of found) console.log(`${logProbability.toFixed(2).padStart(8)}  tuesday ${text}`)
}
