/**
 * Leaves files out of a unified diff, as text: each file's part begins with its `diff --git` line.
 */

/** The diff without the parts of these files (or of files in these folders); unchanged when it has none of them. */
export function withoutFiles(diff: string, files: readonly string[]): string {
  if (files.length === 0 || diff === '') return diff
  const parts = diff.split(/^(?=diff --git )/m)
  return parts.filter(part => !files.some(file => isAbout(part, file))).join('')
}

function isAbout(part: string, file: string): boolean {
  const line = part.slice(0, part.indexOf('\n'))
  const path = file.replace(/^\.\//, '').replace(/\/+$/, '')
  return line === `diff --git a/${path} b/${path}` || line.startsWith(`diff --git a/${path}/`)
}
