import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { applyPatch } from 'diff'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { changedLiterals } from '../experiment/diff-options.ts'
import { type Program, programChange, programDiff } from './program-tree.ts'

const folder = mkdtempSync(join(tmpdir(), 'program-tree-'))
afterAll(() => rmSync(folder, { recursive: true }))

function program(id: string, parent: string | null, given: Partial<Program> = {}): Program {
  return { id, parent, code: `x = '${id}'\n`, text: `text of ${id}`, works: true, copyOf: null, ...given }
}

function changeOf(id: string, programs: readonly Program[]) {
  const all = new Map(programs.map(each => [each.id, each]))
  return programChange(all.get(id)!, all, 'main.py')
}

describe('the change that made a program', () => {
  test('is against its parent', () => {
    const change = changeOf('b', [program('a', null), program('b', 'a')])
    expect(change).toMatchObject({ parent: 'a', text: 'text of b' })
    expect(changedLiterals(change!.diff!)).toEqual([{ option: 'main.py:x', from: 'a', to: 'b' }])
  })

  test('is against the nearest ancestor that worked, with all that was written since', () => {
    const change = changeOf('d', [
      program('a', null),
      program('b', 'a', { works: false }),
      program('c', 'b', { works: false, text: null }),
      program('d', 'c'),
    ])
    expect(change).toMatchObject({ parent: 'a', text: 'text of b; then: text of d' })
    expect(changedLiterals(change!.diff!)).toEqual([{ option: 'main.py:x', from: 'a', to: 'd' }])
  })

  test('is none where no ancestor worked', () => {
    const programs = [program('a', null, { works: false }), program('b', 'a')]
    expect(changeOf('b', programs)).toEqual({ parent: null, diff: null, text: 'text of a; then: text of b' })
    expect(changeOf('a', programs)).toEqual({ parent: null, diff: null, text: 'text of a' })
  })

  test('looks through copies at what they are copies of', () => {
    const programs = [program('a', null), program('copy', null, { copyOf: 'a' }), program('b', 'copy')]
    expect(changeOf('b', programs)!.parent).toBe('a')
  })

  test('is unknown where an ancestor is missing, and where ancestors go round in a circle', () => {
    expect(changeOf('b', [program('b', 'gone')])).toBe(null)
    const circle = [program('a', 'b', { works: false }), program('b', 'a', { works: false }), program('c', 'b')]
    expect(changeOf('c', circle)).toBe(null)
  })
})

test('after hundreds of broken programs in a row nobody can say what was changed', () => {
  const broken = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      program(`b${index + 1}`, index === 0 ? 'a' : `b${index}`, { works: false }),
    )
  const after = (count: number) => changeOf('c', [program('a', null), ...broken(count), program('c', `b${count}`)])
  expect(after(100)).toMatchObject({ parent: 'a' })
  expect(after(1000)).toBeNull()
})

describe('the diff of two programs', () => {
  const code = fc
    .tuple(fc.array(fc.constantFrom('a', 'b', '', ' c', '-d', '+e', '@@ f', '\\ g'), { maxLength: 12 }), fc.boolean())
    .map(([lines, isEnded]) => lines.join('\n') + (isEnded && lines.length > 0 ? '\n' : ''))

  test('makes the second of the first', () => {
    fc.assert(
      fc.property(code, code, (before, after) => {
        const diff = programDiff(before, after, 'main.py')
        expect(diff === '').toBe(before === after)
        if (diff !== '') expect(applyPatch(before, diff)).toBe(after)
      }),
    )
  })

  test('is one that git applies', () => {
    const [before, after] = ['import a\nlr = 1\n\nrun(lr)', 'import a\nlr = 2\nwd = 0\n\nrun(lr, wd)\n']
    writeFileSync(join(folder, 'main.py'), before)
    writeFileSync(join(folder, 'change.diff'), programDiff(before, after, 'main.py'))
    execFileSync('git', ['apply', 'change.diff'], { cwd: folder })
    expect(readFileSync(join(folder, 'main.py'), 'utf8')).toBe(after)
  })

  test('replaces everything where nearly everything differs', () => {
    const lines = (word: string) => Array.from({ length: 1200 }, (_, index) => `${word} ${index}`).join('\n')
    const diff = programDiff(lines('old'), `${lines('new')}\n`, 'main.py')
    expect(diff).toContain('@@ -1,1200 +1,1200 @@')
    expect(applyPatch(lines('old'), diff)).toBe(`${lines('new')}\n`)
  })

  test('names no file outside its folder', () => {
    expect(programDiff('a', 'b', '../../x y.py').split('\n')[0]).toBe('diff --git a/.._.._x_y.py b/.._.._x_y.py')
  })
})
