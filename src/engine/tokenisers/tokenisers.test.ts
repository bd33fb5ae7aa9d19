/**
 * Bytes, characters and words: what is encoded comes back, special tokens come from no text, and what has no token is refused.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { byteTokeniser } from './byte-tokeniser.ts'
import { characterTokeniser } from './character-tokeniser.ts'
import { wordTokeniser } from './word-tokeniser.ts'

const anyText = fc.string({ unit: 'binary', maxLength: 30 })

describe('what is encoded comes back', () => {
  it('by bytes, whatever the text', () => {
    const bytes = byteTokeniser({ specials: ['<end>', '<mask>'] })
    fc.assert(
      fc.property(anyText, text => {
        const tokens = bytes.encode(text)
        expect(tokens).toEqual(Int32Array.from(Buffer.from(text)))
        expect(bytes.decode(tokens)).toBe(text)
      }),
    )
    expect(bytes.decode(bytes.encode('\uFEFFé\uFEFF<end>'))).toBe('\uFEFFé\uFEFF<end>')
  })

  it('by characters of a text, whatever its order', () => {
    fc.assert(
      fc.property(anyText, fc.array(fc.nat()), (text, picks) => {
        const all = [...text]
        const tokeniser = characterTokeniser(text, { specials: ['<end>'] })
        const other = all.length === 0 ? '' : picks.map(pick => all[pick % all.length]).join('')
        expect(tokeniser.decode(tokeniser.encode(other))).toBe(other)
        expect(characterTokeniser(all.reverse().join('')).encode(other)).toEqual(tokeniser.encode(other))
        expect(tokeniser.vocabulary).toBe(new Set(all).size + 1)
      }),
    )
  })

  it('by words, whatever the separator', () => {
    const vocabulary = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(
        vocabulary,
        fc.string({ minLength: 1, maxLength: 1 }),
        fc.array(fc.nat()),
        (words, separator, picks) => {
          fc.pre(words.every(word => !word.includes(separator)))
          const tokeniser = wordTokeniser(words, { separator, specials: ['<end>'] })
          const tokens = Int32Array.from(picks, pick => pick % words.length)
          const text = Array.from(tokens, token => words[token]).join(separator)
          expect(tokeniser.encode(text)).toEqual(tokens)
          expect(tokeniser.decode(tokens)).toBe(text)
        },
      ),
    )
  })
})

describe.each([
  ['bytes', byteTokeniser({ specials: ['<end>', '<pad>'] }), 256, ''],
  ['characters', characterTokeniser('<end>pa ', { specials: ['<end>', '<pad>'] }), 8, ''],
  ['words', wordTokeniser(['a', 'p', 'end'], { specials: ['<end>', '<pad>'] }), 3, ' '],
])('special tokens of %s', (_, tokeniser, first, between) => {
  it('come behind those of texts and decode to their names', () => {
    expect([...tokeniser.specials]).toEqual([
      ['<end>', first],
      ['<pad>', first + 1],
    ])
    expect(tokeniser.vocabulary).toBe(first + 2)
    const tokens = [...tokeniser.encode('a'), first, ...tokeniser.encode('p')]
    expect(tokeniser.decode(tokens)).toBe(['a', '<end>', 'p'].join(between))
  })

  it('are the last ids there are', () => {
    expect(() => tokeniser.decode([0, first + 2])).toThrow(
      `token ${first + 2} at position 1 is not one of 0 to ${first + 1}`,
    )
    for (const wrong of [-1, 0.5, Number.NaN])
      expect(() => tokeniser.decode([wrong])).toThrow(`token ${wrong} at position 0 is not one of 0 to`)
  })
})

describe('a text cannot spell a special token', () => {
  it('where its characters are in the vocabulary, they are these characters', () => {
    for (const tokeniser of [
      byteTokeniser({ specials: ['<end>'] }),
      characterTokeniser('<end>', { specials: ['<end>'] }),
    ])
      expect(tokeniser.encode('<end>')).toHaveLength(5)
  })

  it('and a word that it is called is another word', () => {
    const words = wordTokeniser(['a', '<end>'], { specials: ['<end>'] })
    expect([...words.encode('<end>')]).toEqual([1])
    expect(() => wordTokeniser(['a'], { specials: ['<end>'] }).encode('a <end>')).toThrow('"<end>" at position 1')
  })
})

describe('what has no token', () => {
  it('is refused with its place', () => {
    expect(() => characterTokeniser('abc').encode('ab😀c')).toThrow(
      'encode: the character "😀" at position 2 is not in the vocabulary',
    )
    expect(() => wordTokeniser(['go', 'north']).encode('go  north')).toThrow(
      'encode: the word "" at position 1 is not in the vocabulary',
    )
    expect(() => byteTokeniser().encode('a\ud800')).toThrow('half of a surrogate pair')
  })

  it('or becomes the unknown token, where there is one', () => {
    const options = { specials: ['<end>', '<unknown>'], unknown: '<unknown>' }
    expect([...characterTokeniser('ab', options).encode('ax')]).toEqual([0, 3])
    expect([...wordTokeniser(['go', 'north'], options).encode('go west')]).toEqual([0, 3])
    expect(() => characterTokeniser('ab', { unknown: '<other>' })).toThrow('the unknown token <other> is not among')
  })
})

it('bytes that are no UTF-8 make a text all the same', () => {
  expect(byteTokeniser().decode([0xc3, 0x28, 0xf0, 0x9f])).toBe('\ufffd(\ufffd')
})

it('vocabularies that cannot be are refused', () => {
  expect(() => wordTokeniser(['a', 'a'])).toThrow('the word "a" comes twice')
  expect(() => wordTokeniser(['a b'])).toThrow('the word "a b" is empty or contains the separator " "')
  expect(() => wordTokeniser([''])).toThrow('the word "" is empty')
  expect(() => wordTokeniser(['a'], { separator: '' })).toThrow('the separator is empty')
  expect(() => byteTokeniser({ specials: ['x', 'x'] })).toThrow('byteTokeniser: there are two special tokens called x')
  expect(() => byteTokeniser({ specials: [''] })).toThrow('byteTokeniser: a special token needs a name')
})
