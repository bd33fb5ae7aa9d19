/**
 * Checkpoints of real models and optimisers: what is written comes back, and a folder appears whole or not at all.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Checkpoint } from './checkpoint.ts'
import { adaptedCheckpoint, adapters, configuration, model, plainCheckpoint } from './fixtures/trained-checkpoint.ts'
import { readCheckpoint } from './read-checkpoint.ts'
import { writeCheckpoint } from './write-checkpoint.ts'

const home = mkdtempSync(join(tmpdir(), 'almanac-checkpoint-'))
let folders = 0
const newFolder = () => join(home, `${folders++}`)
afterAll(() => rmSync(home, { recursive: true }))

const withoutModel = ({ model: { kind, configuration }, ...rest }: Checkpoint) => ({ kind, configuration, ...rest })

let written: Checkpoint
let folder: string
beforeAll(async () => {
  written = await plainCheckpoint()
  folder = newFolder()
  writeCheckpoint(folder, written)
})

describe('what was written', () => {
  it('comes back: model, values, counters, and what four optimisers remember of what moved', () => {
    expect(withoutModel(readCheckpoint(folder))).toEqual(withoutModel(written))
    expect([...written.optimiser.values()].map(({ kind }) => kind).sort()).toEqual([
      'adamw',
      'lion',
      'lion',
      'lion',
      'lion',
      'lion',
      'muon',
      'sgd',
    ])
    expect(readCheckpoint(folder).model.parameters).toEqual(model.parameters)
    expect(readdirSync(home)).toEqual(['0'])
  })

  it('comes back with adapters beside the base', async () => {
    const adapted = await adaptedCheckpoint()
    const path = join(newFolder(), 'below', 'step-12')
    writeCheckpoint(path, adapted)
    expect(withoutModel(readCheckpoint(path, { model, adapters: { ...adapters } }))).toEqual(withoutModel(adapted))
    expect(() => readCheckpoint(path, { adapters: null })).toThrow(
      'it holds adapters {"alpha":4,"rank":2,"projections":["query","value"]}, and this model has no adapters',
    )
  })

  it('has the same bytes each time', () => {
    const again = newFolder()
    writeCheckpoint(again, written)
    for (const name of readdirSync(folder))
      expect(readFileSync(join(again, name)).equals(readFileSync(join(folder, name)))).toBe(true)
  })

  it('may be taken without what optimisers remember', () => {
    expect(readCheckpoint(folder, { optimiser: false })).toMatchObject({ values: written.values, optimiser: new Map() })
  })

  it('is of a model that the caller knows, also when its kind is not built in', () => {
    const own = { ...model, kind: 'own' }
    const path = newFolder()
    writeCheckpoint(path, { ...written, model: own })
    expect(readCheckpoint(path, { model: own }).model).toBe(own)
    expect(() => readCheckpoint(path)).toThrow('there is no model of kind "own" built in (decoder')
    expect(() => readCheckpoint(path, { model })).toThrow('it holds a model of kind own, and this one is decoder')
  })

  it('is of the same model where defaults are spelled out and where they are not', () => {
    const path = newFolder()
    writeCheckpoint(path, { ...written, model: { ...model, configuration } })
    expect(configuration).not.toHaveProperty('positions')
    expect(readCheckpoint(path, { model }).model).toBe(model)
    expect(readCheckpoint(path).model.configuration).toEqual(model.configuration)
    expect(readCheckpoint(folder, { model: { ...model, configuration } }).values).toEqual(written.values)
  })
})

describe('a folder appears whole or not at all', () => {
  it('and is never replaced', () => {
    const before = readFileSync(join(folder, 'manifest.json'))
    expect(() => writeCheckpoint(folder, written)).toThrow(/cannot write the folder .*: it is already there/)
    expect(readFileSync(join(folder, 'manifest.json')).equals(before)).toBe(true)
  })

  it('where its name ends in a slash, and not where its name is too long', () => {
    const path = newFolder()
    writeCheckpoint(`${path}/`, written)
    expect(readCheckpoint(path).values).toEqual(written.values)
    expect(() => writeCheckpoint(join(home, 'x'.repeat(250)), written)).toThrow(/ENAMETOOLONG.*; nothing was changed/)
    expect(readdirSync(home).filter(name => name.endsWith('.tmp'))).toEqual([])
  })

  it('and is refused before anything is written when values are missing, too many or cannot be written', () => {
    const path = newFolder()
    const refuse = (change: Partial<Checkpoint>, sentence: string) =>
      expect(() => writeCheckpoint(path, { ...written, ...change })).toThrow(sentence)
    const others = new Map([...written.values].filter(([name]) => name !== 'norm'))
    refuse({ values: others }, 'the values of norm are missing')
    refuse({ values: new Map([...written.values, ['other', new Float32Array(1)]]) }, 'other is not a parameter')
    refuse({ values: new Map([...others, ['norm', new Float32Array(3)]]) }, 'norm has 3 values, and shape (4) has 4')
    refuse({ counters: { seed: Number.NaN } }, 'counters.seed')
    expect(readdirSync(home)).not.toContain(path.slice(home.length + 1))
    expect(readdirSync(home).filter(name => name.endsWith('.tmp'))).toEqual([])
  })

  // A limit on the size of files fails in the middle of a write, as a full disk does, and needs no rights.
  it('where the disk is full in the middle, nothing stays', () => {
    const path = newFolder()
    const program = `
      import { readCheckpoint } from ${JSON.stringify(join(import.meta.dirname, 'read-checkpoint.ts'))}
      import { writeCheckpoint } from ${JSON.stringify(join(import.meta.dirname, 'write-checkpoint.ts'))}
      const { model, ...rest } = readCheckpoint(${JSON.stringify(folder)})
      try { writeCheckpoint(process.argv[1], { model, ...rest }) } catch (error) { console.log(error.message) }`
    const shell = `trap '' XFSZ; ulimit -f 2; exec "$0" --input-type=module -e "$1" "$2"`
    const { stdout } = spawnSync('/bin/sh', ['-c', shell, process.execPath, program, path], { encoding: 'utf8' })
    expect(stdout).toMatch(/^cannot write the folder .*: EFBIG.*; nothing was changed\n$/)
    expect(readdirSync(home).filter(name => name.startsWith(path.slice(home.length + 1)))).toEqual([])
  })
})
