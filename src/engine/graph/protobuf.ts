/**
 * Writes protocol buffer messages (proto3 wire format): the little of it that an ONNX file needs.
 */

/** One message under construction. Field numbers come from the schema; fields may be written in any order. */
export class ProtobufWriter {
  readonly #chunks: Uint8Array[] = []

  /** A whole number from 0 to 2^53 - 1. */
  integer(field: number, value: number): this {
    this.#varint(field << 3)
    this.#varint(value)
    return this
  }

  float(field: number, value: number): this {
    this.#varint((field << 3) | 5)
    const bytes = new Uint8Array(4)
    new DataView(bytes.buffer).setFloat32(0, value, true)
    this.#chunks.push(bytes)
    return this
  }

  string(field: number, value: string): this {
    return this.bytes(field, new TextEncoder().encode(value))
  }

  message(field: number, value: ProtobufWriter): this {
    return this.bytes(field, value.finish())
  }

  bytes(field: number, value: Uint8Array): this {
    this.#varint((field << 3) | 2)
    this.#varint(value.byteLength)
    this.#chunks.push(value)
    return this
  }

  finish(): Uint8Array {
    const size = this.#chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)
    const result = new Uint8Array(size)
    let offset = 0
    for (const chunk of this.#chunks) {
      result.set(chunk, offset)
      offset += chunk.byteLength
    }
    return result
  }

  /** Seven bits a byte, lowest first. Division, not shifts: values may exceed 32 bits. */
  #varint(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0)
      throw new Error(`ProtobufWriter: ${value} is not a whole number from 0 to 2^53 - 1`)
    const bytes: number[] = []
    let rest = value
    while (rest >= 128) {
      bytes.push((rest % 128) + 128)
      rest = Math.floor(rest / 128)
    }
    bytes.push(rest)
    this.#chunks.push(Uint8Array.from(bytes))
  }
}
