import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { changedLiterals } from '../experiment/diff-options.ts'
import { aideJournal, readAideJournal } from './aide-journal.ts'
import { readSource } from './read-source.ts'
import { sourceOf } from './source.ts'

const folder = mkdtempSync(join(tmpdir(), 'aide-'))
afterAll(() => rmSync(folder, { recursive: true }))

const source = sourceOf(join(import.meta.dirname, 'fixtures', 'aide-journal.json'), '/')
const journal = readAideJournal(source)
const node = (step: number) => journal.runs.find(({ place }) => place === `node ${step}`)!

function written(value: unknown) {
  const path = join(folder, 'journal.json')
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value))
  return { kind: 'file', path, name: 'journal.json' } as const
}

describe("AIDE's journal", () => {
  test('a node with fields of other kinds is unusable, and the others are read', async () => {
    const good = { id: 'a', is_buggy: false, metric: 1, code: 'x = 1', plan: 'one' }
    const odd = { id: 'b', step: 1, is_buggy: false, metric: 9, code: 7, plan: ['two'] }
    const metrics = { value: { metric_names: [null] } }
    const nodes = [good, odd, null, { plan: 'nameless' }, { ...good, id: 'c', code: 'x = 2', metric: metrics }]
    const { histories } = await readSource(written({ nodes }), {}, 'aide')
    expect(histories[0]!.rows.map(({ place, outcome }) => [place, outcome.kind])).toEqual([
      ['node a', 'finished'],
      ['node c', 'crashed'],
    ])
    expect(histories[0]!.unusable.map(({ place, reason }) => [place, reason])).toEqual([
      ['node 1', 'its "code" is no string, its "plan" is no string'],
      ['node #3', 'has no "id"'],
      ['node #4', 'has no "id"'],
    ])
  })

  test('a draft is a program of its own: the plan is what was tried, the analysis came after', () => {
    expect(node(0)).toMatchObject({
      id: 'aaaaaaaa01',
      configuration: {},
      kind: 'finished',
      status: 'good',
      metrics: { metric: 0.5 },
      startedAt: '2025-11-01T10:00:00.500Z',
      seconds: 12.5,
      text: 'Gradient boosting with default settings.',
      note: 'The model trains well, RMSE 0.5.',
      tags: ['draft'],
      parent: null,
      diff: null,
    })
  })

  test('an improvement is the diff from its parent', () => {
    expect(node(1)).toMatchObject({ parent: 'aaaaaaaa01', tags: ['improve'], metrics: { metric: 0.4 } })
    expect(changedLiterals(node(1).diff!)).toEqual([{ option: 'solution.py:lr', from: 0.1, to: 0.2 }])
  })

  test('a repair is compared with what worked before the program that broke', () => {
    expect(node(2)).toMatchObject({ kind: 'crashed', status: 'buggy', reason: 'raised NameError', metrics: {} })
    expect(node(3)).toMatchObject({
      parent: 'aaaaaaaa02',
      text: 'Use five folds.; then: Define the folds.',
      tags: ['debug'],
    })
  })

  test('too slow and without a metric are two ways not to finish', () => {
    expect(node(4)).toMatchObject({ kind: 'timed-out', reason: 'took longer than it may' })
    expect(node(6)).toMatchObject({ kind: 'crashed', reason: 'AIDE calls it buggy: it has no valid metric' })
  })

  test('a value that is not finite has diverged', () => {
    expect(node(10)).toMatchObject({ kind: 'diverged', metrics: {} })
  })

  test('most programs decide the direction, and one that has another measured something else', () => {
    expect(journal.objective).toEqual({ name: 'metric', direction: 'minimize' })
    expect(journal.guesses).toEqual(['the metric is metric, minimize: most programs say so, 1 do not'])
  })

  test('what cannot be used is listed with the reason', () => {
    expect(journal.unusable.map(({ place, reason }) => [place, reason])).toEqual([
      ['node 5', 'measured metric (maximize), and the others metric (minimize)'],
      ['node 7', 'was not run'],
      ['node 8', 'the program it was made from is not in the journal'],
      ['node 9', 'has the same code as the program it was made from'],
    ])
    expect(journal.runs.length + journal.unusable.length).toBe(11)
  })

  test('the first version has the parent in the node', () => {
    const nodes = [
      { id: 'a', code: 'x = 1\n', plan: 'one', is_buggy: false, metric: { value: 1, maximize: true } },
      { id: 'b', code: 'x = 2\n', plan: 'two', is_buggy: false, metric: { value: 2, maximize: true }, parent: 'a' },
    ]
    const { runs } = readAideJournal(written({ nodes }))
    expect(runs.map(({ parent, place }) => [parent, place])).toEqual([
      [null, 'node a'],
      ['a', 'node b'],
    ])
  })

  test('named metrics with a value for each data set: the mean of the first counts', () => {
    const metric = (values: readonly number[]) => ({
      value: {
        metric_names: [
          {
            metric_name: 'val loss',
            lower_is_better: true,
            data: values.map(final_value => ({ final_value, best_value: 0 })),
          },
          { metric_name: 'accuracy', lower_is_better: false, data: [{ final_value: 0.5 }] },
        ],
      },
    })
    const nodes = [{ id: 'a', code: 'x', plan: 'one', is_buggy: false, metric: metric([1, 2]) }]
    const { runs, objective } = readAideJournal(written({ nodes, node2parent: {} }))
    expect(objective).toEqual({ name: 'val loss', direction: 'minimize' })
    expect(runs[0]!.metrics).toEqual({ 'val loss': 1.5 })
  })

  test('what is no journal is refused with a sentence', () => {
    expect(() => readAideJournal(written('{"nodes": ['))).toThrow(/^journal\.json is not JSON as a whole/)
    expect(() => readAideJournal(written({ nodes: [{ name: 'a' }] }))).toThrow(
      /^journal\.json is not a journal of AIDE/,
    )
  })

  test('it is recognised, and read as a history of changes', async () => {
    expect(await aideJournal.recognises(source)).toBe(true)
    const [history] = await aideJournal.read(source, {})
    const rows = new Map(history!.rows.map(row => [row.place, row]))
    expect(rows.get('node 0')!.role).toBe('reference')
    expect(rows.get('node 1')).toMatchObject({ role: 'kept', against: rows.get('node 0')!.key })
    expect(rows.get('node 3')!.against).toBe(rows.get('node 1')!.key)
    expect(rows.get('node 1')!.intervention.sentence).toBe('Raise the learning rate.')
    expect(rows.get('node 1')!.note).toBe('Improved to 0.4.')
  })
})
