/**
 * The header of a safetensors file: what it says about each tensor, checked against the format's rules (huggingface/safetensors,
 * README and `SafeTensors::read_metadata`). A file may come from anywhere, so everything in it is doubted.
 */
import { type ElementType, elementSizes } from './element-types.ts'
import { repeatedKey } from './repeated-key.ts'

export interface TensorEntry {
  readonly type: ElementType
  readonly shape: readonly number[]
  /** First byte and the one behind the last, counted from the start of the data. */
  readonly start: number
  readonly end: number
}

export interface SafetensorsHeader {
  /** By name, in the order of the data. */
  readonly tensors: ReadonlyMap<string, TensorEntry>
  readonly metadata: Readonly<Record<string, string>>
}

/** As the reference implementation has it: an attacker's file should not make us parse gigabytes. */
const longestHeader = 100_000_000

/** The length of the header, which stands in the file's first eight bytes. `fileSize`: of the whole file, in bytes. */
export function headerLength(firstBytes: Uint8Array, fileSize: number): number {
  if (firstBytes.length < 8) throw new Error(`it has ${firstBytes.length} bytes, and a header alone takes more`)
  const length = new DataView(firstBytes.buffer, firstBytes.byteOffset).getBigUint64(0, true)
  if (length > longestHeader)
    throw new Error(`its header claims to be ${length} bytes long, and ${longestHeader} are the most`)
  if (length > fileSize - 8)
    throw new Error(
      `its header claims to be ${length} bytes long, and ${fileSize - 8} bytes are there; it is cut short`,
    )
  return Number(length)
}

/** `dataSize`: bytes of the file behind the header. */
export function parseHeader(bytes: Uint8Array, dataSize: number): SafetensorsHeader {
  const { __metadata__: metadata = {}, ...tensors } = parsedObject(bytes)
  if (!isRecord(metadata) || Object.values(metadata).some(value => typeof value !== 'string'))
    throw new Error('its __metadata__ is not a map from text to text')
  const entries = Object.entries(tensors).map(([name, entry]) => [name, tensorEntry(name, entry)] as const)
  // Empty tensors first: they take no place between those that begin where they stand.
  entries.sort(([, a], [, b]) => a.start - b.start || a.end - b.end)
  let covered = 0
  for (const [name, { start, end }] of entries) {
    if (start !== covered)
      throw new Error(
        `its tensor ${name} begins at byte ${start} of the data and the one before ends at ${covered}: ` +
          'there must be no gap and no overlap',
      )
    covered = end
  }
  if (covered !== dataSize)
    throw new Error(
      covered > dataSize
        ? `its header lists ${covered} bytes of data, and ${dataSize} are there; it is cut short`
        : `its header lists ${covered} bytes of data, and ${dataSize} are there`,
    )
  return { tensors: new Map(entries), metadata: metadata as Record<string, string> }
}

function parsedObject(bytes: Uint8Array): Record<string, unknown> {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new Error('its header is not UTF-8 text', { cause })
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (cause) {
    throw new Error('its header is not JSON', { cause })
  }
  if (!isRecord(parsed) || !text.startsWith('{')) throw new Error('its header is not a JSON object')
  const repeated = repeatedKey(text)
  if (repeated !== null) throw new Error(`its header has the name ${JSON.stringify(repeated)} twice`)
  return parsed
}

function tensorEntry(name: string, entry: unknown): TensorEntry {
  const refuse = (problem: string) => new Error(`its tensor ${name} ${problem}`)
  if (!isRecord(entry)) throw refuse('is not described by an object')
  const { dtype, shape, data_offsets: offsets, ...others } = entry
  const unknown = Object.keys(others)[0]
  if (unknown !== undefined) throw refuse(`has a field ${unknown}, which the format does not know`)
  if (typeof dtype !== 'string' || !Object.hasOwn(elementSizes, dtype))
    throw refuse(`is of type ${JSON.stringify(dtype)}: ${Object.keys(elementSizes).join(', ')} can be read`)
  if (!Array.isArray(shape) || !shape.every(isCount)) throw refuse('has a shape that is not a list of whole numbers')
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount))
    throw refuse('has data_offsets that are not two whole numbers from 0 on')
  const [start, end] = offsets as [number, number]
  const size = shape.reduce((product, length) => product * length, elementSizes[dtype as ElementType])
  // Also where the product is too large to be exact: no file has offsets that far apart.
  if (end - start !== size)
    throw refuse(`takes ${end - start} bytes, and ${dtype} of shape (${shape.join(', ')}) takes ${size}`)
  return { type: dtype as ElementType, shape: shape as number[], start, end }
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
