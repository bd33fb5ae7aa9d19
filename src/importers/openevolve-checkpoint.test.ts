import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openevolveCheckpoint, readOpenevolve } from './openevolve-checkpoint.ts'
import { sourceOf } from './source.ts'

const folder = mkdtempSync(join(tmpdir(), 'openevolve-'))
afterAll(() => rmSync(folder, { recursive: true }))

interface Given {
  readonly id: string
  readonly parent_id?: string
  readonly code?: string
  readonly iteration_found?: number
  readonly metrics?: Record<string, unknown>
  readonly metadata?: Record<string, unknown>
  readonly changes_description?: string
}

function checkpoint(path: string, programs: readonly Given[]): string {
  const whole = join(folder, path)
  mkdirSync(join(whole, 'programs'), { recursive: true })
  writeFileSync(join(whole, 'metadata.json'), '{"islands": [], "last_iteration": 3}')
  for (const { id, ...given } of programs) {
    const program = {
      code: `step = '${id}'\n`,
      language: 'python',
      generation: given.parent_id ? 1 : 0,
      timestamp: 1761991200,
      ...given,
    }
    // As Python writes it: NaN is a word.
    const text = JSON.stringify({ id, ...program }).replaceAll('"nan"', 'NaN')
    writeFileSync(join(whole, 'programs', `${id}.json`), text)
  }
  return whole
}

const path = checkpoint('run/checkpoints/checkpoint_10', [
  { id: 'first', metrics: { combined_score: 1, time: 2 } },
  {
    id: 'zchild',
    parent_id: 'first',
    iteration_found: 1,
    metrics: { combined_score: 1.5 },
    metadata: { changes: 'Halve the step.' },
  },
  {
    id: 'copy',
    parent_id: 'zchild',
    code: "step = 'zchild'\n",
    metrics: { combined_score: 1.5 },
    metadata: { migrant: true },
  },
  {
    id: 'island',
    parent_id: 'zchild',
    code: "step = 'zchild'\n",
    iteration_found: 1,
    metrics: { combined_score: 1.5 },
    metadata: { island: 2 },
  },
  { id: 'broken', parent_id: 'copy', iteration_found: 2, metrics: { error: 0 }, metadata: { changes: 'Full rewrite' } },
  { id: 'slow', parent_id: 'zchild', iteration_found: 3, metrics: { error: 0, timeout: true } },
  {
    id: 'wild',
    parent_id: 'zchild',
    iteration_found: 4,
    metrics: { combined_score: 'nan' },
    changes_description: 'All so far.',
  },
  { id: 'orphan', parent_id: 'dropped', iteration_found: 5, metrics: { combined_score: 9 } },
])
writeFileSync(join(path, 'programs', 'torn.json'), '{"id": "to')
checkpoint('run/checkpoints/checkpoint_9', [
  { id: 'first', metrics: { combined_score: 1, time: 2 } },
  { id: 'dropped', parent_id: 'first', metrics: { combined_score: 0.5 } },
])
const source = sourceOf(path, '/')
const evolution = readOpenevolve(source)
const program = (id: string) => evolution.runs.find(run => run.id === id)!

describe('a checkpoint of OpenEvolve', () => {
  test('each program is a change of its parent', () => {
    expect(evolution.objective).toEqual({ name: 'combined_score', direction: 'maximize' })
    expect(program('first')).toMatchObject({ isBaseline: true, metrics: { combined_score: 1, time: 2 }, parent: null })
    expect(program('zchild')).toMatchObject({ parent: 'first', text: 'Halve the step.', kind: 'finished' })
    expect(program('zchild').diff).toContain("-step = 'first'\n+step = 'zchild'")
  })

  test('migrants and what islands were started with are copies, no runs', () => {
    const copies = evolution.unusable.filter(
      ({ reason }) => reason === 'is a copy of program zchild, not a run of its own',
    )
    expect(copies.map(({ place }) => place)).toEqual(['program copy', 'program island'])
    expect(program('broken').parent).toBe('zchild')
  })

  test('how evaluations fail', () => {
    expect(program('broken')).toMatchObject({ kind: 'crashed', metrics: {}, text: null })
    expect(program('slow')).toMatchObject({ kind: 'timed-out', metrics: {} })
    expect(program('wild')).toMatchObject({ kind: 'diverged', metrics: {}, text: 'All so far.' })
  })

  test('what was dropped leaves its children without a change, and the rest a selection', () => {
    expect(evolution.unusable.map(({ place, reason }) => [place, reason])).toContainEqual([
      'program orphan',
      'the program it was made from is not there, so nothing says what was changed',
    ])
    expect(evolution.guesses[0]).toContain('programs that the population dropped before a checkpoint are not there')
  })

  test('a file that is no program is listed', () => {
    expect(evolution.unusable[0]).toMatchObject({ place: 'file checkpoint_10/programs/torn.json' })
    expect(evolution.runs.length + evolution.unusable.length).toBe(9)
  })

  test('several checkpoints are read together: an early one has what was dropped later', async () => {
    for (const above of ['run', 'run/checkpoints']) {
      const found = sourceOf(join(folder, above), '/')
      expect(await openevolveCheckpoint.recognises(found)).toBe(true)
      const { runs } = readOpenevolve(found)
      expect(runs).toHaveLength(evolution.runs.length + 2)
      expect(runs.find(({ id }) => id === 'orphan')).toMatchObject({ parent: 'dropped', kind: 'finished' })
    }
    const [history] = await openevolveCheckpoint.read(source, {})
    expect(history!.rows[0]).toMatchObject({ role: 'reference', place: 'program first' })
  })

  test('without a combined score it says whose choice the metric is', () => {
    const plain = sourceOf(checkpoint('plain', [{ id: 'a', metrics: { accuracy: 0.5 } }]), '/')
    expect(readOpenevolve(plain).objective).toBe(null)
    expect(readOpenevolve(plain).guesses[1]).toContain('OpenEvolve itself goes by the average of its metrics')
  })

  test('links that lead out of the folder are not followed', () => {
    const linked = checkpoint('linked', [{ id: 'a', metrics: { combined_score: 1 } }])
    symlinkSync(join(path, 'programs', 'zchild.json'), join(linked, 'programs', 'zchild.json'))
    expect(readOpenevolve(sourceOf(linked, '/')).runs.map(({ id }) => id)).toEqual(['a'])
    mkdirSync(join(folder, 'outside'))
    symlinkSync(path, join(folder, 'outside', 'checkpoint_1'))
    expect(() => readOpenevolve(sourceOf(join(folder, 'outside'), '/'))).toThrow('outside has no checkpoint')
  })

  test('a folder that is none is refused with a sentence', () => {
    mkdirSync(join(folder, 'empty'))
    expect(() => readOpenevolve(sourceOf(join(folder, 'empty'), '/'))).toThrow('empty has no checkpoint of OpenEvolve')
  })
})
