import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { diffConfigurations, mergePatch } from './configuration.ts'
import { canonicalJson, type Json } from './json.ts'

const json = fc.jsonValue({ maxDepth: 4 }).map(value => JSON.parse(JSON.stringify(value)) as Json)
const configuration = fc.dictionary(fc.string({ maxLength: 4 }), json).map(value => value as Json)

describe('mergePatch', () => {
  test.each([
    // RFC 7396, appendix A.
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ] as [Json, Json, Json][])('%j patched with %j', (target, patch, result) => {
    expect(canonicalJson(mergePatch(target, patch))).toBe(canonicalJson(result))
  })

  test('patching twice is patching once, and the arguments stay as they are', () => {
    fc.assert(
      fc.property(configuration, configuration, (target, patch) => {
        const before = canonicalJson([target, patch])
        const once = mergePatch(target, patch)
        expect(canonicalJson(mergePatch(once, patch))).toBe(canonicalJson(once))
        expect(canonicalJson([target, patch])).toBe(before)
      }),
    )
  })

  test('a key called __proto__ is a key', () => {
    const merged = mergePatch({}, JSON.parse('{"__proto__": {"polluted": true}}') as Json)
    expect(Object.keys(merged as object)).toEqual(['__proto__'])
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})

describe('diffConfigurations', () => {
  test('names nested options by their path, with both values', () => {
    const a = { optimiser: { name: 'adamw', betas: [0.9, 0.95] }, depth: 4, tied: true }
    const b = { optimiser: { name: 'muon', momentum: 0.95 }, depth: 4, tied: null }
    expect(diffConfigurations(a, b)).toEqual([
      { option: 'optimiser.name', from: 'adamw', to: 'muon' },
      { option: 'optimiser.betas', from: [0.9, 0.95], to: undefined },
      { option: 'tied', from: true, to: null },
      { option: 'optimiser.momentum', from: undefined, to: 0.95 },
    ])
  })

  test('lists both sides where one has an object and the other a value', () => {
    expect(diffConfigurations({ schedule: 'cosine' }, { schedule: { kind: 'wsd', decay: 0.2 } })).toEqual([
      { option: 'schedule', from: 'cosine', to: undefined },
      { option: 'schedule.kind', from: undefined, to: 'wsd' },
      { option: 'schedule.decay', from: undefined, to: 0.2 },
    ])
  })

  test('a dot inside a key does not collide with nesting', () => {
    const options = diffConfigurations({ 'a.b': 1, a: { b: 1 } }, { 'a.b': 2, a: { b: 3 } }).map(({ option }) => option)
    expect(options).toEqual(['"a.b"', 'a.b'])
  })

  test('is empty exactly when the configurations are equal, and turns round with its arguments', () => {
    fc.assert(
      fc.property(configuration, configuration, (a, b) => {
        const changes = diffConfigurations(a, b)
        expect(changes.length === 0).toBe(canonicalJson(a) === canonicalJson(b))
        expect(diffConfigurations(a, a)).toEqual([])
        const turned = diffConfigurations(b, a).map(({ option, from, to }) => ({ option, from: to, to: from }))
        const byOption = (x: { option: string }, y: { option: string }) => (x.option < y.option ? -1 : 1)
        expect(turned.sort(byOption)).toEqual(changes.toSorted(byOption))
      }),
    )
  })
})
