import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { asJson, parsePythonJson } from './python-json.ts'

/** As Python's json.dumps writes it. */
function dumps(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (Array.isArray(value)) return `[${value.map(dumps).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}: ${dumps(member)}`)
    .join(', ')}}`
}

describe("Python's JSON", () => {
  test('what Python writes is what is read', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('NaN', '"NaN', 'x\\', '-Infinity', '\\"Infinity\\"'))
    const value = fc.letrec(tie => ({
      any: fc.oneof(
        { maxDepth: 3 },
        fc.double(),
        fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
        text,
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('any'), { maxLength: 4 }),
        fc.dictionary(
          text.filter(key => key !== '__proto__'),
          tie('any'),
          { maxKeys: 4 },
        ),
      ),
    })).any
    fc.assert(
      fc.property(value, written => {
        expect(parsePythonJson(dumps(written))).toEqual(toRead(written))
      }),
    )
  })

  test('a text that is cut off, whatever it holds, is refused at once', () => {
    const program = `
      import { parsePythonJson } from ${JSON.stringify(join(import.meta.dirname, 'python-json.ts'))}
      for (const cut of ['a'.repeat(200), '\\\\"'.repeat(200_000)]) {
        try { parsePythonJson('{"a": NaN, "b": "' + cut) } catch (error) { console.log(error.name) }
      }`
    const call = ['--input-type=module', '-e', program]
    const { stdout } = spawnSync(process.execPath, call, { encoding: 'utf8', timeout: 10_000 })
    expect(stdout).toBe('SyntaxError\nSyntaxError\n')
  })

  test('what is nested deeper than anything that a program writes is refused', () => {
    for (const inner of ['1', 'NaN']) {
      const deep = (levels: number) => '{"a":['.repeat(levels) + inner + ']}'.repeat(levels)
      expect(parsePythonJson(deep(100))).toHaveProperty('a')
      expect(() => parsePythonJson(deep(101))).toThrow('it is nested more than 200 deep')
      expect(() => parsePythonJson(deep(50_000))).toThrow('it is nested more than 200 deep')
    }
  })

  test('a text of any length is read', () => {
    const long = 'x'.repeat(2 ** 25)
    expect(parsePythonJson(`{"a": NaN, "b": "${long}"}`)).toEqual({ a: Number.NaN, b: long })
  })

  test('what is no JSON is refused as JSON.parse does', () => {
    expect(() => parsePythonJson('{"a": NaN')).toThrow(SyntaxError)
    expect(() => parsePythonJson('{"a": Nan}')).toThrow(SyntaxError)
  })

  test('numbers that are not finite become their names where JSON has to be made of them', () => {
    expect(asJson(parsePythonJson('{"a": [NaN, -Infinity, 1], "b": null}'))).toEqual({
      a: ['NaN', '-Infinity', 1],
      b: null,
    })
  })
})

/** JSON.stringify writes -0 as 0. */
function toRead(value: unknown): unknown {
  if (value === 0) return 0
  if (Array.isArray(value)) return value.map(toRead)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toRead(member)]))
}
