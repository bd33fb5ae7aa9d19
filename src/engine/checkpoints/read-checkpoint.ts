/**
 * Reads a checkpoint. It may come from anywhere: nothing in it is executed or names a path, and what does not fit is refused with one
 * sentence.
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { resolveInside } from '../../files/safe-path.ts'
import { adapterParameters } from '../adapters/adapter-parameters.ts'
import type { Adapters } from '../engine.ts'
import { sameShape, sizeOf } from '../graph/shape.ts'
import type { Model } from '../models/model.ts'
import { modelOf } from '../models/model-of.ts'
import { checkStateRecord, type StateRecord } from '../optimisers/state.ts'
import type { Parameter } from '../parameter.ts'
import { checkDepth } from './believable-depth.ts'
import { type Checkpoint, checkpointFiles as files } from './checkpoint.ts'
import { type Manifest, parseManifest } from './manifest.ts'
import { openSafetensors } from './safetensors.ts'
import { adaptersDifference, modelDifference } from './same-model.ts'

export interface ReadCheckpointOptions {
  /** The model it must be of; needed for a kind that is not built in. Default: the one it says. */
  readonly model?: Model
  /** The adapters it must have, null for none. Default: those it says. */
  readonly adapters?: Adapters | null
  /** Also what the optimisers remember. Default true; without, `optimiser` is empty. */
  readonly optimiser?: boolean
}

export function readCheckpoint(folder: string, options: ReadCheckpointOptions = {}): Checkpoint {
  try {
    return readWhole(folder, options)
  } catch (error) {
    throw new Error(`cannot read the checkpoint ${folder}: ${(error as Error).message}`, { cause: error })
  }
}

function readWhole(folder: string, options: ReadCheckpointOptions): Checkpoint {
  if (!existsSync(folder)) throw new Error('there is no such folder')
  const manifest = parseManifest(manifestText(folder))
  const { adapters, version, counters } = manifest
  const difference =
    (options.model && modelDifference(manifest.model, options.model)) ??
    (options.adapters !== undefined ? adaptersDifference(adapters, options.adapters) : null)
  if (difference) throw new Error(difference)
  checkFiles(folder, [files.model, ...(adapters ? [files.adapters] : []), files.optimiser], manifest.files)
  const model = options.model ?? modelIn(folder, manifest)
  const added = adapters ? adapterParameters(model.parameters, adapters) : []
  const read = (file: string, parameters: readonly Parameter[]) => [
    ...readParameters(resolveInside(folder, file), file, parameters),
  ]
  const values = new Map([...read(files.model, model.parameters), ...(adapters ? read(files.adapters, added) : [])])
  const trained = adapters ? added : model.parameters
  const optimiser = options.optimiser === false ? new Map() : readOptimiser(folder, manifest, trained)
  return { model, adapters, values, version, counters, optimiser }
}

function modelIn(folder: string, { model: { kind, configuration } }: Manifest): Model {
  const opened = openSafetensors(resolveInside(folder, files.model))
  opened.close()
  checkDepth(configuration, opened.tensors.size, files.model)
  return modelOf(kind, configuration, 'make it, createTrainer({ model }), then trainer.load(folder)')
}

/** In bytes: far more than any model needs, and little enough to parse. */
const longestManifest = 2 ** 26

function manifestText(folder: string): string {
  try {
    const path = resolveInside(folder, files.manifest)
    const found = statSync(path)
    if (!found.isFile()) throw new Error(`its ${files.manifest} is not a file`)
    if (found.size > longestManifest)
      throw new Error(`its ${files.manifest} has ${found.size} bytes, and ${longestManifest} are the most`)
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT')
      throw new Error(`there is no ${files.manifest} in it`, { cause })
    throw cause
  }
}

function checkFiles(folder: string, expected: readonly string[], sizes: Manifest['files']): void {
  const listed = Object.keys(sizes).sort().join(', ')
  const wanted = [...expected].sort().join(', ')
  if (listed !== wanted) throw new Error(`its manifest lists the files ${listed}, expected ${wanted}`)
  for (const file of expected) {
    const size = statSync(resolveInside(folder, file), { throwIfNoEntry: false })?.size
    if (size === undefined) throw new Error(`${file} is missing`)
    if (size !== sizes[file]) throw new Error(`${file} has ${size} bytes, and the manifest says ${sizes[file]}`)
  }
}

/** Exactly these parameters, of these shapes. */
function readParameters(path: string, file: string, parameters: readonly Parameter[]): Map<string, Float32Array> {
  const opened = openSafetensors(path)
  try {
    const names = new Set(parameters.map(({ name }) => name))
    for (const name of opened.tensors.keys())
      if (!names.has(name)) throw new Error(`${file} holds ${name}, which the model does not have`)
    for (const { name, shape } of parameters) {
      const tensor = opened.tensors.get(name)
      if (!tensor) throw new Error(`${file} does not hold ${name}, which the model has`)
      if (!sameShape(tensor.shape, shape))
        throw new Error(
          `${name} has shape (${tensor.shape.join(', ')}) in ${file} and (${shape.join(', ')}) in the model`,
        )
    }
    return new Map(parameters.map(({ name }) => [name, opened.read(name)]))
  } finally {
    opened.close()
  }
}

function readOptimiser(
  folder: string,
  { optimiser }: Manifest,
  trained: readonly Parameter[],
): Map<string, StateRecord> {
  const sizes = new Map(trained.map(({ name, shape }) => [name, sizeOf(shape)]))
  const opened = openSafetensors(resolveInside(folder, files.optimiser))
  try {
    const arrays = new Map(Object.keys(optimiser).map(name => [name, {} as Record<string, Float32Array>]))
    for (const name of opened.tensors.keys()) {
      const slash = name.lastIndexOf('/')
      const own = arrays.get(name.slice(0, slash))
      if (slash < 0 || !own) throw new Error(`${files.optimiser} holds ${name}, which the manifest does not mention`)
      own[name.slice(slash + 1)] = opened.read(name)
    }
    return new Map(
      Object.entries(optimiser).map(([name, record]) => {
        const size = sizes.get(name)
        if (size === undefined) throw new Error(`an optimiser remembers ${name}, which is not trained`)
        const state: StateRecord = { ...record, arrays: arrays.get(name)! }
        checkStateRecord(name, state, size)
        return [name, state]
      }),
    )
  } finally {
    opened.close()
  }
}
