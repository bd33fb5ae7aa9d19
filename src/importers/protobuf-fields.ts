/**
 * The fields of a protocol buffer message, by number, without its schema: what the few records that we read need, no more.
 * https://protobuf.dev/programming-guides/encoding/
 */

/** Varints and fixed numbers by their bits, as bigint; texts, bytes and messages as bytes. */
export interface ProtobufField {
  readonly number: number
  readonly bits: bigint
  readonly bytes: Buffer
}

const nothing = Buffer.alloc(0)

/** In the order in which they were written. Throws where the message ends within a field, or has a wire type of old. */
export function* protobufFields(message: Buffer): Generator<ProtobufField> {
  let at = 0
  const varint = (): bigint => {
    // Most are a byte: tags, lengths, small numbers.
    const first = message[at]
    if (first !== undefined && first < 0x80) {
      at++
      return BigInt(first)
    }
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[at++]
      if (byte === undefined) break
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw new Error('a protocol buffer message ends within a number')
  }
  const take = (length: number): Buffer => {
    if (at + length > message.length) throw new Error('a protocol buffer message ends within a field')
    at += length
    return message.subarray(at - length, at)
  }
  while (at < message.length) {
    const tag = varint()
    const number = Number(tag >> 3n)
    const wireType = Number(tag & 7n)
    if (wireType === 0) yield { number, bits: varint(), bytes: nothing }
    else if (wireType === 1) yield { number, bits: take(8).readBigUInt64LE(), bytes: nothing }
    else if (wireType === 2) yield { number, bits: 0n, bytes: take(Number(varint())) }
    else if (wireType === 5) yield { number, bits: BigInt(take(4).readUInt32LE()), bytes: nothing }
    else throw new Error(`a protocol buffer message has wire type ${wireType}`)
  }
}

export function textOf(field: ProtobufField): string {
  return field.bytes.toString('utf8')
}

/** int32, int64 and enumerations. */
export function integerOf(field: ProtobufField): number {
  return Number(BigInt.asIntN(64, field.bits))
}

/** sint64: small numbers of either sign are short. */
export function zigzagOf(field: ProtobufField): number {
  return Number((field.bits >> 1n) ^ -(field.bits & 1n))
}

export function doubleOf(field: ProtobufField): number {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(field.bits)
  return bytes.readDoubleLE()
}
