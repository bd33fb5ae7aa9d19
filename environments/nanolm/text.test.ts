import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { seededRandom } from '../../src/statistics/random.ts'
import { excerptBytes, trainingWindows, validationWindows } from './batches.ts'
import { nextByte } from './next-byte.ts'
import { loadText } from './text.ts'

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex').slice(0, 16)

test('the split is fixed: measurements of years apart are on the same bytes', () => {
  const split = loadText().map(({ name, training, heldOut }) => [
    name,
    training.length,
    sha256(training),
    sha256(heldOut),
  ])
  expect(split).toMatchInlineSnapshot(`
    [
      [
        "moby_dick",
        1100148,
        "2040f05cd5b98404",
        "4584e9fb93756943",
      ],
      [
        "sotu",
        9709822,
        "cdba84be5b00551c",
        "4e7c64d7c820a17e",
      ],
    ]
  `)
})

test('every tenth document is held out and no document is on both sides', () => {
  for (const { trainingDocuments, heldOutDocuments } of loadText()) {
    const all = [...trainingDocuments, ...heldOutDocuments]
    expect(new Set(all).size).toBe(all.length)
    expect(heldOutDocuments.length).toBe(Math.floor(all.length / 10))
  }
  const [book, addresses] = loadText()
  expect(book!.heldOutDocuments.slice(0, 2)).toEqual(['chapter_10.txt', 'chapter_20.txt'])
  expect(addresses!.heldOutDocuments[0]).toMatch(/^1799_/)
})

test('no training window holds held-out text, and no validation window holds training text', () => {
  for (const source of loadText()) {
    const windows = validationWindows(source, 64, excerptBytes)
    expect(windows.length).toBe(64)
    for (const window of windows) {
      expect(source.heldOut.includes(window)).toBe(true)
      expect(source.training.includes(window)).toBe(false)
    }
  }
})

test('every context length is measured on the same held-out bytes', () => {
  for (const source of loadText()) {
    const predicted = (length: number) =>
      Buffer.concat(validationWindows(source, 16, length).map(window => window.subarray(1)))
    expect(predicted(excerptBytes)).toHaveLength(16 * excerptBytes)
    for (const length of [8, 64, 256]) expect(predicted(length).equals(predicted(excerptBytes))).toBe(true)
  }
})

test.each([
  [0, [0, 0, 0, 0, 0, 0]],
  [0.25, [1, 0, 0, 0, 1, 0]],
  [0.5, [1, 0, 1, 0, 1, 0]],
  [0.75, [1, 1, 1, 0, 1, 1]],
  [1, [1, 1, 1, 1, 1, 1]],
])('with a share of %d the rows of six are from Moby-Dick or not: %j', (share, expected) => {
  const [book] = loadText()
  const windows = trainingWindows(loadText(), seededRandom(1), share)(6, 48)
  expect(windows.map(window => (book.training.includes(window) ? 1 : 0))).toEqual(expected)
  expect(windows.every(({ length }) => length === 49)).toBe(true)
})

test('windows go on where the call before ended, whatever their lengths; the seed decides where they stand', () => {
  const windows = (seed: number, ...counts: readonly number[]) => {
    const take = trainingWindows(loadText(), seededRandom(seed), 0.5)
    return counts.flatMap(count => take(count, 16))
  }
  expect(windows(1, 5)).toEqual(windows(1, 2, 3))
  expect(windows(1, 5)).not.toEqual(windows(2, 5))
})

test('next bytes: targets are the bytes that follow, and the weights of a step are a mean', () => {
  const data = nextByte.trainingData([Buffer.from('whale'), Buffer.from('ships')], seededRandom(1))
  expect(data.map(({ input, targets }) => [input.tokens, targets])).toEqual([
    [Int32Array.from(Buffer.from('whal')), Int32Array.from(Buffer.from('hale'))],
    [Int32Array.from(Buffer.from('ship')), Int32Array.from(Buffer.from('hips'))],
  ])
  expect(data.flatMap(({ weights }) => [...weights])).toEqual(Array(8).fill(1 / 8))
})
