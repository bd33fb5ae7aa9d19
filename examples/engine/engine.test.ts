/** The examples of the engine do what they say, and its page shows them as they are. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { worstDerivativeError } from '../../src/engine/graph/derivative-check.ts'
import { readPretrained } from '../../src/engine/pretrained/read-pretrained.ts'
import { learnText } from './adapters.ts'
import { learnFromTeacher } from './distil.ts'
import { fillTheGap } from './masked-diffusion.ts'
import { learnToCount, softplus, windowModel } from './new-model.ts'
import { learnToSort } from './reinforce.ts'
import { trainAndSample } from './train-and-sample.ts'

const folder = mkdtempSync(join(tmpdir(), 'almanac-engine-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('a new operation is checked against finite differences', async () => {
  const error = await worstDerivativeError({
    inputs: { a: { shape: [5], values: Float64Array.of(-3, -0.5, 0, 0.7, 30) } },
    build: (_, { a }) => softplus(a!),
  })
  expect(error).toBeLessThan(1e-7)
})

it('a new model is checked against finite differences as a whole, and learns', async () => {
  const model = windowModel({ vocabulary: 5, contextLength: 4, window: 3, width: 3 })
  const inputs = [...model.initialValues(1)].map(([name, values], index) => {
    const { shape } = model.parameters[index]!
    return [name, { shape, values: Float64Array.from(values) }] as const
  })
  const error = await worstDerivativeError({
    inputs: Object.fromEntries(inputs),
    fixed: { tokens: Int32Array.of(1, 2, 3, 4, 0, 4, 2, 2) },
    build: (graph, parameters) =>
      model.build({
        graph,
        parameters: new Map(Object.entries(parameters)),
        rows: 2,
        positions: 4,
        tokens: graph.indices('tokens', [8], 5),
        lengths: graph.input('lengths', [2], 'int32'),
        dropout: (_, tensor) => tensor,
      }).logits,
  })
  expect(error).toBeLessThan(1e-7)
  expect(await learnToCount()).toBe('three four five six se')
})

it('a decoder is trained, sampled and saved, and goes on as if it had not stopped', async () => {
  const { losses, said, wentOn, resumed } = await trainAndSample(join(folder, 'checkpoint'))
  expect(losses[0]).toBeGreaterThan(5)
  expect(losses.at(-1)).toBeLessThan(0.5)
  expect(said.some(text => text.startsWith('Monday, christened on Tuesday'))).toBe(true)
  expect(resumed).toEqual(wentOn)
})

it('a masked-diffusion model fills a gap, and finds the text with two letters exchanged less likely', async () => {
  const { filled, bits } = await fillTheGap()
  expect(filled).toBe('wednesday thursd')
  expect(bits[0]).toBeLessThan(bits[1]! - 0.3)
})

it('a student learns from a teacher alone, and beams follow the words that are allowed', async () => {
  const { divergences, found } = await learnFromTeacher()
  expect(divergences.at(-1)).toBeLessThan(divergences[0]! / 20)
  expect(found.map(({ text }) => text)).toEqual([
    'wednesday ',
    expect.stringMatching(/day $/),
    expect.stringMatching(/day $/),
  ])
})

it('letters are sorted after rewards for the places that are right, and nothing else', async () => {
  const lines: string[] = []
  expect(await learnToSort(30, line => lines.push(line))).toBeGreaterThan(0.75)
  expect(lines).toHaveLength(3)
  expect(lines[0]).toMatch(/^round 0: mean reward [12]\d %, right \d %; dab: [abcde:]{3}$/)
})

it('a published model learns a text with adapters, and is written as a folder that says the same', async () => {
  const source = join(import.meta.dirname, '../../src/engine/fixtures/pretrained/qwen3')
  const text = 'the cat sat on the mat'
  const { before, after, said } = await learnText(source, text, join(folder, 'adapted'), {
    steps: 20,
    learningRate: 0.01,
  })
  expect(after).toBeLessThan(0.2 * before)
  expect(said).toContain('cat sat on the mat')
  await expect(learnText(source, text, folder, { steps: 1e9, learningRate: 0.01 })).rejects.toThrow('is already there')
  // The file holds the sum of base and adapters.
  const name = 'blocks.0.attention.query'
  expect(readPretrained(join(folder, 'adapted')).values.get(name)).not.toEqual(readPretrained(source).values.get(name))
})

it('every block of TypeScript on the page stands in a program that is run here', () => {
  const page = readFileSync(new URL('../../docs/engine.md', import.meta.url), 'utf8')
  const programs = readdirSync(import.meta.dirname).map(name => readFileSync(join(import.meta.dirname, name), 'utf8'))
  const blocks = [...page.matchAll(/^```ts\n(.*?)^```/gms)].map(([, block]) => block!)
  expect(blocks.length).toBeGreaterThan(5)
  for (const block of blocks)
    expect(
      programs.some(program => program.includes(block)),
      block,
    ).toBe(true)
})
