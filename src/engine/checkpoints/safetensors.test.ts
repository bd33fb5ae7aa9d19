/**
 * Files of the reference implementation are read as it reads them (fixtures/safetensors_types.py), ours give back what was written, and
 * a file that lies is refused with a sentence.
 */
import { mkdtempSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openSafetensors, type TensorToWrite, writeSafetensors } from './safetensors.ts'

const folder = mkdtempSync(join(tmpdir(), 'almanac-safetensors-'))
let files = 0
const newPath = () => join(folder, `${files++}.safetensors`)
const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))

describe('a file of the reference implementation', () => {
  const expected = JSON.parse(readFileSync(fixture('safetensors-types.json'), 'utf8')) as Record<
    string,
    { readonly shape: readonly number[]; readonly values: readonly string[] }
  >
  const file = openSafetensors(fixture('safetensors-types.safetensors'))

  it('has its names and its metadata', () => {
    expect([...file.tensors.keys()].sort()).toEqual(Object.keys(expected).sort())
    expect(file.metadata).toEqual({ format: 'pt', 'made by': 'torch' })
  })

  it.each(Object.entries(expected))('gives %s in single precision', (name, { shape, values }) => {
    expect(file.tensors.get(name)!.shape).toEqual(shape)
    const numbers = values.map(text => Math.fround(Number(text.replace('inf', 'Infinity'))))
    expect([...file.read(name)]).toEqual(numbers)
  })
})

describe('what was written', () => {
  const tensors = fc
    .uniqueArray(
      fc.tuple(
        fc.string({ unit: 'binary', maxLength: 6 }),
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 }),
        fc.infiniteStream(fc.float()),
      ),
      { selector: ([name]) => name, maxLength: 4 },
    )
    .map(
      entries =>
        new Map(
          entries.map(([name, shape, stream]): [string, TensorToWrite] => {
            const values = Float32Array.from([...stream.take(shape.reduce((a, b) => a * b, 1))])
            return [name, { shape, values }]
          }),
        ),
    )

  it('comes back, bit by bit, whatever the names, shapes and values', () => {
    fc.assert(
      fc.property(tensors, given => {
        const path = newPath()
        writeSafetensors(path, given)
        const file = openSafetensors(path)
        expect(new Set(file.tensors.keys())).toEqual(new Set(given.keys()))
        for (const [name, { shape, values }] of given) {
          expect(file.tensors.get(name)).toMatchObject({ type: 'F32', shape })
          expect(new Uint8Array(file.read(name).buffer)).toEqual(new Uint8Array(values.buffer))
        }
        file.close()
      }),
      { numRuns: 40 },
    )
  })

  it('has the same bytes in whatever order the tensors come, aligned and readable as text', () => {
    const [a, b] = [newPath(), newPath()]
    const one = { shape: [2], values: Float32Array.of(1, 2) }
    const two = { shape: [], values: Float32Array.of(3) }
    writeSafetensors(a, new Map([['one', one] as const, ['two', two] as const]), { x: '1', a: '2' })
    writeSafetensors(b, new Map([['two', two] as const, ['one', one] as const]), { a: '2', x: '1' })
    const bytes = readFileSync(a)
    expect(bytes.equals(readFileSync(b))).toBe(true)
    const length = Number(bytes.readBigUInt64LE())
    expect(length % 8).toBe(0)
    expect(bytes.toString('utf8', 8, 8 + length).trimEnd()).toBe(
      '{"__metadata__":{"a":"2","x":"1"},"one":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},' +
        '"two":{"dtype":"F32","shape":[],"data_offsets":[8,12]}}',
    )
    expect(bytes.length).toBe(8 + length + 12)
  })

  it('never replaces a file, and fits its shape', () => {
    const path = newPath()
    writeSafetensors(path, new Map())
    expect(() => writeSafetensors(path, new Map())).toThrow('EEXIST')
    const wrong = new Map([['a', { shape: [2, 2], values: new Float32Array(3) }]])
    expect(() => writeSafetensors(newPath(), wrong)).toThrow('a has 3 values, and shape (2, 2) has 4')
  })
})

/** A file with this header, with as many bytes of data. */
function hostile(header: string | Buffer, data: number, claimedLength?: bigint): string {
  const path = newPath()
  const text = Buffer.from(header as string)
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(claimedLength ?? BigInt(text.length))
  writeFileSync(path, Buffer.concat([length, text, Buffer.alloc(data)]))
  return path
}
const tensor = (start: number, end: number, shape = `[${(end - start) / 4}]`, type = 'F32') =>
  `{"dtype":"${type}","shape":${shape},"data_offsets":[${start},${end}]}`

