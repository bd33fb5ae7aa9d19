/**
 * How alike two diffs are: the lines they add and remove, compared as multisets. White space, context, line numbers and
 * the names of the files do not count.
 */

/** How often each changed line occurs: its mark (+ or -) and its text without white space; blank lines are left out. */
export type ChangedLines = ReadonlyMap<string, number>

const hunkHeader = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/

/** Reads unified diffs; lines outside hunks are headers and never changes. */
export function changedLines(diff: string): ChangedLines {
  const counts = new Map<string, number>()
  // What is left of the hunk by its own header: inside it, a line that starts with `---` is a removed line, not a header.
  let removedLeft = 0
  let addedLeft = 0
  for (const line of diff.split('\n')) {
    if (removedLeft <= 0 && addedLeft <= 0) {
      const header = hunkHeader.exec(line)
      if (header !== null) {
        removedLeft = Number(header[1] ?? 1)
        addedLeft = Number(header[2] ?? 1)
      }
      continue
    }
    const mark = line[0]
    if (mark === '\\') continue
    if (mark !== '+') removedLeft--
    if (mark !== '-') addedLeft--
    if (mark !== '+' && mark !== '-') continue
    const text = line.replace(/\s+/g, '')
    if (text.length > 1) counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return counts
}

/**
 * Dice's coefficient of the changed lines, in [0, 1]: twice the common lines over all lines of both. Symmetric; 1 means
 * the same changes. Two diffs without changed lines (a renamed file, a mode) are alike only if they are equal.
 */
export function diffSimilarity(a: string, b: string): number {
  if (a === b) return 1
  return linesSimilarity(changedLines(a), changedLines(b))
}

/** The same on what `changedLines` has read, for comparing each of many diffs with each; 0 where neither has a line. */
export function linesSimilarity(a: ChangedLines, b: ChangedLines): number {
  const [few, many] = a.size <= b.size ? [a, b] : [b, a]
  let common = 0
  for (const [line, count] of few) common += Math.min(count, many.get(line) ?? 0)
  if (common === 0) return 0
  return (2 * common) / (total(a) + total(b))
}

function total(lines: ChangedLines): number {
  let sum = 0
  for (const count of lines.values()) sum += count
  return sum
}
