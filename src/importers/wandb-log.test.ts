import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { framed, items, message, recordsOf, type WrittenRun, writeLog } from './fixtures/wandb.ts'
import { protobufFields } from './protobuf-fields.ts'
import { isWandbFile, wandbRecords } from './wandb-frames.ts'
import { readWandbLog } from './wandb-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'almanac-wandb-'))
afterAll(() => rmSync(folder, { recursive: true }))
const path = join(folder, 'run-x.wandb')

function read(bytes: Uint8Array): { records: Buffer[]; damaged: number } {
  writeFileSync(path, bytes)
  const iterator = wandbRecords(path)
  const records: Buffer[] = []
  for (let next = iterator.next(); ; next = iterator.next()) {
    if (next.done) return { records, damaged: next.value }
    records.push(next.value)
  }
}

const record = fc
  .tuple(fc.constantFrom(0, 1, 5, 60, 7000, 32_747, 32_754, 32_755, 40_000, 70_000), fc.nat(255))
  .map(([length, byte]) => Buffer.alloc(length, byte))
const records = fc.array(record, { minLength: 1, maxLength: 6 })

describe('the frames of a .wandb file', () => {
  test('give back every record, however it lies across blocks', () => {
    fc.assert(
      fc.property(records, written => {
        expect(read(framed(written))).toEqual({ records: written, damaged: 0 })
      }),
      { numRuns: 40 },
    )
  })

  test('a torn end costs the last record and is no damage', () => {
    fc.assert(
      fc.property(records, fc.double({ min: 0, max: 1, noNaN: true }), (written, share) => {
        const bytes = framed(written)
        const torn = bytes.subarray(0, 7 + Math.floor(share * (bytes.length - 7)))
        const { records: found, damaged } = read(torn)
        expect(damaged).toBe(0)
        expect(found).toEqual(written.slice(0, found.length))
      }),
      { numRuns: 40 },
    )
  })

  test('a damaged byte costs records of its block, and never makes one up', () => {
    fc.assert(
      fc.property(records, fc.nat(), fc.integer({ min: 1, max: 255 }), (written, at, change) => {
        const bytes = framed(written)
        bytes[7 + (at % (bytes.length - 7))]! ^= change
        const texts = written.map(each => each.toString('latin1'))
        for (const found of read(bytes).records) expect(texts).toContain(found.toString('latin1'))
      }),
      { numRuns: 60 },
    )
    const damaged = framed([Buffer.alloc(40_000, 1), Buffer.alloc(10, 2)])
    damaged[100]! ^= 1
    expect(read(damaged)).toEqual({ records: [Buffer.alloc(10, 2)], damaged: 1 })
  })

  test('a record that has no end is dropped where the next begins', () => {
    const block = 32_768
    const begun = framed([Buffer.alloc(40_000, 1)]).subarray(0, block)
    const whole = Buffer.alloc(40_000, 2)
    const next = framed([Buffer.alloc(block - 14), whole]).subarray(block)
    expect(read(Buffer.concat([begun, next]))).toEqual({ records: [whole], damaged: 0 })
  })

  test('another file, or another version, is none', () => {
    writeFileSync(path, 'something else')
    expect(isWandbFile(path)).toBe(false)
    expect(isWandbFile(join(folder, 'nowhere.wandb'))).toBe(false)
    expect(() => read(Buffer.from('something else'))).toThrow('does not begin like a .wandb file of version 0')
    writeFileSync(path, framed([]))
    expect(isWandbFile(path)).toBe(true)
  })
})

test('fields of a protocol buffer message, of every wire type', () => {
  const bytes = Buffer.concat([
    message([1, 300], [2, -1], [16, 'é'], [3, { double: 0.5 }]),
    Buffer.of(0x25, 1, 2, 0, 0),
  ])
  const fields = [...protobufFields(bytes)].map(({ number, bits, bytes }) => [number, bits, bytes.toString()])
  expect(fields).toEqual([
    [1, 300n, ''],
    [2, 2n ** 64n - 1n, ''],
    [16, 0n, 'é'],
    [3, 0x3fe0000000000000n, ''],
    [4, 513n, ''],
  ])
  expect(() => [...protobufFields(bytes.subarray(0, -1))]).toThrow('ends within a field')
  expect(() => [...protobufFields(Buffer.of(0x0b))]).toThrow('wire type 3')
  expect(() => [...protobufFields(Buffer.of(0x80))]).toThrow('ends within a number')
})

const hour = 3_600_000
const log = (run: WrittenRun, now = Date.now() + hour) => {
  writeLog(path, run)
  return readWandbLog(path, false, now)!.run
}

