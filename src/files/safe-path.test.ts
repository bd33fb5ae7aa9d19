import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { isInside, resolveInside } from './safe-path.ts'

const folders = realpathSync(mkdtempSync(join(tmpdir(), 'almanac-path-')))
afterAll(() => rmSync(folders, { recursive: true, force: true }))

function home() {
  const whole = mkdtempSync(join(folders, 'whole-'))
  const folder = join(whole, 'home')
  mkdirSync(join(folder, 'data'), { recursive: true })
  writeFileSync(join(whole, 'secret'), '')
  return { whole, folder }
}

describe('a path inside', () => {
  test('comes back absolute, whether it exists or not', () => {
    const { folder } = home()
    expect(resolveInside(folder, 'data')).toBe(join(folder, 'data'))
    expect(resolveInside(folder, './data//new/file..txt')).toBe(join(folder, 'data', 'new', 'file..txt'))
    expect(resolveInside(folder, '.')).toBe(folder)
  })

  test('may pass a symbolic link that stays inside', () => {
    const { folder } = home()
    symlinkSync('data', join(folder, 'alias'))
    expect(resolveInside(folder, 'alias/new')).toBe(join(folder, 'alias/new'))
  })

  test('may be in a folder that is reached through a link itself', () => {
    const { whole, folder } = home()
    symlinkSync(folder, join(whole, 'door'))
    expect(resolveInside(join(whole, 'door'), 'data')).toBe(join(whole, 'door', 'data'))
  })
})

describe('a path that leaves', () => {
  test.each([
    ['../secret', /has a "\.\."/],
    ['data/../../secret', /has a "\.\."/],
    ['data\\..\\..\\secret', /has a "\.\."/],
    ['/etc/passwd', /is absolute/],
    ['', /not a path/],
    ['data\0', /not a path/],
  ])('%j is refused', (path, sentence) => {
    expect(() => resolveInside(home().folder, path)).toThrow(sentence)
  })

  test('through a symbolic link is refused, at any depth', () => {
    const { whole, folder } = home()
    symlinkSync('..', join(folder, 'data', 'up'))
    symlinkSync(whole, join(folder, 'out'))
    symlinkSync('out', join(folder, 'twice'))
    expect(resolveInside(folder, 'data/up/data')).toBe(join(folder, 'data/up/data'))
    for (const path of ['out', 'out/secret', 'twice/new/file', 'data/up/out/secret']) {
      expect(() => resolveInside(folder, path)).toThrow(/leaves .* through a symbolic link/)
    }
  })

  test('through a symbolic link that leads nowhere yet is refused', () => {
    const { folder } = home()
    symlinkSync('/nowhere/at/all', join(folder, 'dangling'))
    expect(() => resolveInside(folder, 'dangling')).toThrow(/leads nowhere/)
    expect(() => resolveInside(folder, 'dangling/below')).toThrow(/leads nowhere/)
  })
})

test('a link that leaves is refused, also where the path comes back', () => {
  const { whole, folder } = home()
  symlinkSync(whole, join(folder, 'out'))
  expect(() => resolveInside(folder, 'out/home')).toThrow('leaves')
  expect(() => resolveInside(folder, 'out/home/data')).toThrow('leaves')
})

test('whatever the path, the answer is inside or there is none', () => {
  const { whole, folder } = home()
  symlinkSync(whole, join(folder, 'out'))
  const part = fc.oneof(
    fc.constantFrom('..', '.', '', 'data', 'out', 'home', 'secret', '...'),
    fc.string({ maxLength: 4 }),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), parts => {
      let answer: string
      try {
        answer = resolveInside(folder, parts.join('/'))
      } catch {
        return true
      }
      return isInside(folder, answer) && !answer.startsWith(join(folder, 'out'))
    }),
  )
})
