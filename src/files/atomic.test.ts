import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createExclusively, writeAtomically } from './atomic.ts'

const folders = mkdtempSync(join(tmpdir(), 'almanac-files-'))
afterAll(() => rmSync(folders, { recursive: true, force: true }))
const scratch = () => mkdtempSync(join(folders, 'scratch-'))

test('a file is replaced, keeps its permissions, and nothing stays beside it', () => {
  const folder = scratch()
  const path = join(folder, 'a.json')
  writeAtomically(path, 'first')
  chmodSync(path, 0o640)
  writeAtomically(path, 'second é')
  expect(readFileSync(path, 'utf8')).toBe('second é')
  expect(statSync(path).mode & 0o777).toBe(0o640)
  expect(readdirSync(folder)).toEqual(['a.json'])
})

test('creating exclusively leaves an existing file as it is', () => {
  const folder = scratch()
  const path = join(folder, 'claim')
  expect(createExclusively(path, 'mine')).toBe(true)
  expect(createExclusively(path, 'yours')).toBe(false)
  expect(readFileSync(path, 'utf8')).toBe('mine')
  expect(readdirSync(folder)).toEqual(['claim'])
})

test('of many processes that create one file at once, exactly one succeeds, and its content is whole', async () => {
  const folder = scratch()
  const program = `
    import { createExclusively } from ${JSON.stringify(join(import.meta.dirname, 'atomic.ts'))}
    const won = []
    for (let round = 0; round < 40; round++) {
      if (createExclusively(process.argv[1] + '/' + round, process.pid + ' '.repeat(5000) + 'end')) won.push(round)
    }
    console.log(JSON.stringify(won))`
  const winners = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', program, folder])
      let output = ''
      child.stdout.on('data', piece => {
        output += piece
      })
      await once(child, 'close')
      return JSON.parse(output) as number[]
    }),
  )
  expect(winners.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, round) => round))
  for (const name of readdirSync(folder)) expect(readFileSync(join(folder, name), 'utf8')).toMatch(/^\d+ {5000}end$/)
})

test('what cannot be written gets one sentence, and nothing is half written', () => {
  const folder = scratch()
  expect(() => writeAtomically(join(folder, 'missing', 'a'), 'x')).toThrow(/cannot write .*: its folder does not exist/)
  writeFileSync(join(folder, 'file'), '')
  expect(() => createExclusively(join(folder, 'file', 'a'), 'x')).toThrow(/part of its path is a file/)
  mkdirSync(join(folder, 'taken'))
  expect(() => writeAtomically(join(folder, 'taken'), 'x')).toThrow(/a folder of that name is there/)
  expect(readdirSync(folder).sort()).toEqual(['file', 'taken'])
})

// A limit on the size of files fails in the middle of a write, as a full disk does, and needs no rights.
test('a write that fails in the middle leaves the old content and nothing beside it', () => {
  const folder = scratch()
  const path = join(folder, 'a')
  writeAtomically(path, 'old')
  const program = `
    import { writeAtomically } from ${JSON.stringify(join(import.meta.dirname, 'atomic.ts'))}
    try { writeAtomically(process.argv[1], 'x'.repeat(1e6)) } catch (error) { console.log(error.message) }`
  const shell = `trap '' XFSZ; ulimit -f 8; exec "$0" --input-type=module -e "$1" "$2"`
  const { stdout } = spawnSync('/bin/sh', ['-c', shell, process.execPath, program, path], { encoding: 'utf8' })
  expect(stdout).toBe(`cannot write ${path}: it is larger than the system allows a file to be; nothing was changed\n`)
  expect(readFileSync(path, 'utf8')).toBe('old')
  expect(readdirSync(folder)).toEqual(['a'])
})
