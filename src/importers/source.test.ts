import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readSource } from './read-source.ts'
import { sourceOf } from './source.ts'

const folder = mkdtempSync(join(tmpdir(), 'almanac-source-'))
afterAll(() => rmSync(folder, { recursive: true }))

test.each<[string, (text: string) => Buffer]>([
  ['UTF-8', text => Buffer.from(text)],
  ['UTF-8 with a mark', text => Buffer.from(`\ufeff${text}`)],
  ['UTF-16, as a shell of Windows redirects', text => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['UTF-16, the other way round', text => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
])('a table in %s is read', async (_, encoded) => {
  writeFileSync(join(folder, 'log.txt'), encoded('commit\tval_loss\tstatus\tdescription\r\na1\t1\tkeep\tgrößer\r\n'))
  const { importer, histories } = await readSource(sourceOf('log.txt', folder), {})
  expect(importer.name).toBe('tsv')
  expect(histories[0]!.metrics[0].name).toBe('val_loss')
  expect(histories[0]!.rows.map(({ intervention }) => intervention.sentence)).toEqual(['größer'])
})
