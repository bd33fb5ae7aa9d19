import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type TreeEntry, treeEditor } from './edited-tree.ts'
import { objectSizes, openObjects } from './object-reader.ts'
import { gitIn, scratchFolder } from './scratch-repository.ts'

type Files = Readonly<Record<string, TreeEntry>>

describe.each(['sha1', 'sha256'])('in a repository of %s', format => {
  const root = join(scratchFolder(), format)
  mkdirSync(root)
  gitIn(root, 'init', '--quiet', `--object-format=${format}`)
  const blobs = ['one', 'two'].map(input =>
    execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: root, input, encoding: 'utf8' }).trim(),
  )

  /** As git writes it. */
  function treeOf(files: Files): string {
    const lines = Object.entries(files).map(([path, { mode, object }]) => `${mode} ${object}\t${path}\0`)
    gitIn(root, 'read-tree', '--empty')
    execFileSync('git', ['update-index', '-z', '--index-info'], { cwd: root, input: lines.join('') })
    return gitIn(root, 'write-tree')
  }

  // Names that sort otherwise as folders than as files, and one that is not ASCII.
  const paths = ['a', 'a/b', 'a/b/c', 'a/b/d', 'a.b', 'a-b', 'a0', 'A', 'b/a', 'b/a b', 'é/ü']
  const files = fc
    .dictionary(
      fc.constantFrom(...paths),
      fc.record({ mode: fc.constantFrom('100644', '100755'), object: fc.constantFrom(...blobs) }),
    )
    .map(all =>
      Object.fromEntries(
        Object.entries(all).filter(([path]) => !Object.keys(all).some(other => other.startsWith(`${path}/`))),
      ),
    )

  test('a tree with other entries has the hash that git gives it', async () => {
    const objects = openObjects(root)
    const editor = treeEditor(objects)
    await fc.assert(
      fc.asyncProperty(files, files, async (before: Files, after: Files) => {
        const tree = treeOf(before)
        const replaced = new Map(
          [...Object.keys(before), ...Object.keys(after)].map(path => [path, after[path] ?? null]),
        )
        expect(await editor.withEntries(tree, replaced)).toBe(treeOf(after))
        for (const path of paths.filter(path => path in before))
          expect(await editor.entryAt(tree, path)).toEqual(before[path])
        expect(await editor.entryAt(tree, 'a/none/x')).toBeNull()
      }),
      { numRuns: 5 },
    )
    await objects.close()
  })

  test('objects are read as they are, or not at all', async () => {
    const missing = '1'.repeat(blobs[0]!.length)
    expect(await objectSizes(root, [blobs[0]!, missing])).toEqual(new Map([[blobs[0], 3]]))
    const objects = openObjects(root)
    const read = await Promise.all([blobs[1]!, missing, blobs[0]!].map(object => objects.read(object)))
    expect(read.map(content => content?.toString())).toEqual(['two', undefined, 'one'])
    await expect(async () => objects.read('HEAD')).rejects.toThrow('"HEAD" is not the whole hash of an object')
    await objects.close()
    await expect(objects.read(blobs[0]!)).rejects.toThrow(/git stopped reading objects/)
  })
})
