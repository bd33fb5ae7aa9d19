/**
 * Configurations as the kernel sees them: for every subject (a record or a candidate) the value of each option in its
 * reference and after its change. Options of configurations and literals of diffs (`file:NAME`) are matched by name,
 * whatever the file and the spelling (`matrix_lr`, `MATRIX_LR`).
 */
import { diffConfigurations } from '../experiment/configuration.ts'
import type { Environment } from '../experiment/environment.ts'
import type { ChangedOption } from '../experiment/intervention.ts'
import { canonicalJson, isJsonObject, type Json } from '../experiment/json.ts'
import { optionName } from '../experiment/option-name.ts'

/** What a kernel compares: a record, or a candidate in the environment it is asked about. */
export interface Subject {
  readonly environment: Environment
  readonly changes: readonly ChangedOption[]
}

/** A number, or the text that stands for anything else. */
export type OptionValue = number | string

/** Nothing is known of the option in that reference. */
export const unknown: OptionValue = '?'

export interface ComparedOption {
  readonly name: string
  /** The value in the subject's reference, one a subject. */
  readonly before: readonly OptionValue[]
  /** Indices of the subjects that change it, ascending, and the values they change it to. */
  readonly changed: readonly number[]
  readonly after: readonly OptionValue[]
}

export interface ComparedOptions {
  /** Sorted by name. */
  readonly options: readonly ComparedOption[]
  /** For each subject the index of its reference: subjects of one version share it. */
  readonly reference: Int32Array
}

/** Lays out all options that any subject's reference or change names. Order of subjects is kept. */
export function compareOptions(subjects: readonly Subject[]): ComparedOptions {
  const changes = subjects.map(subject => changedValues(subject.changes))
  const references = referenceValues(subjects, changes)
  const versionIndex = new Map([...references.keys()].map((id, index) => [id, index]))
  const names = new Set(changes.flatMap(changed => [...changed.keys()]))
  for (const values of references.values()) for (const name of values.keys()) names.add(name)
  const changed = new Map<string, number[]>()
  changes.forEach((values, index) => {
    for (const name of values.keys()) {
      const indices = changed.get(name)
      if (indices === undefined) changed.set(name, [index])
      else indices.push(index)
    }
  })
  return {
    options: [...names].sort().map(name => ({
      name,
      before: subjects.map(({ environment }) => references.get(environment.version.id)!.get(name) ?? unknown),
      changed: changed.get(name) ?? [],
      after: (changed.get(name) ?? []).map(index => changes[index]!.get(name)!.to),
    })),
    reference: Int32Array.from(subjects, ({ environment }) => versionIndex.get(environment.version.id)!),
  }
}

interface ChangedValue {
  readonly from: OptionValue
  readonly to: OptionValue
}

/** A literal of a diff goes by its NAME alone; where one diff changes two of that name, the later ones keep their file. */
function changedValues(changes: readonly ChangedOption[]): Map<string, ChangedValue> {
  const result = new Map<string, ChangedValue>()
  for (const { option, from, to } of changes) {
    const before = new Map(leaves(from))
    const after = new Map(leaves(to))
    for (const path of new Set([...before.keys(), ...after.keys()])) {
      const name = optionName(option) + path
      const values = { from: before.get(path) ?? absent, to: after.get(path) ?? absent }
      result.set(result.has(name) ? `${option}${path}` : name, values)
    }
  }
  return result
}

const absent: OptionValue = '-'

/** The leaves of a value by their path below it; what is no object is one leaf with an empty path. */
function leaves(value: Json | undefined): [string, OptionValue][] {
  if (value === undefined) return []
  if (!isJsonObject(value)) return [['', typeof value === 'number' ? value : canonicalJson(value)]]
  return diffConfigurations({}, value).flatMap(({ option, to }) =>
    leaves(to).map(([, leaf]): [string, OptionValue] => [`.${optionName(option)}`, leaf]),
  )
}

/**
 * What is known of the references, by version: their configuration, else what was changed from it; what is still open is
 * taken from the family's other versions (its commonest value), since references differ in few places. Where subjects
 * disagree about a reference the commonest value holds, so their order does not matter.
 */
function referenceValues(
  subjects: readonly Subject[],
  changes: readonly ReadonlyMap<string, ChangedValue>[],
): Map<string, Map<string, OptionValue>> {
  const versions = new Map<string, Map<string, OptionValue>>()
  const seenIn = new Map<string, Map<string, OptionValue[]>>()
  const see = (place: string, name: string, value: OptionValue) => {
    const names = seenIn.get(place) ?? new Map<string, OptionValue[]>()
    seenIn.set(place, names)
    const seen = names.get(name)
    if (seen === undefined) names.set(name, [value])
    else seen.push(value)
  }
  subjects.forEach(({ environment }, index) => {
    const { id, reference } = environment.version
    if (!versions.has(id)) {
      const configuration = isJsonObject(reference.configuration) ? leaves(reference.configuration) : []
      versions.set(id, new Map(configuration.map(([path, value]) => [path.slice(1), value])))
    }
    for (const [name, { from }] of changes[index]!) {
      if (versions.get(id)!.has(name)) continue
      see(id, name, from)
      see(environment.familyId, name, from)
    }
  })
  for (const [id, values] of versions) {
    for (const [name, seen] of seenIn.get(id) ?? []) values.set(name, commonest(seen))
  }
  for (const { environment } of subjects) {
    const values = versions.get(environment.version.id)!
    for (const [name, seen] of seenIn.get(environment.familyId) ?? []) {
      if (!values.has(name)) values.set(name, commonest(seen))
    }
  }
  return versions
}

function commonest(values: readonly OptionValue[]): OptionValue {
  const counts = new Map<OptionValue, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  // Of equally common values the smallest by its text: any rule will do that does not ask who came first.
  const ordered = [...counts].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
  return ordered.reduce((best, entry) => (entry[1] > best[1] ? entry : best))[0]
}
