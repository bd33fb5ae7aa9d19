/**
 * Reads every log of a folder of real ones, named by ALMANAC_LOGS, by the format that recognises it, and prints what was used and what
 * was not. Real logs belong to others and are not part of the project; without the variable the test is skipped.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openLedger } from '../ledger/ledger.ts'
import { examine } from './examine.ts'
import type { ImportedHistory } from './history.ts'
import { importedFamily, importedName } from './imported-family.ts'
import { readSource } from './read-source.ts'
import { sourceOf } from './source.ts'
import { storeHistory } from './store-history.ts'

const folder = process.env['ALMANAC_LOGS']
const files = folder ? readdirSync(folder).filter(name => !/^readme/i.test(name)) : []

describe.skipIf(!folder)('real logs (the folder in ALMANAC_LOGS)', () => {
  test.each(files)('%s', { timeout: 60_000 }, async name => {
    const scratch = mkdtempSync(join(tmpdir(), 'almanac-real-'))
    await using ledger = await openLedger(join(scratch, 'ledger.db'))
    const { importer, histories } = await readSource(sourceOf(name, folder!), {})
    const printed: string[] = []
    for (const history of histories) {
      const [{ direction }] = history.metrics
      const family = await importedFamily(ledger, history, direction ?? 'minimize', history.constraints)
      const { added, known } = await storeHistory(ledger, family, history)
      const again = await storeHistory(ledger, family, history)
      printed.push(summary(history))
      expect(history.rows.length).toBeGreaterThan(0)
      expect(known).toBe(0)
      expect(added.references + added.kept + added.tried).toBe(history.rows.length)
      expect(again.known).toBe(history.rows.length)
      const keys = [...history.rows, ...history.unusable].map(({ key }) => key)
      expect(new Set(keys).size).toBe(keys.length)
      for (const { intervention } of history.rows) expect(intervention.sentence).not.toBe('')
    }
    console.log(`${name}, read as ${importer.name}\n${printed.join('\n')}`)
    rmSync(scratch, { recursive: true })
  })
})

function summary(history: ImportedHistory): string {
  const counts = new Map<string, number>()
  for (const { role, outcome } of history.rows) {
    const what = role === 'tried' ? outcome.kind : role
    counts.set(what, (counts.get(what) ?? 0) + 1)
  }
  const { leaking, unusable, atRisk } = examine(history)
  const { name, direction } = history.metrics[0]
  return [
    `  ${importedName(history)}: ${name}, ${direction}; ${[...counts].map(([what, count]) => `${count} ${what}`).join(', ')}; ` +
      `${leaking.rows} say how it went; ${atRisk.length} at risk`,
    ...unusable.map(({ reason, rows }) => `    ${rows} not usable: ${reason}`),
  ].join('\n')
}
