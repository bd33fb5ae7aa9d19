/**
 * The safetensors files of a published model: one, or several with an index that says which tensor is in which.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { openSafetensors, type SafetensorsFile } from '../checkpoints/safetensors.ts'

export interface PublishedWeights {
  readonly names: ReadonlySet<string>
  /** Throws a sentence for one that is not there. */
  file(name: string): SafetensorsFile
  close(): void
}

const indexSchema = z.looseObject({ weight_map: z.record(z.string(), z.string()) })

/** Throws a sentence where the weights are not there, in no file that can be read, or not where the index says. */
export function openWeights(folder: string): PublishedWeights {
  const single = join(folder, 'model.safetensors')
  const index = join(folder, 'model.safetensors.index.json')
  if (existsSync(single)) {
    const file = openSafetensors(single)
    return weightsIn(new Map([...file.tensors.keys()].map(name => [name, file])))
  }
  if (!existsSync(index))
    throw new Error(
      'it has neither model.safetensors nor model.safetensors.index.json; weights in other formats cannot be read',
    )
  return weightsIn(sharded(folder, readFileSync(index, 'utf8')))
}

function weightsIn(files: ReadonlyMap<string, SafetensorsFile>): PublishedWeights {
  return {
    names: new Set(files.keys()),
    file(name) {
      const file = files.get(name)
      if (!file) throw new Error(`it has no tensor ${name}, which its configuration needs`)
      return file
    },
    close() {
      for (const file of new Set(files.values())) file.close()
    },
  }
}

function sharded(folder: string, text: string): Map<string, SafetensorsFile> {
  const shards = new Map<string, SafetensorsFile>()
  try {
    const parsed = indexSchema.safeParse(JSON.parse(text))
    if (!parsed.success) throw new Error('its model.safetensors.index.json has no weight_map from names to files')
    const files = new Map<string, SafetensorsFile>()
    for (const [name, shard] of Object.entries(parsed.data.weight_map)) {
      // The index came from outside: only plain names beside it, no way out of the folder.
      if (!/^[A-Za-z0-9][\w.-]*\.safetensors$/.test(shard))
        throw new Error(`its index names the file ${JSON.stringify(shard)}: expected a safetensors file beside it`)
      const file = shards.get(shard) ?? openSafetensors(join(folder, shard))
      shards.set(shard, file)
      if (!file.tensors.has(name)) throw new Error(`its index has ${name} in ${shard}, and it is not there`)
      files.set(name, file)
    }
    return files
  } catch (error) {
    for (const file of shards.values()) file.close()
    if (error instanceof SyntaxError) throw new Error('its model.safetensors.index.json is not JSON', { cause: error })
    throw error
  }
}
