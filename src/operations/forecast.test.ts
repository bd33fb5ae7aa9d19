/** `almanac forecast` on a history that was imported, without git or an environment file, and what it says beside its numbers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { z } from 'zod'
import { exportRecords } from './export.ts'
import { forecast } from './forecast.ts'
import { importHistory } from './import.ts'
import { inProcess } from './in-process.ts'
import { records } from './records.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-forecast-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const brought = (name: string, lines: readonly string[], input: Partial<z.input<typeof importHistory.input>> = {}) => {
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`)
  return importHistory.run(importHistory.input.parse({ path: name, ...input }), inProcess(folder))
}
const foreseen = (input: z.input<typeof forecast.input>) => forecast.run(forecast.input.parse(input), inProcess(folder))
const told = async (input: z.input<typeof forecast.input>) =>
  forecast.text(await foreseen(input), { width: 100, styling: (_, words) => words })

const log = [
  'commit\tval_bpb\tstatus\tdescription',
  'a0\t1.00\tkeep\tbaseline',
  'a1\t0.98\tkeep\tembedding LR 0.6 to 0.8',
  'a2\t0.99\tdiscard\tmatrix LR 0.04 to 0.05',
  'a3\t\tcrash\tembedding LR 0.8 to 3.0',
]
const sweep = ['lr,width,F1', '0.01,64,0.7', '0.01,64,0.72', '0.1,64,0.4', '0.01,128,0.8']
const asOptions = { column: ['lr=option', 'width=option', 'F1=metric'], direction: 'maximize' as const }

test('of an imported log: what was tried before stands beside it, the same first, and no likeness of other ideas', async () => {
  await brought('results.tsv', log)
  const text = await told({ sentences: ['Embedding LR 0.6 to 0.8', 'swap the optimiser'] })
  expect(text).toContain('Gains are in val_bpb (lower is better): above 0 is better than the reference.\n')
  expect(text).toContain(
    [
      'Embedding LR 0.6 to 0.8',
      '  tried before: record 2, +0.0200, inconclusive, kept, earlier reference',
      '  same idea: record 5 (embedding LR 0.8 to 3.0), crashed',
      '',
    ].join('\n'),
  )
  expect(text).not.toMatch(/^swap the optimiser\n {2}/m)
  expect(text).toContain(
    'from 3 records, in the environment results.tsv.\nNext: almanac evaluate --environment results.tsv',
  )
  const { foreseen: all } = await foreseen({ sentences: ['embedding LR 0.6 to 0.8'], history: 'none' })
  expect(all[0]!.closest.map(({ closeness }) => closeness)).toEqual(['same', 'same idea', 'alike'])
})

test('of an imported sweep: options of its latest reference, and nothing that needs its code', async () => {
  await brought('sweep.csv', sweep, asOptions)
  await brought('results.tsv', log)
  await expect(foreseen({ sentences: ['x'] })).rejects.toThrow(/^Say which environment is meant, with --environment/)
  const environment = 'sweep.csv'
  const { foreseen: found } = await foreseen({ environment, set: ['lr=0.1', 'width=128'] })
  expect(found[0]!.candidate.changes.map(({ option, to }) => [option, to])).toEqual([
    ['lr', 0.1],
    ['width', 128],
  ])
  expect(await told({ environment, set: ['lr=0.1'] })).toContain('tried before: record')
  await expect(foreseen({ environment, set: ['lr=0.01'] })).rejects.toThrow('It changes nothing')
  await expect(foreseen({ environment, patch: 'a.patch' })).rejects.toThrow(
    'a.patch: the code of sweep.csv is not here',
  )
  await expect(foreseen({ environment })).rejects.toThrow('Say what is to be forecast in sweep.csv: in words')
  await expect(foreseen({ environment: 'results.tsv', set: ['lr=1'] })).rejects.toThrow('without a configuration')
})

test('an imported environment is exported by its name, and comes back as it was', async () => {
  await brought('sweep.csv', sweep, asOptions)
  await exportRecords.run({ path: 'sweep.jsonl', environment: 'sweep.csv' }, inProcess(folder))
  const other = { ledger: join(folder, 'other.db') }
  await importHistory.run(importHistory.input.parse({ path: 'sweep.jsonl' }), inProcess(folder, other))
  const listed = async (changes: object) =>
    (await records.run(records.input.parse({ all: true }), inProcess(folder, changes))).records.map(
      ({ changes, measured }) => [changes, measured?.gain],
    )
  expect(await listed(other)).toEqual(await listed({}))
})
