/** What stands in the ledger after `almanac import`, run by run with its whole configuration, to be held beside what a peer says. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { almanacJson } from '../src/command-line.ts'
import { mergePatch } from '../src/experiment/configuration.ts'
import type { Direction, Family } from '../src/experiment/environment.ts'
import type { OutcomeKind } from '../src/experiment/intervention.ts'
import { canonicalJson, type Json } from '../src/experiment/json.ts'
import { writeRecords } from '../src/importers/write-records.ts'
import { openLedger } from '../src/ledger/ledger.ts'
import type { Imported } from '../src/operations/imported.ts'

export interface StoredRun {
  readonly configuration: Json
  readonly kind: OutcomeKind
  readonly metrics: Readonly<Record<string, number>>
}

export interface StoredEnvironment {
  readonly objective: string
  readonly direction: Direction
  /** In the order of their canonical text. */
  readonly runs: readonly StoredRun[]
}

/** Everything by the environment's name in the ledger, and what the import said. A second import must add nothing. */
export async function importedRuns(
  source: string,
  ...flags: string[]
): Promise<{ readonly environments: Readonly<Record<string, StoredEnvironment>>; readonly imported: Imported }> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-peer-'))
  try {
    const imported = await almanacJson<Imported>(folder, 'import', source, ...flags)
    const again = await almanacJson<Imported>(folder, 'import', source, ...flags)
    expect(again).toMatchObject({ added: 0, known: imported.added })
    await using ledger = await openLedger(join(folder, '.almanac', 'ledger.db'))
    const environments: Record<string, StoredEnvironment> = {}
    for (const { id, family } of await ledger.families()) {
      const [{ name, direction }] = family.metrics
      const runs = inOrder(storedRuns(await writeRecords(ledger, id)))
      environments[family.name] = { objective: name, direction, runs }
    }
    return { environments, imported }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs are compared as a set: a ledger has no order that a tracker would know. */
export function inOrder(runs: readonly StoredRun[]): StoredRun[] {
  const textOf = ({ configuration, kind, metrics }: StoredRun) => canonicalJson([configuration, kind, { ...metrics }])
  return runs.toSorted((first, second) => (textOf(first) < textOf(second) ? -1 : 1))
}

interface Header {
  readonly family: Family
  readonly versions: readonly { readonly id: string; readonly reference: { readonly configuration: Json } }[]
}

interface Line {
  readonly version: string
  readonly kind: string
  readonly overrides: Json
  readonly runs: readonly {
    readonly outcome: { readonly kind: OutcomeKind; readonly metrics: Record<string, number> }
  }[]
}

function storedRuns(text: string): StoredRun[] {
  const [header, ...lines] = text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line)) as [Header, ...Line[]]
  const references = new Map(header.versions.map(({ id, reference }) => [id, reference.configuration]))
  return lines.flatMap(({ version, kind, overrides, runs }) => {
    const reference = references.get(version)!
    const configuration = kind === 'reference' ? reference : mergePatch(reference, overrides)
    return runs.map(({ outcome: { kind, metrics } }) => ({ configuration, kind, metrics }))
  })
}
