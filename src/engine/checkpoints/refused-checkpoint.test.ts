/**
 * Folders that are no checkpoint, or not the one that is asked for, are refused with a sentence.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decoder } from '../models/decoder.ts'
import { configuration, model, plainCheckpoint } from './fixtures/trained-checkpoint.ts'
import { readCheckpoint } from './read-checkpoint.ts'
import { openSafetensors, writeSafetensors } from './safetensors.ts'
import { writeCheckpoint } from './write-checkpoint.ts'

const home = mkdtempSync(join(tmpdir(), 'almanac-refused-'))
let folders = 0
const newFolder = () => join(home, `${folders++}`)
afterAll(() => rmSync(home, { recursive: true }))

let folder: string
beforeAll(async () => {
  folder = newFolder()
  writeCheckpoint(folder, await plainCheckpoint())
})

/** A manifest with everything in it open to change. */
interface Written {
  [field: string]: unknown
  model: { kind: string; configuration: Record<string, unknown> }
  optimiser: Record<string, { kind: string; numbers: object }>
  files: Record<string, number>
}

describe('a folder that does not fit is refused: ', () => {
  /** A copy with one thing changed. */
  function changed(change: (folder: string) => void): string {
    const copy = newFolder()
    cpSync(folder, copy, { recursive: true })
    change(copy)
    return copy
  }
  function manifest(change: (manifest: Written) => void): string {
    return changed(copy => {
      const path = join(copy, 'manifest.json')
      const value = JSON.parse(readFileSync(path, 'utf8'))
      change(value)
      writeFileSync(path, JSON.stringify(value))
    })
  }
  /** With other tensors in a file, whose size the manifest then says rightly. */
  function tensors(
    file: string,
    change: (tensors: Map<string, { shape: readonly number[]; values: Float32Array }>) => void,
  ) {
    return manifest(value => {
      const opened = openSafetensors(join(folder, file))
      const all = new Map([...opened.tensors].map(([name, { shape }]) => [name, { shape, values: opened.read(name) }]))
      opened.close()
      change(all)
      const path = join(home, `tensors-${folders++}`)
      writeSafetensors(path, all)
      value.files[file] = readFileSync(path).length
      replaced.set(file, path)
    })
  }
  const replaced = new Map<string, string>()
  const refuse = (path: string, sentence: string | RegExp, options = {}) =>
    expect(() => readCheckpoint(path, options)).toThrow(sentence)
  function refuseTensors(file: string, change: Parameters<typeof tensors>[1], sentence: string) {
    const path = tensors(file, change)
    cpSync(replaced.get(file)!, join(path, file))
    refuse(path, sentence)
  }

  it('what only pretends to be a file or a model', () => {
    const numbers = (change: (configuration: Record<string, unknown>) => void) =>
      manifest(({ model }) => change(model.configuration))
    const endless = numbers(configuration => {
      configuration['depth'] = 1e9
    })
    refuse(endless, /it says that depth is 1000000000, and model.safetensors holds \d+ tensors, fewer than one a block/)
    const pipe = (file: string) =>
      changed(copy => {
        rmSync(join(copy, file))
        spawnSync('mkfifo', [join(copy, file)])
      })
    refuse(pipe('manifest.json'), 'its manifest.json is not a file')
    const path = pipe('model.safetensors')
    const sized = JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8'))
    sized.files['model.safetensors'] = 0
    writeFileSync(join(path, 'manifest.json'), JSON.stringify(sized))
    refuse(path, 'model.safetensors is not a safetensors file that can be read: it is not a file')
    const long = changed(copy => writeFileSync(join(copy, 'manifest.json'), ' '.repeat(2 ** 26 + 1)))
    refuse(long, 'its manifest.json has 67108865 bytes')
  })

  it('no manifest, no JSON, another JSON', () => {
    refuse(home, `cannot read the checkpoint ${home}: there is no manifest.json in it`)
    refuse(join(home, 'missing'), 'there is no such folder')
    refuse(
      changed(copy => writeFileSync(join(copy, 'manifest.json'), '{"a":')),
      'its manifest is not JSON',
    )
    refuse(
      changed(copy => writeFileSync(join(copy, 'manifest.json'), '{"a":1}')),
      /its manifest is not valid \(format: /,
    )
  })

  it('a newer format', () => {
    const path = manifest(value => {
      value['formatVersion'] = 2
      value['news'] = true
    })
    refuse(path, 'it is of format 2, and this program reads up to 1; a newer one is needed')
  })

  it('a manifest with something more, something less, or out of range', () => {
    refuse(
      manifest(value => {
        value['more'] = 1
      }),
      /not valid \(as a whole: .*more/,
    )
    refuse(
      manifest(value => {
        delete value['version']
      }),
      /not valid \(version: /,
    )
    refuse(
      manifest(value => {
        value['version'] = -1
      }),
      /not valid \(version: /,
    )
    refuse(
      manifest(value => {
        value['adapters'] = { rank: 0 }
      }),
      /not valid \(adapters.rank: /,
    )
    refuse(
      manifest(value => {
        value.optimiser['norm']!.kind = 'adam'
      }),
      /not valid \(optimiser.norm.kind: /,
    )
  })

  it('a model that is unknown, not valid, or another than the one that takes it up', () => {
    refuse(
      manifest(value => {
        value.model.kind = 'constructor'
      }),
      'there is no model of kind "constructor"',
    )
    refuse(
      manifest(value => {
        value.model.configuration['width'] = 'wide'
      }),
      'width is "wide": expected a positive whole',
    )
    refuse(folder, 'it holds a model whose activation is "gelu", and that of this one is "swiglu"', {
      model: decoder({ ...configuration, activation: 'swiglu' }),
    })
    refuse(
      manifest(value => {
        delete value.model.configuration['activation']
      }),
      'it holds a model whose activation is "swiglu", and that of this one is "gelu"',
      { model },
    )
    refuse(folder, 'it holds no adapters, and this model has adapters {"alpha":1,"rank":1}', { adapters: { rank: 1 } })
  })

  it('files that are cut, missing, or that the manifest does not list', () => {
    const size = readFileSync(join(folder, 'model.safetensors')).length
    refuse(
      changed(copy => truncateSync(join(copy, 'model.safetensors'), size - 1)),
      `model.safetensors has ${size - 1} bytes, and the manifest says ${size}`,
    )
    refuse(
      changed(copy => rmSync(join(copy, 'optimiser.safetensors'))),
      'optimiser.safetensors is missing',
    )
    refuse(
      manifest(value => {
        value.files = { '../../secret': 1 }
      }),
      'its manifest lists the files ../../secret, expected model.safetensors, optimiser.safetensors',
    )
  })

  it('files that lie outside', () => {
    const outside = newFolder()
    mkdirSync(outside)
    cpSync(join(folder, 'model.safetensors'), join(outside, 'model.safetensors'))
    const path = changed(copy => {
      rmSync(join(copy, 'model.safetensors'))
      symlinkSync(join(outside, 'model.safetensors'), join(copy, 'model.safetensors'))
    })
    refuse(path, 'leaves')
  })

  it('parameters that are missing, too many, or of another shape', () => {
    refuseTensors(
      'model.safetensors',
      all => all.delete('norm'),
      'model.safetensors does not hold norm, which the model has',
    )
    refuseTensors(
      'model.safetensors',
      all => all.set('more', { shape: [1], values: new Float32Array(1) }),
      'model.safetensors holds more, which the model does not have',
    )
    refuseTensors(
      'model.safetensors',
      all => all.set('norm', { shape: [2, 2], values: new Float32Array(4) }),
      'norm has shape (2, 2) in model.safetensors and (4) in the model',
    )
  })

  it('what optimisers remember of something else, or not of all', () => {
    refuseTensors(
      'optimiser.safetensors',
      all => all.delete('norm/momentum'),
      "the optimiser's arrays of norm are none, expected momentum",
    )
    refuseTensors(
      'optimiser.safetensors',
      all => all.set('norm/momentum', { shape: [1], values: new Float32Array(1) }),
      'momentum of norm has 1 values, and the parameter has 4',
    )
    refuseTensors(
      'optimiser.safetensors',
      all => all.set('other/momentum', { shape: [1], values: new Float32Array(1) }),
      'optimiser.safetensors holds other/momentum, which the manifest does not mention',
    )
    refuse(
      manifest(value => {
        delete value.optimiser['norm']
      }),
      'optimiser.safetensors holds norm/momentum',
    )
    refuse(
      manifest(value => {
        value.optimiser['embedding']!.numbers = {}
      }),
      "the optimiser's numbers of embedding are none, expected steps",
    )
  })
})
