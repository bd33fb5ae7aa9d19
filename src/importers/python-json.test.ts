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
