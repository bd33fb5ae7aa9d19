import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { linesOf } from './file-lines.ts'

const folder = mkdtempSync(join(tmpdir(), 'almanac-lines-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('lines come whole over the borders of pieces, and one that never ends is cut', () => {
  const path = join(folder, 'lines')
  const lines = ['', 'short', 'ä'.repeat(40_000), 'x'.repeat(200_000), '', 'last']
  writeFileSync(path, lines.join('\r\n'))
  expect([...linesOf(path)]).toEqual(lines)
  writeFileSync(path, `first\n${'y'.repeat(3_000_000)}\nlast\n`)
  expect([...linesOf(path)].map(line => line.length)).toEqual([5, 2 ** 20, 4])
})
