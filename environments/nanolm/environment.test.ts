import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { code } from './environment.ts'

test('every file that the program imports is part of the version', () => {
  const covered = code.map(name => resolve(import.meta.dirname, name))
  const imported = filesFrom(resolve(import.meta.dirname, 'train.ts'))
  expect(imported.size).toBeGreaterThan(20)
  expect([...imported].filter(file => !covered.some(each => file === each || file.startsWith(`${each}/`)))).toEqual([])
})

/** The file and all that it imports by a relative path, types left out. */
function filesFrom(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  for (const [, names, path] of text.matchAll(/^import (type )?[^'"]*['"](\.[^'"]+)['"]/gm)) {
    if (names === undefined) filesFrom(resolve(dirname(file), path!), seen)
  }
  return seen
}
