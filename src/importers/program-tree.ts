/**
 * Programs that were made from programs, as agents that search over code keep them. A program is compared with the nearest ancestor that
 * worked: of what was made from a broken program only that comparison says what it brought. Pure.
 */
import { structuredPatch } from 'diff'

export interface Program {
  readonly id: string
  /** The program it was made from; null for a root. */
  readonly parent: string | null
  readonly code: string
  /** What was to be changed and why. */
  readonly text: string | null
  /** Whether it ran, and has a result that others can be compared with. */
  readonly works: boolean
  /** The program that it is a copy of, and not a run of its own. */
  readonly copyOf: string | null
}

export interface ProgramChange {
  /** The nearest ancestor that worked; null where there is none. */
  readonly parent: string | null
  /** Unified diff from that ancestor; null for a program that has none, and empty where nothing changed. */
  readonly diff: string | null
  /** What was written of every step since that ancestor, first to last. */
  readonly text: string | null
}

/** Of what was made from more broken programs than these in a row, nobody can say what it changed. */
const mostSteps = 200

/** Null where an ancestor is missing on the way, so that nothing says what was changed, or where too many of them were broken. */
export function programChange(program: Program, all: ReadonlyMap<string, Program>, file: string): ProgramChange | null {
  const texts = [program.text]
  const seen = new Set([program.id])
  let above = program.parent
  while (above !== null) {
    if (seen.has(above) || seen.size > mostSteps) return null
    seen.add(above)
    const ancestor = all.get(above)
    if (ancestor === undefined) return null
    if (ancestor.copyOf !== null) above = ancestor.copyOf
    else if (ancestor.works) {
      return { parent: ancestor.id, diff: programDiff(ancestor.code, program.code, file), text: joined(texts) }
    } else {
      texts.unshift(ancestor.text)
      above = ancestor.parent
    }
  }
  return { parent: null, diff: null, text: joined(texts) }
}

function joined(texts: readonly (string | null)[]): string | null {
  return texts.filter(text => text !== null && text.trim() !== '').join('; then: ') || null
}

/** Beyond as many changed lines the search for the shortest diff takes too long, and it tells nobody anything. */
const longestEdit = 1000

/** As git writes it, with `file` for its name; empty where nothing changed. */
export function programDiff(before: string, after: string, file: string): string {
  if (before === after) return ''
  const name = file.replace(/[^\w.-]/g, '_')
  const patch = structuredPatch(name, name, before, after, undefined, undefined, {
    context: 3,
    maxEditLength: longestEdit,
  })
  const hunks = patch?.hunks ?? [replacement(before, after)]
  const lines = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines: changed }) => [
    `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
    ...changed,
  ])
  return [`diff --git a/${name} b/${name}`, `--- a/${name}`, `+++ b/${name}`, ...lines, ''].join('\n')
}

function range(start: number, lines: number): string {
  // jsdiff counts from 1 also where a side is empty; unified diffs name the line before.
  return `${lines === 0 ? Math.max(0, start - 1) : start},${lines}`
}

/** Every line out, every line in. */
function replacement(before: string, after: string) {
  const side = (text: string, sign: string) => {
    const lines = text.split('\n')
    const isEnded = lines.at(-1) === ''
    if (isEnded) lines.pop()
    const signed = lines.map(line => sign + line)
    return {
      count: lines.length,
      lines: isEnded || lines.length === 0 ? signed : [...signed, '\\ No newline at end of file'],
    }
  }
  const [old, now] = [side(before, '-'), side(after, '+')]
  return { oldStart: 1, oldLines: old.count, newStart: 1, newLines: now.count, lines: [...old.lines, ...now.lines] }
}
