/**
 * The source files that a program runs: itself and all that it imports, so that a measurement's version changes when one of
 * them does and only then. Follows static imports of relative paths, since what is imported later is what a run may never call; packages
 * are the lock file's matter.
 */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** `import … from './x.ts'`, `export … from './x.ts'` or `import './x.ts'`; those of types alone are erased and load nothing. */
const statement = /^(?:import\b(?! type\b)|export(?=\s*[*{]))(?:[^'";]*?\bfrom)?\s*['"](\.[^'"]+)['"]/gm

/** Of a program and of the parts that it does load later: absolute paths, sorted. */
export function importedFiles(programs: readonly string[]): string[] {
  const found = new Set<string>()
  const follow = (file: string) => {
    if (found.has(file)) return
    found.add(file)
    for (const [, path] of readFileSync(file, 'utf8').matchAll(statement)) follow(resolve(dirname(file), path!))
  }
  for (const program of programs) follow(resolve(program))
  return [...found].sort()
}