describe('the log of a run', () => {
  test('has its configuration, changed and taken away later', () => {
    const { config } = log({
      id: 'x',
      config: { lr: '0.1', model: '{"depth":2,"width":8}', gone: '1' },
      more: [message([5, message(...items(1, { 'model depth': '4', late: '[1,2]' }), ...items(2, { gone: '0' }))])],
    })
    expect(config).toEqual({ lr: 0.1, model: { depth: 4, width: 8 }, late: [1, 2] })
  })

  test('has the last, lowest and highest of what was logged, and the summary', () => {
    const run = log({
      id: 'x',
      history: [{ loss: '0.5', 'eval acc': '0.1' }, { loss: '0.2' }, { loss: '0.3', bad: 'NaN' }, { bad: '-Infinity' }],
      summary: { best: '0.15', 'loss min': '0.2', picture: '{"_type":"image-file","size":3}' },
    })
    expect(run.history.get('loss')).toEqual({ last: 0.3, min: 0.2, max: 0.5 })
    expect(run.history.get('eval.acc')).toEqual({ last: 0.1, min: 0.1, max: 0.1 })
    expect(run.history.get('bad')).toEqual({ last: -Infinity, min: null, max: null })
    expect(Object.fromEntries(run.summary)).toEqual({ best: 0.15, 'loss.min': 0.2 })
  })

  test('has values by their types, as new writers put them', () => {
    const typed = (name: string, field: number, value: number | { double: number }) =>
      [1, message([2, name], [field, value])] as const
    const { history } = log({
      id: 'x',
      more: [message([2, message(typed('a', 5, 7), typed('b', 6, { double: 0.25 }), typed('c', 4, 1))])],
    })
    expect([...history.keys()]).toEqual(['a', 'b'])
    expect([history.get('a')!.last, history.get('b')!.last]).toEqual([-4, 0.25])
  })

  test('says when, on which commit, with which goal, and how it ended', () => {
    const more = [
      message([12, message([1, 'loss'], [8, 1], [7, message([2, 0], [5, 1])])]),
      message([12, message([1, 'acc'], [7, message([2, 1])])]),
    ]
    expect(log({ id: 'x7', history: [{ loss: '1' }, { loss: '2' }], more, notes: 'why', tags: ['one'] })).toMatchObject(
      {
        id: 'x7',
        project: 'bread',
        name: 'run of x7',
        notes: 'why',
        tags: ['one'],
        state: 'finished',
        exitCode: 0,
        startedAt: 1_700_000_000_500,
        seconds: 7,
        commit: 'c0ffee0',
        goals: new Map([['loss', 'minimize']]),
        summaries: new Map([['acc', 'max']]),
        personal: null,
      },
    )
    expect(log({ id: 'x', exit: 255 })).toMatchObject({ state: 'failed', exitCode: 255 })
    expect(log({ id: 'x', exit: -9 })).toMatchObject({ state: 'failed', exitCode: -9 })
    expect(log({ id: 'x', exit: null, more: [message([23, ''])] })).toMatchObject({ state: 'preempted' })
  })

  test('without an exit is that of a run which was killed, or still runs while it is written', () => {
    expect(log({ id: 'x', exit: null })).toMatchObject({ state: 'crashed', exitCode: null })
    utimesSync(path, new Date(), new Date())
    expect(readWandbLog(path, false)!.run.state).toBe('running')
  })

  test('which is torn before it says whose it is, is no run; a record that cannot be read is counted', () => {
    writeFileSync(path, framed(recordsOf({ id: 'x' }).slice(0, 1)))
    expect(readWandbLog(path, false)).toBeNull()
    const broken = message([2, Buffer.of(0x0a, 0x7f, 1)])
    writeFileSync(path, framed([...recordsOf({ id: 'x', history: [{ loss: '1' }] }), broken]))
    expect(readWandbLog(path, false)).toMatchObject({ damaged: 1, run: { state: 'finished' } })
  })

  test('with a path of a hundred thousand steps loses that record alone', () => {
    const deep = Array.from({ length: 100_000 }, () => 'a').join(' ')
    writeLog(path, { id: 'deep', config: { lr: '1' }, summary: { [deep]: '1' }, history: [{ loss: '2' }] })
    const log = readWandbLog(path, false)!
    expect(log.damaged).toBe(1)
    expect(log.run.config).toMatchObject({ lr: 1 })
    expect(log.run.history.get('loss')!.last).toBe(2)
  })

  test('says nothing of who, where and with which arguments, unless asked', () => {
    writeLog(path, { id: 'x' })
    const said = (keepPersonal: boolean) => JSON.stringify(readWandbLog(path, keepPersonal))
    expect(said(false)).not.toMatch(/ada|laptop|example\.org|secret-argument|home/)
    expect(said(true)).toContain(
      'host: adas-laptop; argument: --secret-argument; program: /home/ada/train.py; e-mail: ada@example.org; user: ada',
    )
  })
})
