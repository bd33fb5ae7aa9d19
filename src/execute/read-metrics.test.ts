import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import type { MetricSource } from '../experiment/environment.ts'
import { lastComplaint, lastLine } from './log-lines.ts'
import { readMetrics } from './read-metrics.ts'

const folders = mkdtempSync(join(tmpdir(), 'almanac-metrics-'))
afterAll(() => rmSync(folders, { recursive: true, force: true }))

function folderWith(files: Record<string, string | Buffer>) {
  const folder = mkdtempSync(join(folders, 'run-'))
  mkdirSync(join(folder, 'out'))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return folder
}

function readingIn(folder: string, read: MetricSource) {
  const metrics = [
    { name: 'm', direction: 'minimize', read } as const,
    { name: 'imported', direction: 'minimize' } as const,
  ]
  const readings = readMetrics({ metrics, folder, out: join(folder, 'out') })
  expect(Object.keys(readings)).toEqual(['m'])
  return readings['m']
}

const readJson = (text: string | Buffer, path: string) =>
  readingIn(folderWith({ 'out/metrics.json': text }), { file: 'metrics.json', path })

const missing = (why: RegExp) => ({ kind: 'missing', why: expect.stringMatching(why) })

describe('a JSON file', () => {
  test.each([
    ['{"loss": 0.5}', 'loss', 0.5],
    ['{"eval": {"loss": [3, 2, 1e-2]}}', 'eval.loss.2', 0.01],
    ['{"curve": [{"loss": 3}, {"loss": -2}]}', 'curve.-1.loss', -2],
    ['{"eval.loss": 4, "eval": {"bpb": 5}}', 'eval.loss', 4],
    ['{"a": {"eval/loss": "1.25"}}', 'a.eval/loss', 1.25],
    ['7', '', 7],
    ['\uFEFF{"loss": 1}\n', 'loss', 1],
    ['{"note": "NaN \\"Infinity", "other": NaN, "loss": 2}', 'loss', 2],
  ])('%s at %j', (text, path, value) => {
    expect(readJson(text, path)).toEqual({ kind: 'number', value })
  })

  test.each(['NaN', 'Infinity', '-Infinity', '"NaN"', '"inf"', '"-Infinity"', '1e999', 'null'])(
    '%s is not finite',
    text => {
      expect(readJson(`{"loss": ${text}}`, 'loss')).toMatchObject({ kind: 'not finite' })
      expect(readJson(`{"curve": [${text}]}`, 'curve.0')).toMatchObject({ kind: 'not finite' })
    },
  )

  test('what is not there, or no number, is missing with the reason', () => {
    expect(readJson('{"loss": 1}', 'lss')).toEqual(missing(/metrics\.json has nothing at lss/))
    expect(readJson('{"loss": [1]}', 'loss.1')).toEqual(missing(/nothing at loss\.1/))
    expect(readJson('{"loss": {"a": 1}}', 'loss')).toEqual(missing(/has \{"a":1\} at loss, which is not a number/))
    expect(readJson('{"loss": "n/a"}', 'loss')).toEqual(missing(/has "n\/a" at loss/))
    expect(readJson('{"loss": true}', 'loss')).toEqual(missing(/has true at loss/))
    expect(readJson('{}', 'constructor.name')).toEqual(missing(/nothing at/))
    expect(readJson('{"loss": 1', 'loss')).toEqual(missing(/metrics\.json is not JSON/))
    expect(readJson(Buffer.from([0, 255, 254, 1, 2]), 'loss')).toEqual(missing(/is not JSON/))
    expect(readJson('', 'loss')).toEqual(missing(/is not JSON/))
  })

  test('no file, a folder, or a path that leaves is missing with the reason', () => {
    const folder = folderWith({ 'secret.json': '{"loss": 1}' })
    mkdirSync(join(folder, 'out', 'folder.json'))
    symlinkSync('../secret.json', join(folder, 'out', 'link.json'))
    const read = (file: string) => readingIn(folder, { file, path: 'loss' })
    expect(read('metrics.json')).toEqual(missing(/the run wrote no metrics\.json/))
    expect(read('folder.json')).toEqual(missing(/folder\.json is not a file/))
    expect(read('../secret.json')).toEqual(missing(/cannot be read: .*\.\./))
    expect(read('link.json')).toEqual(missing(/cannot be read: .*symbolic link/))
  })

  test('any bytes at all give a reading', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), bytes => {
        expect(readJson(Buffer.from(bytes), 'loss')).toHaveProperty('kind')
      }),
      { numRuns: 50 },
    )
  })
})

