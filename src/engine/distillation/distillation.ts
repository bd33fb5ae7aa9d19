/**
 * Learning from a teacher's distributions: student and teacher read prompts of their own and the same continuation, and at positions that
 * belong together a divergence over the whole vocabulary is made smaller. Gradients go to the student only. The reverse KL of tokens that
 * the student drew needs none of this: it is a policy loss (loss.ts) whose advantages are log p_T - log p_S of the drawn tokens.
 */
import { type Differentiable, forwardBackwardCustom } from '../custom-loss.ts'
import type { ModelInput } from '../datum.ts'
import {
  type FieldsOf,
  requireFields,
  requireIntegers,
  requireList,
  requireNumbers,
  requireRecord,
} from '../required-types.ts'
import { checkDivergence, type Divergence, divergenceAt } from './divergences.ts'

export interface DistillationDatum {
  readonly student: ModelInput
  readonly teacher: ModelInput
  /** Whether the teacher has its adapters. Default true. */
  readonly teacherAdapter?: boolean
  /** Position `studentPositions[i]` of the student's input belongs to `teacherPositions[i]` of the teacher's: both predict the same token. */
  readonly studentPositions: Int32Array
  readonly teacherPositions: Int32Array
  /** One a pair of positions, from 0 on. For a mean over n, use 1/n. */
  readonly weights: Float32Array
  /** Of both sides. Default 1. */
  readonly temperature?: number
}

/** Who gives distributions: a sampler, or what `teacherOf` makes of a trainer. */
export interface Teacher {
  readonly vocabulary: number
  distributions(
    inputs: readonly {
      readonly input: ModelInput
      readonly distribution?: { readonly temperature: number }
      readonly adapter?: boolean
    }[],
  ): Promise<readonly Float32Array[]>
}

export interface DistillationResult {
  /** Σ weight × loss of a pair: what was differentiated. */
  readonly lossSum: number
  /** By datum, then by pair: with the clip, unweighted. */
  readonly losses: readonly Float64Array[]
  /** Without the clip. */
  readonly divergences: readonly Float64Array[]
}

export interface DistillationOptions {
  /** Of the student, as forwardBackwardCustom takes it. */
  readonly dropoutSeed?: number | null
}

const optionFields: FieldsOf<DistillationOptions> = { dropoutSeed: true }
const datumFields: FieldsOf<DistillationDatum> = {
  student: true,
  teacher: true,
  teacherAdapter: true,
  studentPositions: true,
  teacherPositions: true,
  weights: true,
  temperature: true,
}

/** A trainer as a teacher, with the weights it has now: with adapters off, the model that it began as. */
export function teacherOf(trainer: Pick<Differentiable, 'forward' | 'vocabulary'>): Teacher {
  const { vocabulary } = trainer
  return {
    vocabulary,
    async distributions(inputs) {
      const data = inputs.map(datum => ({
        ...datum,
        targets: 'vocabulary' as const,
        weights: new Float32Array(datum.input.tokens.length * vocabulary),
      }))
      return (await trainer.forward(data, { kind: 'cross_entropy' })).logProbabilities
    },
  }
}

/** Adds the gradients of the student. Await it before anything else is asked of the trainer. */
export async function forwardBackwardDistillation(
  trainer: Differentiable,
  teacher: Teacher,
  data: readonly DistillationDatum[],
  divergence: Divergence,
  options: DistillationOptions = {},
): Promise<DistillationResult> {
  checkDivergence(divergence)
  requireFields('forwardBackwardDistillation: options', options, optionFields)
  const { vocabulary } = trainer
  requireRecord('forwardBackwardDistillation: the teacher', teacher)
  if (typeof teacher.distributions !== 'function')
    throw new Error(
      'forwardBackwardDistillation: the teacher gives no distributions: give a sampler, or teacherOf(trainer)',
    )
  if (teacher.vocabulary !== vocabulary)
    throw new Error(
      `forwardBackwardDistillation: the teacher has a vocabulary of ${teacher.vocabulary}, the student one of ${vocabulary}`,
    )
  requireList('forwardBackwardDistillation: data', data)
  for (const [index, datum] of data.entries()) checkDatum(`forwardBackwardDistillation: data[${index}]`, datum)
  const distributionOf = ({ temperature = 1 }: DistillationDatum) =>
    temperature === 1 ? {} : { distribution: { temperature } }
  const taught = await teacher.distributions(
    data.map(datum => ({ input: datum.teacher, adapter: datum.teacherAdapter ?? true, ...distributionOf(datum) })),
  )
  const losses = data.map(({ weights }) => new Float64Array(weights.length))
  const divergences = data.map(({ weights }) => new Float64Array(weights.length))
  const studied = data.map(datum => ({
    input: datum.student,
    targets: 'vocabulary' as const,
    ...distributionOf(datum),
  }))
  const { loss } = await forwardBackwardCustom(
    trainer,
    studied,
    logProbabilities => {
      let lossSum = 0
      const gradients = logProbabilities.map((student, index) => {
        const { studentPositions, teacherPositions, weights } = data[index]!
        const gradient = new Float32Array(student.length)
        const derivative = new Float64Array(vocabulary)
        for (const [pair, weight] of weights.entries()) {
          const start = studentPositions[pair]! * vocabulary
          const teacherStart = teacherPositions[pair]! * vocabulary
          const at = divergenceAt(
            divergence,
            student.subarray(start, start + vocabulary),
            taught[index]!.subarray(teacherStart, teacherStart + vocabulary),
            derivative,
          )
          losses[index]![pair] = at.loss
          divergences[index]![pair] = at.divergence
          if (weight === 0) continue
          lossSum += weight * at.loss
          for (let token = 0; token < vocabulary; token++) gradient[start + token]! += weight * derivative[token]!
        }
        return gradient
      })
      return { loss: lossSum, gradients }
    },
    options,
  )
  return { lossSum: loss, losses, divergences }
}

function checkDatum(place: string, datum: DistillationDatum): void {
  requireFields(place, datum, datumFields)
  const { studentPositions, teacherPositions, weights, student, teacher } = datum
  for (const [name, input] of Object.entries({ student, teacher })) {
    requireRecord(`${place}.${name}`, input)
    requireIntegers(`${place}.${name}.tokens`, input.tokens)
  }
  for (const [name, positions] of Object.entries({ studentPositions, teacherPositions }))
    requireIntegers(`${place}.${name}`, positions)
  requireNumbers(`${place}.weights`, weights)
  if (studentPositions.length !== teacherPositions.length || studentPositions.length !== weights.length)
    throw new Error(
      `${place} has ${studentPositions.length} student positions, ${teacherPositions.length} teacher positions and ` +
        `${weights.length} weights: expected as many of each`,
    )
  for (const [name, positions, count] of [
    ['studentPositions', studentPositions, student.tokens.length],
    ['teacherPositions', teacherPositions, teacher.tokens.length],
  ] as const)
    for (const [pair, position] of positions.entries())
      if (position < 0 || position >= count)
        throw new Error(`${place}.${name}[${pair}] is ${position}: its input has positions 0 to ${count - 1}`)
  const pair = weights.findIndex(weight => !(Number.isFinite(weight) && weight >= 0))
  if (pair >= 0) throw new Error(`${place}.weights[${pair}] is ${weights[pair]}: expected a number from 0 on`)
}
