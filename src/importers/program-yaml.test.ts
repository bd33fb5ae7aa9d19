import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../experiment/json.ts'
import { readProgramYaml } from './program-yaml.ts'

/** What PyYAML 6.0 writes of some values, in several of its styles. */
const written: readonly { readonly value: Json; readonly text: string }[] = JSON.parse(
  readFileSync(new URL('fixtures/program-yaml.json', import.meta.url), 'utf8'),
)

describe('YAML as programs write it', () => {
  test.each(written)('PyYAML: $text', ({ text, value }) => {
    expect(numbered(readProgramYaml(text))).toEqual(numbered(value))
    expect(numbered(readProgramYaml(text.replaceAll('\n', '\r\n')))).toEqual(numbered(value))
  })

  test("Go's yaml: sequences indented, literal blocks, comments", () => {
    const text = `# made by a program
lr:
    value: 1e-05 # small
    desc: null
model:
    value:
        layers:
            - 1
            - name: a # first
              size: 2
            -
              - x
        note: |-
            one
              two

            three
        kept: |+
            end

        folded: >
            one
            two

            three
`
    expect(readProgramYaml(text)).toEqual({
      lr: { value: 0.00001, desc: null },
      model: {
        value: {
          layers: [1, { name: 'a', size: 2 }, ['x']],
          note: 'one\n  two\n\nthree',
          kept: 'end\n\n',
          folded: 'one two\nthree\n',
        },
      },
    })
  })

  test('more than any program writes is refused before it is parsed', () => {
    expect(() => readProgramYaml('- x\n'.repeat(1_000_001))).toThrow('it is longer than 4000000 characters')
  })

  test('tags of Python are passed over', () => {
    const text =
      'betas: !!python/tuple\n- 0.9\n- 0.99\npath: !!python/object/apply:pathlib.PosixPath\n- a\nn: !!str 5\n'
    expect(readProgramYaml(text)).toEqual({ betas: [0.9, 0.99], path: ['a'], n: '5' })
  })

  test('JSON is YAML', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        expect(numbered(readProgramYaml(JSON.stringify(value)))).toEqual(numbered(value as Json))
      }),
    )
  })

  test.each([
    ['a: 1\nb', 'line 2'],
    ['a:\n   b: 1\n  c: 2', 'line 3'],
    ['a: *b', 'Unresolved alias'],
    ['a: "b', 'Missing closing "quote'],
    ['a: [1, 2', 'line 1'],
    ['a: [1 2}]', 'line 1'],
    ['? [1]\n: 2', 'one of its keys is no scalar'],
    ['a: 1\n---\nb: 2', 'multiple documents'],
  ])('what is none is refused: %j', (text, message) => {
    expect(() => readProgramYaml(text)).toThrow(message)
  })

  test('neither depth nor aliases of aliases take the machine down', () => {
    expect(() => readProgramYaml(`a: ${'['.repeat(5000)}${']'.repeat(5000)}`)).toThrow('line 1')
    expect(() =>
      readProgramYaml(Array.from({ length: 60 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')),
    ).toThrow('more than 50 deep')
    const laughs = Array.from({ length: 30 }, (_, index) => `l${index}: &l${index} [*l${index - 1}, *l${index - 1}]`)
    expect(() => readProgramYaml(['l-1: &l-1 1', ...laughs].join('\n'))).toThrow('alias')
    expect(() => readProgramYaml(`a: "${'x\n'.repeat(50_000)}`)).toThrow('Missing closing')
  })

  test('a key may be called __proto__', () => {
    expect(Object.keys(readProgramYaml('__proto__:\n  x: 1\na: {__proto__: 2}') as object)).toEqual(['__proto__', 'a'])
  })
})

/** PyYAML writes the text 1e-5 without quotes, since by YAML 1.1 it is no number; here it is one. */
function numbered(value: Json): Json {
  if (Array.isArray(value)) return value.map(numbered)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, numbered(member)]))
  }
  if (Object.is(value, -0)) return 0
  // An integer that a number cannot hold exactly stays text.
  if (typeof value === 'number' && /^-?\d{16,}$/.test(String(value)) && !Number.isSafeInteger(value))
    return String(value)
  return typeof value === 'string' && /^[\d.]+(e-?\d+)?$/.test(value) && !/^0\d|^\d{16,}$/.test(value)
    ? Number(value)
    : value
}
