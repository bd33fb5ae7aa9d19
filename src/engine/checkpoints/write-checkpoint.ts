/**
 * Writes a checkpoint, whole or not at all.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { adapterParameters } from '../adapters/adapter-parameters.ts'
import type { Parameter } from '../parameter.ts'
import { type Checkpoint, checkpointFiles as files } from './checkpoint.ts'
import { formatVersion, type Manifest, parseManifest } from './manifest.ts'
import { writeNewFolder } from './new-folder.ts'
import { type TensorToWrite, writeSafetensors } from './safetensors.ts'
import { writeThrough } from './write-through.ts'

/** Writes a new folder, which appears whole or not at all; an existing one is refused. The arrays are written as they are now. */
export function writeCheckpoint(folder: string, checkpoint: Checkpoint): void {
  const { model, adapters, values, version, counters, optimiser } = checkpoint
  const added = adapters ? adapterParameters(model.parameters, adapters) : []
  const known = new Set([...model.parameters, ...added].map(({ name }) => name))
  for (const name of values.keys())
    if (!known.has(name)) throw new Error(`cannot write the folder ${folder}: ${name} is not a parameter of the model`)
  const tensors = (parameters: readonly Parameter[]) =>
    new Map(
      parameters.map(({ name, shape }): [string, TensorToWrite] => [name, { shape, values: required(values, name) }]),
    )

  writeNewFolder(folder, temporary => {
    const sizes: Record<string, number> = {}
    const write = (file: string, content: ReadonlyMap<string, TensorToWrite>) => {
      writeSafetensors(join(temporary, file), content)
      sizes[file] = statSync(join(temporary, file)).size
    }
    write(files.model, tensors(model.parameters))
    if (adapters) write(files.adapters, tensors(added))
    write(files.optimiser, optimiserTensors(optimiser))
    const manifest: Manifest = {
      format: 'almanac checkpoint',
      formatVersion,
      model: { kind: model.kind, configuration: model.configuration as Record<string, unknown> },
      adapters,
      version,
      counters,
      optimiser: Object.fromEntries([...optimiser].map(([name, { kind, numbers }]) => [name, { kind, numbers }])),
      files: sizes,
    }
    const text = JSON.stringify(manifest, null, 2)
    // What could not be read again is not written: a number that JSON does not know, for one.
    parseManifest(text)
    writeThrough(join(temporary, files.manifest), `${text}\n`)
  })
}

function optimiserTensors(optimiser: Checkpoint['optimiser']): Map<string, TensorToWrite> {
  const arrays = [...optimiser].flatMap(([name, record]) =>
    Object.entries(record.arrays).map(([array, values]) => [`${name}/${array}`, values] as const),
  )
  return new Map(arrays.map(([name, values]) => [name, { shape: [values.length], values }]))
}

function required(values: ReadonlyMap<string, Float32Array>, name: string): Float32Array {
  const array = values.get(name)
  if (!array) throw new Error(`the values of ${name} are missing`)
  return array
}
