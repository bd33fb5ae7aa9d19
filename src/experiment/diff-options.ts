/**
 * What an intervention changes, as options with their values before and after: from the configuration by merging, from a
 * diff by reading the literal assignments its hunks change.
 */
import { parsePatch, type StructuredPatch } from 'diff'
import { diffConfigurations, mergePatch } from './configuration.ts'
import type { Reference } from './environment.ts'
import type { ChangedOption, Intervention } from './intervention.ts'
import { canonicalJson } from './json.ts'
import { type LiteralAssignment, languageOf, literalAssignments } from './literal-assignments.ts'

/** Overrides first, then the diff's literals. Empty for an intervention of which only the sentence is known. */
export function changedOptions(
  reference: Pick<Reference, 'configuration'>,
  intervention: Pick<Intervention, 'overrides' | 'diff'>,
): ChangedOption[] {
  const { overrides, diff } = intervention
  const { configuration } = reference
  return [
    ...(overrides === null ? [] : diffConfigurations(configuration, mergePatch(configuration, overrides))),
    ...(diff === null ? [] : changedLiterals(diff)),
  ]
}

/**
 * Literals assigned to the same name in removed and added lines of one hunk (what is left over, of one file: code that
 * moved), as options `file:NAME`; a second one of that name is `file:NAME#2`. An assignment on one side only has the other
 * undefined. Parts of the diff that cannot be parsed, binary ones for instance, have no options.
 */
export function changedLiterals(diff: string): ChangedOption[] {
  const changes: ChangedOption[] = []
  const seen = new Map<string, number>()
  for (const patch of patches(diff)) {
    const file = fileOf(patch)
    const language = languageOf(file)
    if (language === null) continue
    const read = (lines: readonly string[], sign: string) =>
      lines.flatMap(line => (line.startsWith(sign) ? literalAssignments(line.slice(1), language) : []))
    const perHunk = patch.hunks.map(({ lines }) => pair(read(lines, '-'), read(lines, '+')))
    const leftOver = pair(
      perHunk.flatMap(({ removed }) => removed),
      perHunk.flatMap(({ added }) => added),
    )
    const oneSided: Pair[] = [
      ...leftOver.removed.map(({ name, value }) => ({ name, from: value, to: undefined })),
      ...leftOver.added.map(({ name, value }) => ({ name, from: undefined, to: value })),
    ]
    for (const { name, from, to } of [...perHunk.flatMap(({ pairs }) => pairs), ...leftOver.pairs, ...oneSided]) {
      const option = `${file}:${name}`
      const count = (seen.get(option) ?? 0) + 1
      seen.set(option, count)
      changes.push({ option: count === 1 ? option : `${option}#${count}`, from, to })
    }
  }
  return changes
}

type Pair = { readonly name: string } & Pick<ChangedOption, 'from' | 'to'>

/** Equal assignments cancel; the others of one name pair up in order; the rest is left over. */
function pair(
  before: readonly LiteralAssignment[],
  after: readonly LiteralAssignment[],
): { readonly pairs: Pair[]; readonly removed: LiteralAssignment[]; readonly added: LiteralAssignment[] } {
  const pairs: Pair[] = []
  const removed: LiteralAssignment[] = []
  const added: LiteralAssignment[] = []
  const afterByName = Map.groupBy(after, ({ name }) => name)
  const beforeByName = Map.groupBy(before, ({ name }) => name)
  for (const name of new Set([...beforeByName.keys(), ...afterByName.keys()])) {
    const { ours, theirs } = withoutEqual(beforeByName.get(name) ?? [], afterByName.get(name) ?? [])
    const both = Math.min(ours.length, theirs.length)
    for (let i = 0; i < both; i++) pairs.push({ name, from: ours[i]!.value, to: theirs[i]!.value })
    removed.push(...ours.slice(both))
    added.push(...theirs.slice(both))
  }
  return { pairs, removed, added }
}

function withoutEqual(before: readonly LiteralAssignment[], after: readonly LiteralAssignment[]) {
  const left = new Map<string, number>()
  for (const { value } of after) left.set(canonicalJson(value), (left.get(canonicalJson(value)) ?? 0) + 1)
  const cancelled = new Map<string, number>()
  const ours = before.filter(({ value }) => {
    const key = canonicalJson(value)
    const available = (left.get(key) ?? 0) - (cancelled.get(key) ?? 0)
    if (available > 0) cancelled.set(key, (cancelled.get(key) ?? 0) + 1)
    return available <= 0
  })
  const theirs = after.filter(({ value }) => {
    const key = canonicalJson(value)
    const count = cancelled.get(key) ?? 0
    if (count > 0) cancelled.set(key, count - 1)
    return count <= 0
  })
  return { ours, theirs }
}

/** File by file, because the parser gives up on the whole text when one part is malformed. */
function patches(diff: string): StructuredPatch[] {
  return diff.split(/^(?=diff --git )/m).flatMap(part => {
    if (/^GIT binary patch/m.test(part) || /^Binary files /m.test(part)) return []
    try {
      return parsePatch(part)
    } catch {
      return []
    }
  })
}

function fileOf({ oldFileName, newFileName }: StructuredPatch): string {
  const name = newFileName === undefined || newFileName === '/dev/null' ? oldFileName : newFileName
  return (name ?? '').replace(/^[ab]\//, '')
}
