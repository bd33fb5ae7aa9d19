/**
 * Checkpoints of real models and optimisers: what is written comes back, a folder appears whole or not at all, and one that does not
 * fit is refused with a sentence.
 */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adapterParameters, initialAdapterValues } from '../adapters/adapter-parameters.ts'
import type { Adapters } from '../engine.ts'
import { decoder } from '../models/decoder.ts'
import type { DecoderOptions } from '../models/decoder-configuration.ts'
import { Optimisation } from '../optimisers/optimisation.ts'
import type { ParameterGroup } from '../optimisers/optimiser.ts'
import type { Parameter } from '../parameter.ts'
import type { Checkpoint } from './checkpoint.ts'
import { readCheckpoint } from './read-checkpoint.ts'
import { openSafetensors, writeSafetensors } from './safetensors.ts'
import { writeCheckpoint } from './write-checkpoint.ts'

const configuration: DecoderOptions = {
  vocabulary: 5,
  contextLength: 4,
  depth: 1,
  width: 4,
  heads: 2,
  keyValueHeads: 1,
  feedForwardWidth: 6,
  activation: 'gelu',
  tiedEmbeddings: true,
}
const model = decoder(configuration)
const adapters: Adapters = { rank: 2, alpha: 4, projections: ['query', 'value'] }
const home = mkdtempSync(join(tmpdir(), 'almanac-checkpoint-'))
let folders = 0
const newFolder = () => join(home, `${folders++}`)
afterAll(() => rmSync(home, { recursive: true }))

/** After a step, in which the values serve as gradients. */
async function trained(
  parameters: readonly Parameter[],
  values: Map<string, Float32Array>,
  groups: readonly ParameterGroup[],
): Promise<Checkpoint['optimiser']> {
  const optimisation = new Optimisation(parameters, 1)
  await optimisation.step(values, new Map(values), { groups })
  await optimisation.dispose()
  return optimisation.exportState()
}

async function plainCheckpoint(): Promise<Checkpoint> {
  const values = model.initialValues(1)
  const optimiser = await trained(model.parameters, values, [
    { match: 'embedding', optimiser: { kind: 'adamw' }, learningRate: 0.1 },
    { match: ({ name }) => name.endsWith('.query'), optimiser: { kind: 'muon' }, learningRate: 0.1 },
    { match: 'matrix', optimiser: { kind: 'lion' }, learningRate: 0.1 },
    { match: ({ name }) => name === 'norm', optimiser: { kind: 'sgd' }, learningRate: 0.1 },
    { match: 'gain', optimiser: { kind: 'sgd' }, learningRate: 0.1, frozen: true },
  ])
  return { model, adapters: null, values, version: 1, counters: { seed: 7, dropoutCalls: 3 }, optimiser }
}

async function adaptedCheckpoint(): Promise<Checkpoint> {
  const added = initialAdapterValues(model.parameters, adapters, 1)
  const parameters = adapterParameters(model.parameters, adapters)
  const optimiser = await trained(parameters, added, [
    { match: 'matrix', optimiser: { kind: 'adamw' }, learningRate: 0.1 },
  ])
  const values = new Map([...model.initialValues(1), ...added])
  return { model, adapters, values, version: 12, counters: {}, optimiser }
}

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
    refuse(join(home, 'missing'), 'there is no manifest.json in it')
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
