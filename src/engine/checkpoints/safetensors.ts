/**
 * Reads and writes safetensors files: named arrays of numbers behind a small header, which is all that has to be read to know
 * what is there. Reading takes the number types that checkpoints are published in; writing is in single precision.
 */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { elementSizes, toFloat32 } from './element-types.ts'
import { headerLength, parseHeader, type SafetensorsHeader, type TensorEntry } from './safetensors-header.ts'

export interface SafetensorsFile {
  /** Names, types and shapes, in the order of the data. */
  readonly tensors: ReadonlyMap<string, Pick<TensorEntry, 'type' | 'shape'>>
  readonly metadata: Readonly<Record<string, string>>
  /** Reads one tensor, in single precision; a new array each time. */
  read(name: string): Float32Array
  close(): void
}

/** Opens a file and reads its header; the data are read tensor by tensor. Throws one sentence for a file that breaks a rule of the format. */
export function openSafetensors(path: string): SafetensorsFile {
  // Opening a pipe would wait for whoever writes to it.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw new Error(`${path} is not a safetensors file that can be read: it is not a file`)
  const descriptor = openSync(path, 'r')
  try {
    const { size } = fstatSync(descriptor)
    const length = headerLength(readBytes(descriptor, 0, Math.min(8, size)), size)
    const header = parseHeader(readBytes(descriptor, 8, length), size - 8 - length)
    return openFile(path, descriptor, header, 8 + length)
  } catch (error) {
    closeSync(descriptor)
    throw new Error(`${path} is not a safetensors file that can be read: ${(error as Error).message}`, { cause: error })
  }
}

function openFile(
  path: string,
  descriptor: number,
  { tensors, metadata }: SafetensorsHeader,
  dataStart: number,
): SafetensorsFile {
  let open = true
  return {
    tensors,
    metadata,
    read(name) {
      if (!open) throw new Error(`${path} was closed before its tensor ${name} was read`)
      const entry = tensors.get(name)
      if (!entry) throw new Error(`${path} has no tensor ${name}`)
      try {
        return toFloat32(entry.type, readBytes(descriptor, dataStart + entry.start, entry.end - entry.start))
      } catch (error) {
        throw new Error(`the tensor ${name} of ${path} cannot be read: ${(error as Error).message}`, { cause: error })
      }
    },
    close() {
      if (open) closeSync(descriptor)
      open = false
    },
  }
}

/** Most bytes that one call of the system reads or writes at once, on every system. */
const largestPiece = 2 ** 30

function readBytes(descriptor: number, position: number, count: number): Uint8Array {
  const bytes = new Uint8Array(count)
  for (let done = 0; done < count; ) {
    const read = readSync(descriptor, bytes, done, Math.min(count - done, largestPiece), position + done)
    if (read === 0) throw new Error(`the file ends ${count - done} bytes too early`)
    done += read
  }
  return bytes
}

export interface TensorToWrite {
  readonly shape: readonly number[]
  readonly values: Float32Array
}

/**
 * Writes a new file, through to the disk. Tensors come in the order of their names and the data begin at a multiple of 8 bytes,
 * so that the same tensors always give the same bytes. An existing file is refused.
 */
export function writeSafetensors(
  path: string,
  tensors: ReadonlyMap<string, TensorToWrite>,
  metadata: Readonly<Record<string, string>> = {},
): void {
  const names = [...tensors.keys()].sort()
  const entries: [string, unknown][] = []
  if (Object.keys(metadata).length > 0)
    entries.push(['__metadata__', Object.fromEntries(Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1)))])
  let start = 0
  for (const name of names) {
    const { shape, values } = tensors.get(name)!
    if (name === '__metadata__') throw new Error('writeSafetensors: no tensor can be called __metadata__')
    const size = shape.reduce((product, length) => product * length, 1)
    if (size !== values.length)
      throw new Error(
        `writeSafetensors: ${name} has ${values.length} values, and shape (${shape.join(', ')}) has ${size}`,
      )
    const end = start + size * elementSizes.F32
    entries.push([name, { dtype: 'F32', shape, data_offsets: [start, end] }])
    start = end
  }
  const text = Buffer.from(JSON.stringify(Object.fromEntries(entries)))
  const header = Buffer.alloc(8 + Math.ceil(text.length / 8) * 8, ' ')
  header.writeBigUInt64LE(BigInt(header.length - 8))
  text.copy(header, 8)

  const descriptor = openSync(path, 'wx')
  try {
    writeBytes(descriptor, header)
    for (const name of names) {
      const { buffer, byteOffset, byteLength } = tensors.get(name)!.values
      writeBytes(descriptor, new Uint8Array(buffer, byteOffset, byteLength))
    }
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function writeBytes(descriptor: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(descriptor, bytes, done, Math.min(bytes.length - done, largestPiece))
}
