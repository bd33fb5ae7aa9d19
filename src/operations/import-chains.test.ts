/** Whatever was imported, replaced and withdrawn before: the right import in the end leaves what it would have left alone. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import { openLedger } from '../ledger/ledger.ts'
import { importHistory } from './import.ts'
import { inProcess } from './in-process.ts'
import { InputError } from './operation.ts'
import { withdraw } from './withdraw.ts'

type Row = readonly [learningRate: string, steps: string, value: number]
const sources = ['a.csv', 'b.csv'] as const
const columns = (roles: readonly string[]) => ['lr', 'steps', 'F1'].map((name, index) => `${name}=${roles[index]}`)
const right = ['option', 'option', 'metric']
const mapping = fc.constantFrom(
  right,
  ['option', 'ignore', 'metric'],
  ['option', 'measurement', 'metric'],
  ['ignore', 'option', 'metric'],
)
const row = fc.tuple(
  fc.constantFrom('0.1', '0.2', '0.3'),
  fc.constantFrom('500', '900'),
  fc.integer({ min: 1, max: 999 }),
)
const table = fc.array(row, { minLength: 2, maxLength: 8 })
const step = fc.oneof(
  fc.record({
    what: fc.constant('import' as const),
    source: fc.constantFrom(0, 1),
    rows: table,
    mapping,
    replace: fc.boolean(),
  }),
  fc.record({ what: fc.constant('again' as const), source: fc.constantFrom(0, 1), rows: table }),
  fc.record({ what: fc.constant('withdraw' as const), source: fc.constantFrom(0, 1) }),
)

function write(folder: string, source: number, rows: readonly Row[]): void {
  // The values of two sources are never the same, so that neither is taken for a part of the other.
  const lines = rows.map(([rate, steps, value], index) => `${rate},${steps},${value * 10 + source}.${index}`)
  writeFileSync(join(folder, sources[source]!), `${['lr,steps,F1', ...lines].join('\n')}\n`)
}

function importing(folder: string, source: number, input: z.input<typeof importHistory.input>) {
  const asked = { path: sources[source]!, as: 'both', direction: 'maximize' as const, ...input }
  return importHistory.run(importHistory.input.parse(asked), inProcess(folder))
}

async function left(folder: string) {
  await using ledger = await openLedger(join(folder, '.almanac', 'ledger.db'))
  const families = await ledger.families()
  const ids = families.map(({ id }) => id)
  const { records, references } = await ledger.recordsAndReferencesOf({ familyIds: ids })
  return {
    names: families.map(({ family }) => family.name),
    records: records.map(({ intervention, measured, verdict, runs }) => ({
      intervention,
      measured,
      verdict,
      runs: runs.map(({ seed, outcome }) => [seed, outcome!.metrics]),
    })),
    // In no order: one that was there before keeps its number.
    references: references.map(({ runs }) => JSON.stringify(runs.map(({ outcome }) => outcome!.metrics))).sort(),
    current: await Promise.all(ids.map(async id => (await ledger.currentVersion(id))?.version.reference)),
  }
}

test('chains of imports, replacements and withdrawals of two sources in one environment', async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 6 }), table, table, async (steps, ...tables) => {
    const [folder, fresh] = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'almanac-import-chains-')))
    try {
      for (const each of steps) {
        if ('rows' in each) write(folder!, each.source, each.rows)
        const done =
          each.what === 'import'
            ? importing(folder!, each.source, { column: columns(each.mapping), replace: each.replace })
            : each.what === 'again'
              ? importing(folder!, each.source, {})
              : withdraw.run({ path: sources[each.source]! }, inProcess(folder!))
        // A refusal is an answer; it must not have changed anything, which the end shows.
        await done.catch(error => expect(error).toBeInstanceOf(InputError))
      }
      // What one source brought keeps its number and words while the other is read anew: both are left out first.
      for (const path of sources) await withdraw.run({ path }, inProcess(folder!)).catch(() => {})
      for (const at of [folder!, fresh!]) {
        for (const [source, rows] of tables.entries()) {
          write(at, source, rows)
          await importing(at, source, { column: columns(right), replace: true })
        }
      }
      expect(await left(folder!)).toEqual(await left(fresh!))
    } finally {
      for (const each of [folder!, fresh!]) rmSync(each, { recursive: true })
    }
  })
  await fc.assert(property, { numRuns: 25 })
})