describe('a pattern', () => {
  const read = (stdout: string | Buffer, pattern = '^val_bpb:\\s+(\\S+)', stderr = '') =>
    readingIn(folderWith({ 'stdout.log': stdout, 'stderr.log': stderr }), { pattern })

  test('gives the first group of its last match', () => {
    expect(read('val_bpb: 2.5\nval_bpb:   0.9979\ntrain_bpb: 1\n')).toEqual({ kind: 'number', value: 0.9979 })
    expect(read('loss 1 loss 2\nloss 3 loss 4', 'loss (\\d)')).toEqual({ kind: 'number', value: 4 })
    expect(read('val_bpb: 1e-3')).toEqual({ kind: 'number', value: 0.001 })
    expect(read('val_bpb: -.5\r\nbye\r\n')).toEqual({ kind: 'number', value: -0.5 })
  })

  test('reads progress bars and colours', () => {
    expect(read('\rval_bpb: 3.0 \rval_bpb: \x1b[32m2.0\x1b[0m \r\x1b[K', 'val_bpb: ([\\d.]+)')).toEqual({
      kind: 'number',
      value: 2,
    })
  })

  test('is looked for in the errors when the output has none', () => {
    expect(read('nothing', undefined, 'val_bpb: 4')).toEqual({ kind: 'number', value: 4 })
    expect(read('val_bpb: 3', undefined, 'val_bpb: 4')).toEqual({ kind: 'number', value: 3 })
  })

  test.each(['nan', 'NaN', 'inf', '-inf', '+Infinity'])('%s is not finite', word => {
    expect(read(`val_bpb: 1\nval_bpb: ${word}\n`)).toEqual({ kind: 'not finite', text: word })
  })

  test('that cannot be used is missing with the reason', () => {
    expect(read('loss 1')).toEqual(missing(/no line of the output matches/))
    expect(read('', '(')).toEqual(missing(/is not a regular expression/))
    expect(read('loss 1', 'loss \\d')).toEqual(missing(/has no group in parentheses/))
    expect(read('val_bpb: N/A')).toEqual(missing(/in stdout\.log gives "N\/A", which is not a number/))
    expect(readingIn(folderWith({}), { pattern: '(x)' })).toEqual(missing(/no line/))
  })

  test('that would take for ever is given up', () => {
    expect(read(`${'a'.repeat(60)}b`, '^(a+)+$')).toEqual(missing(/takes too long on the output/))
  }, 30_000)

  test('finds a line anywhere in a long log, whatever lies at the borders of blocks', () => {
    const line = 'é'.repeat(500)
    const filler = `${line}\n`.repeat(3000)
    expect(read(`${filler}val_bpb: 0.75\n${filler}`)).toEqual({ kind: 'number', value: 0.75 })
    expect(read(`val_bpb: 0.5\n${'x'.repeat(3 * 2 ** 20)}`)).toEqual({ kind: 'number', value: 0.5 })
    expect(read(`${'x'.repeat(3 * 2 ** 20)} é=0.25`, 'é=([\\d.]+)')).toEqual({ kind: 'number', value: 0.25 })
    expect(read(Buffer.concat([Buffer.from([255, 254, 10]), Buffer.from('val_bpb: 6')]))).toEqual({
      kind: 'number',
      value: 6,
    })
  })

  test('in lines of any length gives what a search of the whole text gives', () => {
    const piece = fc.oneof(
      fc.integer({ min: 0, max: 999 }).map(value => `v=${value}`),
      fc.constantFrom('\n', '\n', ' ', 'text', 'é'),
      fc.integer({ min: 1, max: 9000 }).map(length => '.'.repeat(length)),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 300 }), pieces => {
        const text = pieces.join('')
        const last = [...text.matchAll(/v=(\d+)/g)].at(-1)
        fc.pre(text.split('\n').every(line => line.length < 2 ** 14))
        expect(read(text, 'v=(\\d+)')).toMatchObject(
          last ? { kind: 'number', value: Number(last[1]) } : { kind: 'missing' },
        )
      }),
      { numRuns: 40 },
    )
  })
})

test('what went wrong is the last line that names an error, or else the last line', () => {
  const folder = folderWith({
    python: 'Traceback:\n  x\nValueError: no\n',
    node: 'file.js:1\n\nTypeError: x is no function\n    at a (b:1:2)\n\nNode.js v24.21.0\n',
    memory: 'RuntimeError: first\nMemoryError\n',
    plain: 'loading\nno such layer\n',
  })
  const said = (name: string) => lastComplaint(join(folder, name))
  expect([said('python'), said('node'), said('memory'), said('plain'), said('none')]).toEqual([
    'ValueError: no',
    'TypeError: x is no function',
    'MemoryError',
    'no such layer',
    null,
  ])
})

test('the last line is the last that is not blank', () => {
  const folder = folderWith({ a: 'Traceback:\n  x\nValueError: no\n\n  \n', empty: '\n\n' })
  expect(lastLine(join(folder, 'a'))).toBe('ValueError: no')
  expect(lastLine(join(folder, 'empty'))).toBe(null)
  expect(lastLine(join(folder, 'none'))).toBe(null)
})

test('a file that the run wrote where it stood counts, one that was there before does not', () => {
  const out = folderWith({})
  const stood = folderWith({ 'metrics.json': '{"loss": 2}' })
  const read = (since: Date) =>
    readMetrics({
      metrics: [{ name: 'loss', direction: 'minimize', read: { file: 'metrics.json', path: 'loss' } }],
      folder: out,
      out,
      workingDirectory: { folder: stood, since },
    })['loss']
  expect(read(new Date(0))).toEqual({ kind: 'number', value: 2 })
  expect(read(new Date(Date.now() + 60_000))).toMatchObject({ kind: 'missing' })
  writeFileSync(join(out, 'metrics.json'), '{"loss": 1}')
  expect(read(new Date(0))).toEqual({ kind: 'number', value: 1 })
})