describe('a file that breaks the rules is refused: ', () => {
  it.each<[string, string, number, string]>([
    [
      'a gap',
      `{"a":${tensor(0, 4)},"b":${tensor(8, 12)}}`,
      12,
      'tensor b begins at byte 8 of the data and the one before ends at 4',
    ],
    ['an overlap', `{"a":${tensor(0, 8)},"b":${tensor(4, 12)}}`, 12, 'tensor b begins at byte 4 of the data'],
    ['twice the same bytes', `{"a":${tensor(0, 8)},"b":${tensor(0, 8)}}`, 8, 'no gap and no overlap'],
    ['data that nothing names', `{"a":${tensor(0, 4)}}`, 5, 'lists 4 bytes of data, and 5 are there'],
    ['data that are not there', `{"a":${tensor(0, 8)}}`, 7, 'lists 8 bytes of data, and 7 are there; it is cut short'],
    [
      'another size than its shape',
      `{"a":${tensor(0, 8, '[3]')}}`,
      8,
      'tensor a takes 8 bytes, and F32 of shape (3) takes 12',
    ],
    ['offsets that fall', `{"a":${tensor(8, 4, '[1]')}}`, 8, 'takes -4 bytes'],
    ['a negative offset', `{"a":${tensor(-4, 4, '[2]')}}`, 8, 'data_offsets that are not two whole numbers'],
    ['a negative shape', `{"a":${tensor(0, 8, '[-1,-2]')}}`, 8, 'shape that is not a list of whole numbers'],
    ['a shape that overflows', `{"a":${tensor(0, 0, '[9007199254740991,9007199254740991]')}}`, 0, 'takes 0 bytes'],
    ['a fraction', `{"a":${tensor(0, 4, '[0.5,2]')}}`, 4, 'shape that is not a list of whole numbers'],
    ['a number beyond all', `{"a":${tensor(0, 4, '[1e400]')}}`, 4, 'shape that is not a list of whole numbers'],
    ['an unknown type', `{"a":${tensor(0, 4, '[4]', 'F8_E4M3')}}`, 4, 'tensor a is of type "F8_E4M3": F64, F32'],
    ['a type from the prototype', `{"a":${tensor(0, 4, '[4]', 'toString')}}`, 4, 'is of type "toString"'],
    ['an unknown field', `{"a":{"dtype":"F32","shape":[],"data_offsets":[0,4],"code":"x"}}`, 4, 'has a field code'],
    ['a name twice', `{"a":${tensor(0, 4)},"\\u0061":${tensor(4, 8)}}`, 8, 'has the name "a" twice'],
    ['a field twice', `{"a":{"dtype":"F32","dtype":"F32","shape":[],"data_offsets":[0,4]}}`, 4, 'name "dtype" twice'],
    ['metadata that are no texts', '{"__metadata__":{"a":1}}', 0, '__metadata__ is not a map from text to text'],
    ['a tensor that is a list', '{"a":[]}', 0, 'tensor a is not described by an object'],
    ['a list', '[]', 0, 'is not a JSON object'],
    ['spaces before it', ' {}', 0, 'is not a JSON object'],
    ['text that is no JSON', '{"a":', 0, 'its header is not JSON'],
  ])('%s', (_, header, data, sentence) => {
    expect(() => openSafetensors(hostile(header, data))).toThrow(sentence)
  })

  it.each([
    ['longer than the file', 50n, '50 bytes long, and 2 bytes are there; it is cut short'],
    ['longer than any should be', 2n ** 40n, '1099511627776 bytes long, and 100000000 are the most'],
    ['negative, if it were signed', 2n ** 64n - 1n, '18446744073709551615 bytes long'],
  ])('a header that claims to be %s', (_, length, sentence) => {
    expect(() => openSafetensors(hostile('{}', 0, length))).toThrow(sentence)
  })

  it('a header that is not UTF-8', () => {
    expect(() => openSafetensors(hostile(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 0))).toThrow('is not UTF-8 text')
  })

  it('a file of seven bytes, and one of none', () => {
    for (const size of [7, 0]) {
      const path = newPath()
      writeFileSync(path, Buffer.alloc(size))
      expect(() => openSafetensors(path)).toThrow(`it has ${size} bytes`)
    }
  })

  it('whatever its bytes, with a sentence that names it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), bytes => {
        const path = newPath()
        writeFileSync(path, bytes)
        // Nearly none is valid; one that is, is empty.
        try {
          expect(openSafetensors(path).tensors.size).toBe(0)
        } catch (error) {
          expect((error as Error).message).toContain(`${path} is not a safetensors file that can be read: `)
        }
      }),
      { numRuns: 100 },
    )
  })
})

it('names with any escapes are told apart from those that are equal', () => {
  const header = `{"a\\"}":${tensor(0, 4)},"a":${tensor(4, 8)},"{\\\\":${tensor(8, 12)},"__proto__":${tensor(12, 16)}}`
  expect([...openSafetensors(hostile(header, 16)).tensors.keys()]).toEqual(['a"}', 'a', '{\\', '__proto__'])
})

it('a file that is cut while it is open gives a sentence, and so does one that is closed', () => {
  const path = newPath()
  writeSafetensors(path, new Map([['a', { shape: [4], values: new Float32Array(4) }]]))
  const file = openSafetensors(path)
  truncateSync(path, 75)
  expect(() => file.read('a')).toThrow(/the tensor a of .* cannot be read: the file ends \d+ bytes too early/)
  expect(() => file.read('b')).toThrow('has no tensor b')
  file.close()
  file.close()
  expect(() => file.read('a')).toThrow('was closed before its tensor a was read')
})
