/**
 * Reads every results table of a folder of real logs, named by ALMANAC_LOGS, and prints what was used and what was not.
 * Real logs belong to others and are not part of the project; without the variable the test is skipped.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readResultsTsv } from './results-tsv.ts'
import { readTable } from './table.ts'

const folder = process.env['ALMANAC_LOGS']
const files = folder ? readdirSync(folder).filter(name => name.toLowerCase().endsWith('.tsv')) : []

describe.skipIf(!folder)('real logs (the folder in ALMANAC_LOGS)', () => {
  test.each(files)('%s', name => {
    const text = readFileSync(join(folder!, name), 'utf8')
    const history = readResultsTsv(text, name)
    const counts = new Map<string, number>()
    for (const { role, outcome } of history.rows) {
      const what = role === 'tried' ? outcome.kind : role
      counts.set(what, (counts.get(what) ?? 0) + 1)
    }
    for (const { reason } of history.unusable) {
      const what = `unusable: ${reason}`
      counts.set(what, (counts.get(what) ?? 0) + 1)
    }
    const { name: metric, direction } = history.metrics[0]
    console.log(
      `${name}: ${metric}, ${direction}; ${[...counts].map(([what, count]) => `${count} ${what}`).join(', ')}`,
    )
    expect(history.rows.length + history.unusable.length).toBe(readTable(text).length - 1)
    expect(history.rows.length).toBeGreaterThan(0)
    expect(new Set([...history.rows, ...history.unusable].map(({ key }) => key)).size).toBe(readTable(text).length - 1)
  })
})
