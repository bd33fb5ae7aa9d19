import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { seededRandom } from '../../src/statistics/random.ts'
import { excerptBytes, excerpts, trainingBatches, validationBatch } from './batches.ts'
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
  for (const { training, heldOut } of loadText()) {
    const rows = validationRows(heldOut)
    expect(rows.length).toBe(excerpts)
    for (const row of rows) {
      expect(heldOut.includes(row)).toBe(true)
      expect(training.includes(row)).toBe(false)
    }
  }

  function validationRows(heldOut: Buffer): Buffer[] {
    const source = loadText().find(candidate => candidate.heldOut === heldOut)!
    const { tokens } = validationBatch(source, excerptBytes)
    return Array.from({ length: excerpts }, (_, row) =>
      Buffer.from(tokens.slice(row * excerptBytes, (row + 1) * excerptBytes)),
    )
  }
})

test('every context length is measured on the same held-out bytes', () => {
  for (const source of loadText()) {
    const whole = validationBatch(source, excerptBytes)
    for (const sequence of [8, 64, 256]) expect(validationBatch(source, sequence).targets).toEqual(whole.targets)
  }
})

test('training rows come from the sources in turn; targets are the next bytes; weights are a mean', () => {
  const sources = loadText()
  const { tokens, targets, weights } = trainingBatches(sources, seededRandom(1), 6, 32).next().value
  for (let row = 0; row < 6; row++) {
    const window = Buffer.from(tokens.slice(row * 32, (row + 1) * 32))
    expect(sources[row % 2]!.training.includes(window)).toBe(true)
    expect(targets.slice(row * 32, row * 32 + 31)).toEqual(tokens.slice(row * 32 + 1, (row + 1) * 32))
  }
  expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 5)
})

test('the same seed gives the same batches, another seed others', () => {
  const first = (seed: number) => trainingBatches(loadText(), seededRandom(seed), 4, 16).next().value.tokens
  expect(first(1)).toEqual(first(1))
  expect(first(1)).not.toEqual(first(2))
})
