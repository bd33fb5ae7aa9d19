/**
 * The number types of safetensors files, and how they become single-precision numbers. All are little-endian.
 */

export type ElementType =
  | 'F64'
  | 'F32'
  | 'F16'
  | 'BF16'
  | 'I64'
  | 'I32'
  | 'I16'
  | 'I8'
  | 'U64'
  | 'U32'
  | 'U16'
  | 'U8'
  | 'BOOL'

/** Bytes of one element. */
export const elementSizes: Readonly<Record<ElementType, number>> = {
  F64: 8,
  F32: 4,
  F16: 2,
  BF16: 2,
  I64: 8,
  I32: 4,
  I16: 2,
  I8: 1,
  U64: 8,
  U32: 4,
  U16: 2,
  U8: 1,
  BOOL: 1,
}

/** Rounds to the nearest where single precision cannot hold a number. `bytes` must begin at a multiple of the element's size. */
export function toFloat32(type: ElementType, bytes: Uint8Array): Float32Array {
  const { buffer, byteOffset } = bytes
  const count = bytes.length / elementSizes[type]
  switch (type) {
    case 'F64':
      return Float32Array.from(new Float64Array(buffer, byteOffset, count))
    case 'F32':
      return new Float32Array(buffer, byteOffset, count)
    case 'F16':
      return halves(new Uint16Array(buffer, byteOffset, count))
    case 'BF16':
      return upperHalves(new Uint16Array(buffer, byteOffset, count))
    case 'I64':
      return Float32Array.from(new BigInt64Array(buffer, byteOffset, count), Number)
    case 'I32':
      return Float32Array.from(new Int32Array(buffer, byteOffset, count))
    case 'I16':
      return Float32Array.from(new Int16Array(buffer, byteOffset, count))
    case 'I8':
      return Float32Array.from(new Int8Array(buffer, byteOffset, count))
    case 'U64':
      return Float32Array.from(new BigUint64Array(buffer, byteOffset, count), Number)
    case 'U32':
      return Float32Array.from(new Uint32Array(buffer, byteOffset, count))
    case 'U16':
      return Float32Array.from(new Uint16Array(buffer, byteOffset, count))
    case 'U8':
    case 'BOOL':
      return Float32Array.from(bytes)
  }
}

/** A bfloat16 number is the upper half of the bits of a single one. */
function upperHalves(halfWords: Uint16Array): Float32Array {
  const words = new Uint32Array(halfWords.length)
  for (let index = 0; index < words.length; index++) words[index] = halfWords[index]! << 16
  return new Float32Array(words.buffer)
}

/** IEEE 754 binary16: a sign, 5 bits of exponent with bias 15, 10 bits of fraction. */
function halves(halfWords: Uint16Array): Float32Array {
  const result = new Float32Array(halfWords.length)
  for (let index = 0; index < result.length; index++) {
    const word = halfWords[index]!
    const exponent = (word >>> 10) & 31
    const fraction = word & 1023
    const size =
      exponent === 31
        ? fraction === 0
          ? Number.POSITIVE_INFINITY
          : Number.NaN
        : exponent === 0
          ? fraction * 2 ** -24
          : (1024 + fraction) * 2 ** (exponent - 25)
    result[index] = word >= 0x8000 ? -size : size
  }
  return result
}
