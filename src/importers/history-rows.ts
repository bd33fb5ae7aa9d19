/** The rows of one imported history on their way into a ledger: what each is tried on, which are known, and which are gone. */
import { mergePatch } from '../experiment/configuration.ts'
import type { Reference, Version } from '../experiment/environment.ts'
import { interventionHash, referenceHash } from '../experiment/identity.ts'
import { contentHash, type Json } from '../experiment/json.ts'
import type { KnownRow } from '../ledger/imports.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { meaningOf } from './earlier-readings.ts'
import type { ImportedRow, UnusableRow } from './history.ts'
import { mendedRows } from './mended-rows.ts'
import { keyOf, keysOf, type RowAs } from './row-keys.ts'
import { type RowToWrite, RowWriter } from './row-writer.ts'

/** Rows that are looked up and written together. */
export const rowsAtOnce = 1000

interface ReadingOfStore {
  readonly hasLongKeys: boolean
  readonly readingId: number | null
  /** Whether the reading has brought rows before. */
  readonly goesOn: boolean
}

export class HistoryRows {
  readonly #ledger: Ledger
  readonly #familyId: string
  readonly #source: string
  readonly #hasLongKeys: boolean
  readonly #readingId: number | null
  readonly #goesOn: boolean
  readonly #writer: RowWriter
  /** By the key of the row that became one. */
  readonly #versions = new Map<string, Version>()
  readonly #references = new Map<string, { readonly id: number; readonly hash: string }>()
  /** By version and intervention: what a kept row of this import became. */
  readonly #keptAs = new Map<string, Version>()
  /** Keys of rows that were new to a reading that goes on. */
  readonly #new = new Set<string>()
  /** How many keys of the reading came up. */
  #ofReading = 0
  #unknownStart: Version | null = null
  lastVersionId: string | null = null
  otherwise = 0

  constructor(ledger: Ledger, familyId: string, source: string, { hasLongKeys, readingId, goesOn }: ReadingOfStore) {
    this.#ledger = ledger
    this.#familyId = familyId
    this.#source = source
    this.#hasLongKeys = hasLongKeys
    this.#readingId = readingId
    this.#goesOn = goesOn
    this.#writer = new RowWriter(ledger, readingId)
  }

