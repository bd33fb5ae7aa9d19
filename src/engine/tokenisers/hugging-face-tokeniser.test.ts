/**
 * Files of six kinds give the ids and texts that the reference implementation gives (fixtures/tokenizer_files.py), and files that are
 * not valid are refused.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readHuggingFaceTokeniser } from './hugging-face-tokeniser.ts'

interface Case {
  readonly name: string
  readonly vocabulary: number
  readonly file: { readonly model: object; readonly added_tokens: readonly { id: number; content: string }[] }
  readonly texts: readonly {
    readonly text: string
    readonly ids: readonly number[]
    readonly template: readonly number[]
    readonly decoded: string
  }[]
}
const cases = JSON.parse(readFileSync(new URL('fixtures/tokenizers.json', import.meta.url), 'utf8')) as readonly Case[]

const home = mkdtempSync(join(tmpdir(), 'almanac-tokenisers-'))
afterAll(() => rmSync(home, { recursive: true }))
let folders = 0
function written(file: unknown, configuration?: unknown): string {
  const folder = join(home, `${folders++}`)
  mkdirSync(folder)
  const path = join(folder, 'tokenizer.json')
  writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file))
  if (configuration) writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify(configuration))
  return path
}

describe.each(cases)('$name', ({ file, vocabulary, texts }) => {
  const tokeniser = readHuggingFaceTokeniser(written(file))

  it('has the size and the special tokens of the file', () => {
    expect(tokeniser.vocabulary).toBe(vocabulary)
    expect([...tokeniser.specials]).toEqual(file.added_tokens.map(({ id, content }) => [content, id]))
  })

  it.each(texts)('takes $text apart and puts it together', ({ text, ids, template, decoded }) => {
    expect([...tokeniser.encode(text)]).toEqual(ids)
    expect([...tokeniser.encode(text, { template: true })]).toEqual(template)
    expect(tokeniser.decode(ids)).toBe(decoded)
    expect(tokeniser.decode(Int32Array.from(ids))).toBe(decoded)
  })

  it('has no text for spare ids, and refuses what can be no id', () => {
    expect(tokeniser.decode([vocabulary + 3])).toBe('')
    expect(() => tokeniser.decode([0, -1])).toThrow('token -1 at position 1 is not a whole number from 0 on')
  })
})

const [wordLevel, bytePairs, byteLevel] = cases.map(({ file }) => file) as [Case['file'], Case['file'], Case['file']]

it.each([
  ['words', wordLevel, 'the moon', 'the earth moon', '"earth"'],
  ['byte pairs', bytePairs, 'the moon', 'the new moon', '"new"'],
])('%s without a token for what is unknown refuse it instead of losing it', (_, file, fine, text, named) => {
  const tokeniser = readHuggingFaceTokeniser(written({ ...file, model: { ...file.model, unk_token: null } }))
  expect(tokeniser.decode(tokeniser.encode(fine))).toBe(fine)
  expect(() => tokeniser.encode(text)).toThrow(
    `encode: there is no token for a part of ${named}, and none for what is unknown`,
  )
})

it('spaces are tidied where the configuration beside the file says so, and only there', () => {
  const configuration = { clean_up_tokenization_spaces: true, unk_token: '<other>' }
  const tidy = readHuggingFaceTokeniser(written(byteLevel, configuration))
  const plain = readHuggingFaceTokeniser(written(byteLevel))
  const tokens = plain.encode('the moon .')
  expect(tidy.encode('the moon .')).toEqual(tokens)
  expect(tidy.decode(tokens)).toBe('the moon.')
  expect(plain.decode(tokens)).toBe('the moon .')
})

describe('a file that is not valid is refused: ', () => {
  const split = (behavior: string) => ({ type: 'Split', pattern: { String: 'a' }, behavior })
  const model = { type: 'WordLevel', vocab: { a: 0 }, unk_token: null }
  it.each<[string, unknown, RegExp]>([
    ['no JSON', '{', /JSON/],
    ['no model', {}, /model: /],
    ['an unknown model', { model: { ...model, type: 'Neural' } }, /model.type: /],
    ['a negative id', { model: { ...model, vocab: { a: -1 } } }, /model.vocab.a: /],
    ['an id that is no whole number', { model: { ...model, vocab: { a: 0.5 } } }, /model.vocab.a: /],
    ['an id beyond all', { model: { ...model, vocab: { a: 1e12 } } }, /model.vocab.a: /],
    ['no tokens', { model: { ...model, vocab: {} } }, /it has no tokens/],
    ['an added token without text', { model, added_tokens: [{ id: 1, content: '', special: true }] }, /added_tokens.0/],
    ['a part of a kind that is not known', { model, pre_tokenizer: { type: 'Oracle' } }, /Oracle/],
    [
      'a way of splitting that the package does not follow',
      { model, pre_tokenizer: { type: 'Sequence', pretokenizers: [split('MergedWithPrevious')] } },
      /pre-tokenizer Split with behavior MergedWithPrevious is not supported/,
    ],
    [
      'a pattern that is none',
      { model, pre_tokenizer: { type: 'Split', pattern: { Regex: '(' }, behavior: 'Isolated' } },
      /./,
    ],
  ])('%s', (_, file, problem) => {
    const path = written(file)
    expect(() => readHuggingFaceTokeniser(path)).toThrow(problem)
    expect(() => readHuggingFaceTokeniser(path)).toThrow(`${path} cannot be used as a tokeniser: `)
  })

  it('a file that is not there', () => {
    expect(() => readHuggingFaceTokeniser(join(home, 'none.json'))).toThrow('ENOENT')
  })
})
