import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { estimatedFlopsPerToken, parameterCount } from '../../src/engine/models/decoder-parameters.ts'
import { parseCards, readCards } from './cards.ts'
import { effectiveKey, resolveConfiguration } from './configuration.ts'
import { interventions } from './interventions.ts'
import { decoderConfiguration } from './model.ts'
import { optionNames } from './options.ts'

const recipes = ['olmo', 'nanochat', 'diffusion'].map(name => {
  const path = fileURLToPath(new URL(`${name}.json`, import.meta.url))
  const json = JSON.parse(readFileSync(path, 'utf8'))
  return { name, path, json, configuration: resolveConfiguration(json) }
})

test.each(recipes)('$name says a value for every option, so that a change always has a value before', ({ json }) => {
  expect(Object.keys(json).sort()).toEqual([...optionNames].sort())
})

test.each(recipes)(
  'every card is valid for $name; there are at least 64 things to try and many kinds',
  ({ configuration }) => {
    const { singles, refused } = interventions(configuration, readCards(), { pairs: 0, seed: 1 })
    expect(refused).toEqual([])
    expect(singles.length).toBeGreaterThanOrEqual(64)
    expect(new Set(singles.flatMap(({ tags }) => tags)).size).toBeGreaterThanOrEqual(10)
    expect(new Set(singles.map(({ origin }) => origin.split('=')[0])).size).toBeGreaterThanOrEqual(40)
  },
)

test.each(recipes)(
  'no two interventions on $name train in the same way, and each differs from the recipe',
  ({ configuration }) => {
    const { singles, pairs } = interventions(configuration, readCards(), { pairs: 200, seed: 3 })
    expect(pairs).toHaveLength(200)
    const all = [...singles, ...pairs]
    const keys = all.map(({ overrides }) => effectiveKey(resolveConfiguration({ ...configuration, ...overrides })))
    expect(new Set([...keys, effectiveKey(configuration)]).size).toBe(all.length + 1)
    for (const { sentence, overrides } of all) {
      expect(sentence).not.toContain('{value}')
      for (const [option, value] of Object.entries(overrides)) {
        expect(configuration[option as keyof typeof configuration]).not.toBe(value)
      }
    }
  },
)

test.each(recipes)(
  'some interventions on $name break a limit of 1.25 times its size, most do not',
  ({ configuration }) => {
    const size = (value: typeof configuration) => {
      const model = decoderConfiguration(value)
      return [parameterCount(model), estimatedFlopsPerToken(model)] as const
    }
    const [parameters, flops] = size(configuration)
    const { singles } = interventions(configuration, readCards(), { pairs: 0, seed: 1 })
    const broken = singles.filter(({ overrides }) => {
      const [itsParameters, itsFlops] = size({ ...configuration, ...overrides })
      return itsParameters > 1.25 * parameters || itsFlops > 1.25 * flops
    })
    expect(broken.length).toBeGreaterThanOrEqual(3)
    expect(broken.length).toBeLessThan(singles.length / 8)
  },
)

test('the same cards mean other things for other recipes', () => {
  const [olmo, nanochat, diffusion] = recipes.map(({ configuration }) =>
    interventions(configuration, readCards(), { pairs: 0, seed: 1 }).singles.map(({ origin }) => origin),
  )
  expect(olmo).not.toContain('muon-momentum=0.98')
  expect(nanochat).toContain('muon-momentum=0.98')
  expect(olmo).not.toContain('swiglu=swiglu')
  expect(nanochat).toContain('swiglu=swiglu')
  expect([...olmo!, ...nanochat!]).not.toContain('masking-by-count=counted')
  expect(diffusion).toContain('masking-by-count=counted')
})

test('pairs follow from the seed', () => {
  const { configuration } = recipes[0]!
  const pairs = (seed: number) => interventions(configuration, readCards(), { pairs: 10, seed }).pairs
  expect(pairs(1)).toEqual(pairs(1))
  expect(pairs(1)).not.toEqual(pairs(2))
})

test.each([
  [
    [{ name: 'a', tag: 't', sentence: 's', option: 'depth', values: [0] }],
    'Card "a": Option "depth" must be a whole number from 1 to 16, not 0.',
  ],
  [
    [{ name: 'a', tag: 't', sentence: 's', option: 'dept', values: [2] }],
    'Card "a": Unknown option "dept". Did you mean "depth"?',
  ],
  [
    [{ name: 'a', tag: 't', sentence: 's', values: [{ heads: 2, activation: 'relu' }] }],
    'Card "a": Option "activation" must be one of gelu, swiglu, relu-squared, not "relu".',
  ],
  [
    [{ name: 'a', tag: 't', sentence: 's', option: 'depth', values: [2, 4] }],
    'Card "a" has 2 values, so its sentence must say {value}.',
  ],
  [
    [{ name: 'A b', tag: 't', sentence: 's', option: 'depth', values: [2] }],
    'Cards: 0.name: must be lower-case words joined by hyphens.',
  ],
])('an invalid card is refused with a sentence (%#)', (json, sentence) => {
  expect(() => parseCards(json)).toThrow(sentence)
})

test('a value that does not fit the recipe is refused with a sentence, the others stand', () => {
  const cards = parseCards([
    { name: 'heads', tag: 'attention', sentence: 'Use {value} heads.', option: 'heads', values: [3, 8] },
  ])
  const { singles, refused } = interventions({ ...recipes[0]!.configuration, width: 64 }, cards, { pairs: 0, seed: 1 })
  expect(refused[0]).toBe('Card "heads" with 3: Option "width" must be a multiple of "heads" (3), not 64.')
  expect(singles.map(({ overrides }) => overrides)).toEqual([{ heads: 8 }])
})

test('the program prints candidates as JSON lines, the same for the same seed', () => {
  const propose = (...more: string[]) => {
    const program = fileURLToPath(new URL('propose.ts', import.meta.url))
    return spawnSync(process.execPath, [program, '--recipe', recipes[0]!.path, ...more], { encoding: 'utf8' })
  }
  const { stdout, status } = propose('--count', '12', '--seed', '4', '--pairs', '0.25')
  expect(status).toBe(0)
  const candidates = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(candidates).toHaveLength(12)
  expect(candidates.filter(({ origin }) => origin.includes(' + '))).toHaveLength(3)
  expect(Object.keys(candidates[0])).toEqual(['sentence', 'tags', 'overrides', 'origin'])
  expect(propose('--count', '12', '--seed', '4', '--pairs', '0.25').stdout).toBe(stdout)

  const wrong = propose('--count', 'many', '--seed', '4')
  expect(wrong.status).toBe(2)
  expect(wrong.stderr).toBe('--count must be a number from 0 to 1000000, not "many".\n')
})
