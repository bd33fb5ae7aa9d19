/**
 * The frames of a `.wandb` file: LevelDB's log format behind a header of seven bytes. A run that was killed leaves a torn end, which is
 * no error; what a checksum does not confirm is passed over to the next block, as LevelDB does.
 * https://github.com/google/leveldb/blob/main/doc/log_format.md; the checksum is plain CRC-32 of type and data, not the masked CRC-32C.
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'

const blockBytes = 32_768
const headerBytes = 7
/** A run's record is a few kilobytes; one of this size is damage that looks like a frame. */
const largestRecord = 64 * 2 ** 20

export const frameTypes = { full: 1, first: 2, middle: 3, last: 4 } as const

/** `:W&B`, 0xBEE1 in little-endian, version 0. */
const fileHeader = Buffer.from([0x3a, 0x57, 0x26, 0x42, 0xe1, 0xbe, 0])

export function isWandbFile(path: string): boolean {
  try {
    return readBlock(path, block => block.subarray(0, headerBytes).equals(fileHeader))
  } catch (error) {
    // It may be one: whoever reads it says why that is not possible.
    return (error as NodeJS.ErrnoException).code === 'EACCES' && path.endsWith('.wandb')
  }
}

/** The records one after the other; returns how many places of the file were damaged, its torn end not counted. */
export function* wandbRecords(path: string): Generator<Buffer, number> {
  const file = openSync(path, 'r')
  try {
    const block = Buffer.alloc(blockBytes)
    const record = new OpenRecord()
    let damaged = 0
    for (let bytes = fill(file, block), isFirst = true; bytes > 0; bytes = fill(file, block), isFirst = false) {
      if (isFirst && !block.subarray(0, headerBytes).equals(fileHeader)) {
        throw new Error(`${path} does not begin like a .wandb file of version 0`)
      }
      for (let at = isFirst ? headerBytes : 0; at + headerBytes <= bytes; ) {
        const checksum = block.readUInt32LE(at)
        const length = block.readUInt16LE(at + 4)
        const type = block[at + 6]!
        const end = at + headerBytes + length
        // Zeros to the end of the block are padding.
        if (type === 0 && length === 0 && checksum === 0) break
        if (end > bytes && bytes < blockBytes) return damaged
        if (end > bytes || crc32(block.subarray(at + 6, end)) !== checksum) {
          damaged++
          record.drop()
          break
        }
        const whole = record.add(type, block.subarray(at + headerBytes, end))
        if (whole) yield whole
        at = end
      }
      if (bytes < blockBytes) return damaged
    }
    return damaged
  } finally {
    closeSync(file)
  }
}

/** A record that is spread over frames: a first one, any number in the middle, a last one. */
class OpenRecord {
  #pieces: Buffer[] | null = null
  #bytes = 0

  /** The record that this frame completes. A piece whose beginning is lost completes nothing. */
  add(type: number, data: Buffer): Buffer | null {
    if (type === frameTypes.full) {
      this.drop()
      return Buffer.from(data)
    }
    if (type === frameTypes.first) this.#pieces = []
    if (type === frameTypes.first) this.#bytes = 0
    if (this.#pieces === null) return null
    this.#pieces.push(Buffer.from(data))
    this.#bytes += data.length
    if (this.#bytes > largestRecord) this.drop()
    if (type !== frameTypes.last || this.#pieces === null) return null
    const whole = Buffer.concat(this.#pieces)
    this.drop()
    return whole
  }

  drop(): void {
    this.#pieces = null
  }
}

/** A read may bring less than was asked for; only the end of the file makes a block short. */
function fill(file: number, block: Buffer): number {
  let bytes = 0
  while (bytes < block.length) {
    const more = readSync(file, block, bytes, block.length - bytes, null)
    if (more === 0) break
    bytes += more
  }
  return bytes
}

function readBlock<Value>(path: string, read: (block: Buffer) => Value): Value {
  const file = openSync(path, 'r')
  try {
    const block = Buffer.alloc(headerBytes)
    return read(block.subarray(0, fill(file, block)))
  } finally {
    closeSync(file)
  }
}
