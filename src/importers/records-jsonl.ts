/**
 * Reads a file of records into values. Every field is checked, and every hash that can be computed again. It stores nothing:
 * `store-records.ts` does; `write-records.ts` is the other way.
 */

import { mergePatch } from '../experiment/configuration.ts'
import { type Family, familyId, type Reference, versionId } from '../experiment/environment.ts'
import { interventionHash, referenceHash } from '../experiment/identity.ts'
import { problemsIn } from './record-problems.ts'
import { type RecordLine, type RecordsHeader, recordLine, recordsHeader } from './records-format.ts'

export interface RecordsFile {
  readonly family: Family
  readonly familyId: string
  readonly versions: RecordsHeader['versions']
  /** In the order in which they were written down. */
  readonly lines: readonly RecordLine[]
}

/** Throws a sentence that names the line and the field. */
export function readRecords(text: string, source: string): RecordsFile {
  const written = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const header = parsed(written[0] ?? '', `${source}, line 1`)
  const format = (header as { format?: unknown; version?: unknown } | null) ?? {}
  if (format.format !== 'almanac-records') {
    throw new Error(
      `${source}, line 1: "format" is ${JSON.stringify(format.format ?? null)}; expected "almanac-records"`,
    )
  }
  if (format.version !== 1) {
    throw new Error(
      `${source}, line 1: "version" is ${JSON.stringify(format.version ?? null)}; this program reads version 1`,
    )
  }
  const head = recordsHeader.safeParse(header)
  if (!head.success) throw new Error(problemsIn(header, head.error.issues, `${source}, line 1`))
  const { family } = head.data
  const id = familyId(family)
  const references = new Map<string, Reference>()
  head.data.versions.forEach((version, index) => {
    const expected = versionId(id, version.reference)
    if (version.id !== expected) {
      throw new Error(
        `${source}, line 1: versions[${index}].id is ${version.id}, but its family and reference give ${expected}`,
      )
    }
    references.set(version.id, version.reference)
  })
  const lines: RecordLine[] = []
  const seen = new Set<string>()
  written.forEach((content, index) => {
    if (index === 0 || content.trim() === '') return
    const where = `${source}, line ${index + 1}`
    const value = parsed(content, where)
    const line = recordLine.safeParse(value)
    if (!line.success) throw new Error(problemsIn(value, line.error.issues, where))
    const reference = references.get(line.data.version)
    if (!reference) throw new Error(`${where}: version ${line.data.version} is not among the versions of line 1`)
    const key = `${line.data.version} ${line.data.hash}`
    if (seen.has(key))
      throw new Error(`${where}: this version has an intervention with the hash ${line.data.hash} already`)
    seen.add(key)
    checkHash(line.data, reference, where)
    checkRuns(line.data, where)
    lines.push(line.data)
  })
  return { family, familyId: id, versions: head.data.versions, lines }
}

function parsed(content: string, where: string): unknown {
  try {
    return JSON.parse(content)
  } catch (error) {
    throw new Error(`${where} is not JSON: ${(error as Error).message}`, { cause: error })
  }
}

/** A diff's tree needs its repository, and words may have been an import's; the rest is computed again. */
function checkHash(line: RecordLine, reference: Reference, where: string): void {
  const { overrides, diff, kind, hash } = line
  if (diff !== null || (kind === 'candidate' && overrides === null)) return
  const configuration = overrides === null ? reference.configuration : mergePatch(reference.configuration, overrides)
  const expected =
    kind === 'reference' ? referenceHash(reference) : interventionHash({ configuration, tree: reference.tree })
  if (hash !== expected)
    throw new Error(`${where}: "hash" is ${hash}, but its overrides on the reference give ${expected}`)
}

function checkRuns(line: RecordLine, where: string): void {
  const keys = line.runs.map(run => `seed ${run.seed}, attempt ${run.attempt}`)
  const twice = keys.find((key, index) => keys.indexOf(key) !== index)
  if (twice) throw new Error(`${where}: "runs" has ${twice} twice; a run is written down once`)
}
