import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { quickStart } from '../command-line.ts'
import { seededRandom } from '../statistics/random.ts'
import { family as tinyFamily } from './fixtures/tiny.ts'
import { type Ledger, openLedger } from './ledger.ts'

const writer = fileURLToPath(new URL('fixtures/writer.ts', import.meta.url))

test('kill -9 of a writer at random moments: what it announced is there, and no row is half a row', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-kill-'))
  try {
    const path = join(folder, '.almanac', 'ledger.db')
    const version = await newVersion(path)
    const random = seededRandom('kill')
    for (let round = 0; round < 10; round++) {
      const announced = await writeAndKill(
        path,
        version,
        `round-${round}`,
        1 + random.integer(40),
        random.uniform() * 8,
      )
      const file = new DatabaseSync(path)
      expect(file.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
      expect(file.prepare('pragma foreign_key_check').all()).toEqual([])
      file.close()
      await using ledger = await openLedger(path)
      await expectKept(ledger, announced, `round-${round}`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

interface Line {
  claimed?: number
  ended?: number
  imported?: number
}

/** Lets the writer announce `lines` lines, waits some milliseconds more, and kills it. */
async function writeAndKill(path: string, version: string, label: string, lines: number, milliseconds: number) {
  const child = spawn(process.execPath, [writer, path, version, label], {
    env: quickStart,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8')
  child.stdout.on('data', (chunk: string) => {
    const before = text.split('\n').length
    text += chunk
    const now = text.split('\n').length
    if (before <= lines && now > lines) setTimeout(() => child.kill('SIGKILL'), milliseconds)
  })
  const [, signal] = await once(child, 'close')
  expect(signal).toBe('SIGKILL')
  // The last line may have been cut short by the kill.
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Line)
}

async function expectKept(ledger: Ledger, announced: readonly Line[], label: string): Promise<void> {
  for (const { claimed, ended } of announced) {
    if (claimed !== undefined) expect(await ledger.run(claimed)).not.toBeNull()
    if (ended !== undefined) expect((await ledger.run(ended))!.outcome).toMatchObject({ kind: 'finished' })
  }
  // The kill may have come behind one more import, which was not announced any more.
  const written = 2 + announced.filter(line => line.imported !== undefined).length
  const keys = Array.from({ length: written }, (_, i) => [`${label}/${i}/first`, `${label}/${i}/second`]).flat()
  const imported = await ledger.importedRowsOf(keys)
  for (const line of announced)
    if (line.imported !== undefined) expect(imported.has(`${label}/${line.imported}/first`)).toBe(true)
  // One transaction each: both halves, with their runs and outcomes, or nothing.
  for (const [key, row] of imported) {
    expect(
      imported.has(key.endsWith('first') ? key.replace(/first$/, 'second') : key.replace(/second$/, 'first')),
    ).toBe(true)
    expect('runId' in row && (await ledger.run(row.runId!))!.outcome!.kind).toBe('finished')
  }
  // A run is left open only where the writer was between its claim and its outcome: at most one a kill.
  const open = await ledger.openRuns()
  const ofThis = await Promise.all(open.map(async run => (await ledger.intervention(run.interventionId))!.hash))
  expect(ofThis.filter(hash => hash.startsWith(`${label}-`)).length).toBeLessThanOrEqual(1)
}

async function newVersion(path: string): Promise<string> {
  await using ledger = await openLedger(path)
  const family = await ledger.ensureFamily(tinyFamily)
  return (await ledger.ensureVersion(family, { configuration: 1, commit: null, tree: null, code: null })).id
}
