/** For tests: a folder of its own for each, into whose ledger sources are imported, and what is in the ledger then. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import type { z } from 'zod'
import { openLedger } from '../ledger/ledger.ts'
import { environments } from './environments.ts'
import { importHistory } from './import.ts'
import { inProcess } from './in-process.ts'
import { records } from './records.ts'

export type ImportInput = z.input<typeof importHistory.input>

export function importFolder() {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'almanac-import-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))
  const importing = (input: ImportInput) => importHistory.run(importHistory.input.parse(input), inProcess(folder))
  const listed = async (environment?: string) =>
    (await records.run(records.input.parse({ environment, sort: 'oldest' }), inProcess(folder))).records
  return {
    path: () => folder,
    write: (name: string, lines: readonly string[]) => writeFileSync(join(folder, name), `${lines.join('\n')}\n`),
    importing,
    refusal: (input: ImportInput) =>
      importing(input).then(
        () => 'imported',
        ({ message }) => message as string,
      ),
    listed,
    sentences: async (environment?: string) => (await listed(environment)).map(({ sentence }) => sentence),
    known: async () => (await environments.run({}, inProcess(folder))).environments,
    ledger: () => openLedger(join(folder, '.almanac', 'ledger.db')),
  }
}

export function textOf(imported: Awaited<ReturnType<typeof importHistory.run>>): string {
  return importHistory.text(imported, { width: 100, styling: (_, words) => words })
}

export const sweep = [
  'name,lr,steps,F1',
  'exp-1,0.1,500,70',
  'exp-2,0.2,500,71',
  'exp-3,0.1,900,72',
  'exp-4,0.2,900,74',
  'exp-5,0.2,900,75',
]
/** Ways to read it. */
export const wrong = { path: 'sweep.csv', column: ['lr=option', 'steps=ignore'] }
export const right = { path: 'sweep.csv', column: ['lr=option', 'steps=option'] }
