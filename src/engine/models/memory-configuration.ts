/**
 * A sparse key-value memory in a model (LION; product keys as in Lample et al., 2019): its options, what makes them
 * valid, and its parameters. How it computes is in memory-layer.ts.
 */
import type { Random } from '../../statistics/random.ts'
import { sizeOf } from '../graph/shape.ts'
import type { Parameter } from '../parameter.ts'
import { described, type FieldsOf, unknownField } from '../required-types.ts'

export interface MemoryConfiguration {
  /** Pairs of a key and a value, all trained. A square number with product keys. */
  readonly slots: number
  /** How many slots answer a query: those with the highest scores. */
  readonly chosen: number
  /**
   * Slot i × n + j of n² has key i of n for the first half of the query and key j of another n for the second: choosing
   * costs 2n scores, not n². Default false.
   */
  readonly productKeys?: boolean
  /** After how many blocks the memory's answer is added to the hidden state. Default: half of them, rounded up. */
  readonly block?: number
  /**
   * What asks: the hidden state at each position, or, once for each row, all that the encoder is given, however long
   * (memory-recall.ts). Default state.
   */
  readonly query?: 'state' | 'history'
}

const fields: FieldsOf<MemoryConfiguration> = { slots: true, chosen: true, productKeys: true, block: true, query: true }

const isPositiveInteger = (value: unknown): boolean => Number.isInteger(value) && (value as number) > 0

/** One sentence for each field that is not valid; empty when all is well. */
export function memoryProblems(memory: MemoryConfiguration, width: number, depth: number): string[] {
  if (typeof memory !== 'object' || memory === null)
    return [`memory is ${described(memory)}: expected an object, or absent`]
  const { slots, chosen, productKeys = false, block = 0, query = 'state' } = memory
  const unknown = unknownField(memory, fields)
  const problems: string[] = unknown ? [`memory: ${unknown}`] : []
  const expect = (holds: boolean, field: keyof MemoryConfiguration, expected: string) => {
    if (!holds) problems.push(`memory.${field} is ${described(memory[field])}: expected ${expected}`)
  }
  expect(isPositiveInteger(slots), 'slots', 'a positive whole number')
  expect(isPositiveInteger(chosen), 'chosen', 'a positive whole number')
  expect([true, false].includes(productKeys), 'productKeys', 'true or false')
  expect(Number.isInteger(block) && block >= 0 && block <= depth, 'block', `a whole number from 0 to depth, ${depth}`)
  expect(['state', 'history'].includes(query), 'query', '"state" or "history"')
  if (problems.length > 0) return problems
  expect(chosen <= slots, 'chosen', `at most slots, which is ${slots}`)
  if (productKeys) {
    expect(Number.isInteger(Math.sqrt(slots)), 'slots', 'a square number with product keys')
    expect(width % 2 === 0, 'productKeys', `false where the width is odd, and it is ${width}`)
  }
  return problems
}

/** What is not given, or undefined, is the default. It checks nothing. */
export function completeMemory(memory: MemoryConfiguration, depth: number): Required<MemoryConfiguration> {
  const { productKeys = false, query = 'state' } = memory
  return { ...memory, productKeys, block: memoryBlock(memory, depth), query }
}

export function memoryBlock({ block }: MemoryConfiguration, depth: number): number {
  return block ?? Math.ceil(depth / 2)
}

export function memoryParameters(memory: MemoryConfiguration, width: number): Parameter[] {
  const { slots, productKeys = false, query = 'state' } = memory
  const slot = (name: string, shape: readonly number[]): Parameter => ({
    name: `memory.${name}`,
    shape,
    role: 'memory',
  })
  const half = [Math.sqrt(slots), width / 2]
  const keys = productKeys ? [slot('firstKeys', half), slot('secondKeys', half)] : [slot('keys', [slots, width])]
  const history: Parameter = { name: 'memory.history', shape: [2 * width, width], role: 'matrix' }
  return [...keys, slot('values', [slots, width]), ...(query === 'history' ? [history] : [])]
}

/**
 * In training: each key is compared forward only; keys and values of the chosen are multiplied forward and twice
 * backward.
 */
export function memoryFlopsPerQuery(
  { slots, chosen, productKeys = false }: MemoryConfiguration,
  width: number,
): number {
  const compared = productKeys ? Math.sqrt(slots) : slots
  return 2 * compared * width + 12 * chosen * width
}

/**
 * Of the slots. Keys are uniform within 1/sqrt(their width), so that scores begin with a deviation below 1 (Lample et
 * al., 2019). Values are 0: the model begins as it would be without a memory, and a key learns from when the values of
 * slots that are chosen together differ.
 */
export function initialSlotValues({ name, shape }: Parameter, random: Random): Float32Array {
  const values = new Float32Array(sizeOf(shape))
  return name.endsWith('.values') ? values : values.map(() => (2 * random.uniform() - 1) / Math.sqrt(shape[1]!))
}
