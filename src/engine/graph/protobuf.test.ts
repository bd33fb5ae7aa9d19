/**
 * Messages are what the specification's own examples say, byte by byte.
 */
import { expect, it } from 'vitest'
import { ProtobufWriter } from './protobuf.ts'

const hexadecimal = (writer: ProtobufWriter) => Buffer.from(writer.finish()).toString('hex')

it('writes the examples of the protocol buffer encoding guide', () => {
  expect(hexadecimal(new ProtobufWriter().integer(1, 150))).toBe('089601')
  expect(hexadecimal(new ProtobufWriter().string(2, 'testing'))).toBe('120774657374696e67')
  expect(hexadecimal(new ProtobufWriter().message(3, new ProtobufWriter().integer(1, 150)))).toBe('1a03089601')
  expect(hexadecimal(new ProtobufWriter().float(1, 1))).toBe('0d0000803f')
})

it('writes numbers beyond 32 bits and fields beyond 15, and refuses what is not a whole number', () => {
  expect(hexadecimal(new ProtobufWriter().integer(1, 2 ** 35))).toBe('08808080808001')
  expect(hexadecimal(new ProtobufWriter().integer(20, 2))).toBe('a00102')
  expect(() => new ProtobufWriter().integer(1, -1)).toThrow('-1 is not a whole number')
})