  /** Which of the rows were new. */
  async add(rows: readonly ImportedRow[]): Promise<boolean[]> {
    const keys = rows.map(row => this.#keyOf(row.key, 'row'))
    const kept = rows.flatMap(row => (row.role === 'tried' ? [] : [this.#keyOf(row.key, 'reference')]))
    const known = await this.#ledger.importedRowsOf([...keys, ...kept])
    for (const { readingId } of known.values()) if (readingId === this.#readingId) this.#ofReading++
    const isNew: boolean[] = []
    for (const [index, row] of rows.entries()) {
      const became = known.get(keys[index]!)
      isNew.push(became === undefined)
      if (became !== undefined && this.#isOtherwise(row, became)) this.otherwise++
      if (became === undefined) {
        if (this.#goesOn) this.#new.add(row.key)
        await this.#store(row, keys[index]!)
      } else if (row.role !== 'tried') await this.#recall(row, known.get(this.#keyOf(row.key, 'reference')) ?? became)
      this.lastVersionId = this.#versions.get(row.key)?.id ?? this.lastVersionId
    }
    await this.#writer.flush()
    return isNew
  }

  async leaveOut(rows: readonly UnusableRow[], readingId: number | null): Promise<void> {
    for (let start = 0; start < rows.length; start += rowsAtOnce) {
      await this.#ledger.recordImports(
        rows
          .slice(start, start + rowsAtOnce)
          .map(({ key, place, reason, text }) => [this.#keyOf(key, 'unusable'), { reason, place, text }]),
        readingId,
      )
    }
  }

  /** Where rows of the reading stood that are none of these, which were all added. */
  async vanished(
    readingId: number,
    rows: readonly ImportedRow[],
    objective: string,
  ): Promise<{ readonly vanished: readonly string[]; readonly mended: readonly string[] }> {
    // Nearly always none, and of a long log that is told without a list of all.
    if ((await this.#ledger.countRunsOfReading(readingId)) === this.#ofReading) {
      return { vanished: [], mended: [] }
    }
    const there = keysOf(this.#familyId, rows, this.#hasLongKeys)
    const gone = (await this.#ledger.rowsOfReading(readingId)).filter(({ key }) => !there.has(key))
    const news = rows.filter(({ key }) => this.#new.has(key))
    const vanished = [...new Set(gone.map(({ place }) => place ?? 'a row'))]
    return { vanished, mended: await mendedRows(gone, news, objective, this.#ledger) }
  }

  #keyOf(key: string, as: RowAs): string {
    return keyOf(this.#familyId, key, as, this.#hasLongKeys)
  }

  async #write(row: RowToWrite): Promise<void> {
    this.#ofReading++
    await this.#writer.write(row)
  }

  #isOtherwise(row: ImportedRow, became: KnownRow): boolean {
    if ('reason' in became) return true
    const base = row.against === null ? undefined : this.#versions.get(row.against)
    const isElsewhere = base !== undefined && base.id !== became.versionId
    return isElsewhere || ((became.meaning ?? null) !== null && became.meaning !== meaningOf(row))
  }

  async #recall(row: ImportedRow, became: KnownRow): Promise<void> {
    if (!('reason' in became)) this.#versions.set(row.key, (await this.#ledger.version(became.versionId))!)
  }

  async #store(row: ImportedRow, sourceKey: string): Promise<void> {
    const base = await this.#versionBefore(row)
    if (row.role === 'reference') {
      const version =
        base ?? (await this.#ledger.ensureVersion(this.#familyId, referenceOf(row, row.intervention.overrides, null)))
      const { id } = await this.#referenceOf(version)
      await this.#write(toWrite(row, sourceKey, version.id, { id }))
      this.#versions.set(row.key, version)
      return
    }
    const { reference, id: versionId } = base!
    const { overrides, diff, sentence, origin } = row.intervention
    const configuration = overrides === null ? reference.configuration : mergePatch(reference.configuration, overrides)
    const tree = row.code?.treeAfterDiff ?? (diff === null ? reference.tree : contentHash([reference.tree, diff]))
    const hash =
      overrides === null && diff === null
        ? interventionHash({ sentence, origin })
        : interventionHash({ configuration, tree })
    const unchanged = await this.#referenceOf(base!)
    const intervention = hash === unchanged.hash ? { id: unchanged.id } : { hash, intervention: row.intervention }
    const written = toWrite(row, sourceKey, versionId, intervention)
    const asReference = () => this.#keyOf(row.key, 'reference')
    const same = `${versionId} ${hash}`
    if (row.role === 'tried') {
      await this.#write(written)
      const kept = this.#keptAs.get(same)
      if (kept === undefined) return
      // Another seed of what was kept: it measures the new reference too.
      const { id } = await this.#referenceOf(kept)
      await this.#write(toWrite(row, asReference(), kept.id, { id }))
      return
    }
    this.#ofReading++
    const interventionId = await this.#writer.writeNow(written)
    // Outside git, code is known by what was changed in it from the beginning on; a change of which there are only words, by its row.
    const isCode = row.code === null && (diff !== null || (overrides === null && configuration !== null))
    const code = isCode ? contentHash([reference.code, reference.label ?? null, diff ?? row.key]) : reference.code
    const version = await this.#ledger.ensureVersion(
      this.#familyId,
      referenceOf(row, configuration, row.code === null ? code : null),
      { versionId, interventionId },
    )
    const { id } = await this.#referenceOf(version)
    await this.#write(toWrite(row, asReference(), version.id, { id }))
    this.#versions.set(row.key, version)
    this.#keptAs.set(same, version)
  }

  /** The version a row was tried on; for a reference that is measured again, its own; null for one that is not. */
  async #versionBefore(row: ImportedRow): Promise<Version | null> {
    const before = row.against === null ? undefined : this.#versions.get(row.against)
    if (before) return before
    if (row.role === 'reference') return null
    const label = `what ${this.#source} began with`
    const nothing = { configuration: null, commit: null, tree: null, code: null, label }
    this.#unknownStart ??= await this.#ledger.ensureVersion(this.#familyId, nothing)
    return this.#unknownStart
  }

  async #referenceOf({ id, reference }: Version): Promise<{ readonly id: number; readonly hash: string }> {
    const found = this.#references.get(id)
    if (found) return found
    const stored = { id: await this.#ledger.ensureReference(id), hash: referenceHash(reference) }
    this.#references.set(id, stored)
    return stored
  }
}

function toWrite(
  row: ImportedRow,
  sourceKey: string,
  versionId: string,
  intervention: RowToWrite['intervention'],
): RowToWrite {
  const { place, note, seed, outcome } = row
  return { sourceKey, place, note, meaning: meaningOf(row), seed, outcome, versionId, intervention }
}

/** The label counts only where neither code nor configuration is known; the key in it keeps rows of one commit apart. */
function referenceOf(row: ImportedRow, configuration: Json, code: string | null): Reference {
  return {
    configuration,
    commit: row.code?.commit ?? null,
    tree: row.code?.tree ?? null,
    code,
    label: `${row.commit ?? row.intervention.sentence.slice(0, 60)} (${row.key.slice(0, 8)})`,
  }
}
