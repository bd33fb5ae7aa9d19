import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parameterGolf } from './parameter-golf.ts'
import { sourceOf } from './source.ts'

const submissions = [
  {
    pr: 2,
    track: '10min',
    name: 'Naive Baseline',
    blurb: 'as it comes',
    val_bpb: 1.2244,
    seeds: [],
    bytes_total: 15e6,
  },
  {
    pr: 7,
    track: '10min',
    name: 'Wide, val_bpb=1.21035',
    blurb: 'wider layers',
    val_bpb: 1.21035,
    seeds: [
      ['1337', 1.2101],
      ['42', 1.2106],
    ],
    base_pr: '#2',
    date: '2026-03-20T10:00:00Z',
  },
  { pr: 9, track: '10min', name: 'Wider', val_bpb: 1.2, seed_results: { 1: { val_bpb: 1.19 }, 2: 1.21 }, base_pr: 7 },
  { pr: 9, track: '10min', name: 'Wider', val_bpb: 1.2, seed_results: { 1: { val_bpb: 1.19 }, 2: 1.21 }, base_pr: 7 },
  { pr: 10, track: 'other', name: 'Slow', blurb: 'all night', val_bpb: 1.0, author: 'Somebody' },
  { pr: 11, track: '10min', name: 'No number' },
]

test('tracks are environments, seeds are runs, what a submission was made from is what it was tried on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-golf-'))
  writeFileSync(join(folder, 'all.jsonl'), submissions.map(each => JSON.stringify(each)).join('\n'))
  const source = sourceOf('all.jsonl', folder)
  expect(await parameterGolf.recognises(source)).toBe(true)
  const [tenMinutes, other] = await parameterGolf.read(source, {})
  const places = new Map(tenMinutes!.rows.map(({ key, place }) => [key, place]))
  expect(
    tenMinutes!.rows.map(({ place, role, against, seed, outcome }) => [
      place,
      role,
      against === null ? null : places.get(against),
      seed,
      outcome.metrics['val_bpb'],
    ]),
  ).toEqual([
    ['pull 2', 'reference', null, null, 1.2244],
    ['pull 7, seed 1337', 'kept', 'pull 2', 1337, 1.2101],
    ['pull 7, seed 42', 'tried', 'pull 2', 42, 1.2106],
    ['pull 9, seed 1', 'tried', 'pull 7, seed 1337', 1, 1.19],
    ['pull 9, seed 2', 'tried', 'pull 7, seed 1337', 2, 1.21],
  ])
  expect(tenMinutes!.rows[1]!.intervention.sentence).toBe('Wide')
  expect(tenMinutes!.unusable.map(({ reason }) => reason)).toEqual([
    'the same as line 3, word for word: a copy, not a second run',
    'no value of val_bpb',
  ])
  expect(other!.name).toBe('other')
  expect(JSON.stringify([tenMinutes, other])).not.toContain('Somebody')
  rmSync(folder, { recursive: true })
})

test('a folder of records, with a file that is none', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-golf-'))
  for (const [index, each] of submissions.slice(0, 2).entries()) {
    mkdirSync(join(folder, 'records', `${index}`), { recursive: true })
    writeFileSync(join(folder, 'records', `${index}`, 'submission.json'), JSON.stringify(each, null, 2))
  }
  mkdirSync(join(folder, 'records', 'x'))
  writeFileSync(join(folder, 'records', 'x', 'submission.json'), '{"name": ')
  const [history] = await parameterGolf.read(sourceOf(folder, '/'), {})
  expect(history!.rows).toHaveLength(3)
  expect(history!.unusable).toMatchObject([{ reason: expect.stringContaining('submission.json is no JSON') }])
  rmSync(folder, { recursive: true })
})
