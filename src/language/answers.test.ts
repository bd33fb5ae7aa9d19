import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { keyOf, openAnswers } from './answers.ts'

function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-answers-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'answers.db')
}

test('two that have the file open see what the other kept; the first answer to a question stays', () => {
  const path = temporaryFile()
  using one = openAnswers(path)
  using other = openAnswers(path)
  expect(other.get('a')).toBeNull()
  one.put('a', { model: 'm', text: 'first “answer”' })
  other.put('a', { model: 'm', text: 'second' })
  expect(other.get('a')).toBe('first “answer”')
  expect(one.get('b')).toBeNull()
})

test('what is no such file is refused with a sentence and left as it is', () => {
  const path = temporaryFile()
  writeFileSync(path, 'these are notes and no database at all\n'.repeat(100))
  expect(() => openAnswers(path)).toThrow(
    `The kept answers ${path} cannot be used (file is not a database): correct that`,
  )
})

test('another question never has the same key, however its parts are split', () => {
  expect(keyOf(['ab', 'c'])).not.toBe(keyOf(['a', 'bc']))
  expect(keyOf(['a', null])).not.toBe(keyOf(['a', 'null']))
  fc.assert(
    fc.property(fc.array(fc.string()), fc.array(fc.string()), (first, second) => {
      expect(keyOf(first) === keyOf(second)).toBe(JSON.stringify(first) === JSON.stringify(second))
    }),
  )
})
