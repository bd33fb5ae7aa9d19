import { expect, test } from 'vitest'
import { tableDenoiser } from './fixtures/table-denoiser.ts'
import { type Unmasking, unmask } from './unmasking.ts'
import { inRandomOrder, leftToRight, type UnmaskingRule } from './unmasking-rule.ts'

const table = tableDenoiser(4, 1)
const mask = 3

/** Every position becomes token 1; the passes that positions were revealed in are written down. */
function recorded(
  template: readonly number[],
  rule: UnmaskingRule,
): Unmasking & { readonly passes: (number | null)[] } {
  const passes: (number | null)[] = template.map(() => null)
  const reveal = (position: number, _: Float32Array, pass: number) => {
    passes[position] = pass
    return 1
  }
  return { tokens: Int32Array.from(template), rule, passes, reveal }
}

test('passes take as many sequences as fit, at least one, and none that is done', async () => {
  const asked: number[][] = []
  const denoiser = {
    ...table,
    distributions: (sequences: readonly Int32Array[]) => {
      asked.push(sequences.map(({ length }) => length))
      return table.distributions(sequences)
    },
  }
  const unmaskings = [
    recorded([mask, mask], leftToRight(2)),
    recorded([mask, mask, mask], leftToRight(2)),
    recorded([mask, mask, mask, mask, mask, mask], leftToRight(6)),
    recorded([0, 2], leftToRight()),
  ]
  await unmask(denoiser, unmaskings, undefined, 4 * 5)
  expect(asked).toEqual([[2, 3], [3], [6]])
  expect(unmaskings.map(({ tokens }) => [...tokens])).toEqual([
    [1, 1],
    [1, 1, 1],
    [1, 1, 1, 1, 1, 1],
    [0, 2],
  ])
  expect(unmaskings.map(({ passes }) => passes)).toEqual([
    [0, 0],
    [0, 0, 1],
    [0, 0, 0, 0, 0, 0],
    [null, null],
  ])
})

test('a random order is the same for sequences of a length and follows from the seed', async () => {
  const orders = async (...rules: UnmaskingRule[]) => {
    const unmaskings = rules.map(rule => recorded(Array(6).fill(mask), rule))
    await unmask(table, unmaskings)
    return unmaskings.map(({ passes }) => passes)
  }
  const rule = inRandomOrder(1)
  const [first, second, again, other] = await orders(rule, rule, inRandomOrder(1), inRandomOrder(2))
  expect(first!.toSorted()).toEqual([0, 1, 2, 3, 4, 5])
  expect(first).not.toEqual([0, 1, 2, 3, 4, 5])
  expect([second, again]).toEqual([first, first])
  expect(other).not.toEqual(first)
})

test('a position that becomes the mask again is refused: it would never end', async () => {
  const unmasking = { ...recorded([mask], leftToRight()), reveal: () => mask }
  await expect(unmask(table, [unmasking])).rejects.toThrow('position 0 became the mask token again')
})
