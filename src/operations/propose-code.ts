/**
 * The code of an experiment in a folder without git: the files that its command names, and those beside them that they import. By
 * reading alone, and only in the folder itself: what this misses, the user adds.
 */
import type { ProjectFiles } from './project-files.ts'

const source = /\.(?:py|js|mjs|cjs|ts|mts|sh|jl|lua|R)$/
const importing = /^\s*(?:import|from|export|source|include|using)\b|\brequire\(|\bimport\(/

/** Names of the files, sorted; none where the command names no file of the folder. */
export function proposeCode(command: string, files: ProjectFiles): string[] {
  const sources = files.names.filter(name => source.test(name) && !/^almanac\.config\./.test(name))
  const found = new Set(
    command.split(/[\s"']+/).flatMap(word => sources.filter(name => name === word.replace(/^\.\//, ''))),
  )
  // A set that grows is walked to its new end.
  for (const name of found) {
    const lines = (files.text(name) ?? '').split('\n').filter(line => importing.test(line))
    for (const other of sources) {
      const stem = other.replace(source, '')
      if (lines.some(line => line.split(/[^\w-]+/).includes(stem))) found.add(other)
    }
  }
  return [...found].sort()
}
