import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { importHistory } from './import.ts'
import { inProcess } from './in-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'almanac-flags-'))
afterAll(() => rmSync(folder, { recursive: true }))

test.each([
  [{ metric: 'loss' }, '--metric is for the logs of others, and records.jsonl has records of Almanac'],
  [{ as: 'mine' }, '--as is for the logs of others'],
])('records of Almanac say everything themselves: %j is refused', async (flags, sentence) => {
  writeFileSync(join(folder, 'records.jsonl'), '{"format":"almanac-records"}\n')
  const input = importHistory.input.parse({ path: 'records.jsonl', ...flags })
  await expect(importHistory.run(input, inProcess(folder))).rejects.toThrow(sentence)
})
