import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { axGoal } from './ax-goal.ts'
import { axJson, readAxJson } from './ax-json.ts'
import { withConstraints } from './constraints.ts'
import { sourceOf } from './source.ts'

const folder = mkdtempSync(join(tmpdir(), 'ax-'))
afterAll(() => rmSync(folder, { recursive: true }))

const fixtures = join(import.meta.dirname, 'fixtures')
const client = sourceOf(join(fixtures, 'ax-client.json'), '/')
const batches = sourceOf(join(fixtures, 'ax-experiment.json'), '/')
const experiment = readAxJson(client)
const trial = (number: number) => experiment.runs.find(({ place }) => place === `trial ${number}`)!

describe("the snapshot of Ax's client", () => {
  test('says what is optimised and what is demanded, as expressions', () => {
    expect(experiment).toMatchObject({ name: 'tune', description: 'A small net.' })
    expect(experiment.objective).toEqual({ name: 'val/loss', direction: 'minimize' })
    expect(experiment.constraints).toEqual([{ metric: 'latency', atMost: 1.1, relativeTo: 'reference' }])
    expect(experiment.guesses).toEqual([
      'the objective val/loss: it is the first of 2; the others are kept beside it',
      '1 of the constraints: not on a single metric, and left out',
    ])
  })

  test('the status quo is the reference', () => {
    expect(trial(0)).toMatchObject({
      name: 'status_quo',
      isBaseline: true,
      kind: 'finished',
      configuration: { lr: 0.1, relu: true },
      metrics: { 'val/loss': 2, latency: 10 },
      seconds: 60.5,
      startedAt: null,
    })
    expect(experiment.runs.filter(({ isBaseline }) => isBaseline)).toHaveLength(1)
  })

  test('of several fetches the last counts, and of values along a run the one of the last step', () => {
    expect(trial(1).metrics).toEqual({ 'val/loss': 1.5, accuracy: 0.5, latency: 10.5 })
    expect(trial(10).metrics).toEqual({ 'val/loss': 1, latency: 12 })
  })

  test('how trials end', () => {
    expect(trial(2)).toMatchObject({ kind: 'infrastructure', status: 'FAILED', reason: 'the node went away' })
    expect(trial(3)).toMatchObject({ kind: 'crashed', status: 'ABANDONED', reason: 'out of memory, always' })
    expect(trial(4)).toMatchObject({ kind: 'timed-out', metrics: {}, reason: 'stopped early for being behind' })
  })

  test('a mean that is not a number is none, and what is no JSON is read as its name', () => {
    expect(trial(7)).toMatchObject({ metrics: {}, notFinite: ['val/loss'], configuration: { lr: 'NaN', relu: true } })
  })

  test('trials are in order of their numbers, and what was not measured is listed', () => {
    expect(experiment.runs.map(({ place }) => place)).toEqual([0, 1, 2, 3, 4, 7, 10].map(number => `trial ${number}`))
    expect(experiment.unusable.map(({ place, reason }) => [place, reason])).toEqual([
      ['trial 5', 'had not ended when this was written: its status is RUNNING'],
      ['trial 6', 'was not run: its status is CANDIDATE'],
      ['trial 8', 'is completed, but has no data'],
      ['trial 9', 'was not run: its status is STALE'],
    ])
  })

  test('is recognised; what breaks a constraint relative to the status quo is no gain', async () => {
    expect(await axJson.recognises(client)).toBe(true)
    const [history] = await axJson.read(client, {})
    const ruled = withConstraints(history!, history!.constraints)
    const rows = new Map(ruled.rows.map(row => [row.place, row]))
    expect(rows.get('trial 0')!.role).toBe('reference')
    expect(rows.get('trial 1')!.outcome.kind).toBe('finished')
    expect(rows.get('trial 1')!.intervention.overrides).toEqual({ lr: 0.2, relu: false })
    expect(rows.get('trial 7')!.outcome.kind).toBe('diverged')
    expect(rows.get('trial 10')!.outcome).toMatchObject({ kind: 'violated', metrics: { 'val/loss': 1 } })
  })
})

describe("Ax's experiment with batches", () => {
  const read = readAxJson(batches)

  test('every arm of a batch is a run, and the status quo one in each', () => {
    expect(read.runs.map(({ place, kind, isBaseline, metrics }) => [place, kind, isBaseline, metrics])).toEqual([
      ['trial 0, arm status_quo', 'finished', true, { qps: 100 }],
      ['trial 0, arm 0_0', 'finished', false, { qps: 110 }],
      ['trial 0, arm 0_1', 'crashed', false, {}],
      ['trial 1, arm 1_0', 'finished', false, { qps: 90 }],
      ['trial 1, arm status_quo', 'finished', true, { qps: 101 }],
    ])
    expect(read.runs[2]!.reason).toBe('crashes')
  })

  test('a bound in per cent of the status quo is a factor of it', () => {
    expect(read.objective).toEqual({ name: 'qps', direction: 'maximize' })
    expect(read.constraints).toEqual([
      { metric: 'latency', atMost: 1.05, relativeTo: 'reference' },
      { metric: 'memory', atLeast: 3.5 },
    ])
  })

  test('the status quo of a later batch measures the reference again', async () => {
    expect(await axJson.recognises(batches)).toBe(true)
    const [history] = await axJson.read(batches, {})
    expect(history!.rows.filter(({ role }) => role === 'reference')).toHaveLength(2)
  })
})

describe('what Ax optimises', () => {
  const goal = (objective: object, outcome_constraints: object[] = []) => axGoal({ objective, outcome_constraints })

  test.each([
    [{ expression: 'accuracy' }, { name: 'accuracy', direction: 'maximize' }],
    [{ expression: '-0.5*loss' }, { name: 'loss', direction: 'minimize' }],
    [{ expression: '2*acc + recall' }, null],
    [{ expression: 'a - b' }, null],
    [{ metric: { name: 'loss', lower_is_better: true } }, { name: 'loss', direction: 'minimize' }],
    [{ metric: { name: 'loss' } }, { name: 'loss', direction: null }],
    [
      { objectives: [{ metric: { name: 'b' }, minimize: true }, { metric: { name: 'c' } }] },
      { name: 'b', direction: 'minimize' },
    ],
    [{ metrics: [{ name: 'a' }, { name: 'b' }], weights: [1, 2] }, null],
  ])('%j', (objective, expected) => {
    expect(goal(objective).objective).toEqual(expected)
    expect(goal(objective).guesses.length).toBe(expected === null || 'objectives' in objective ? 1 : 0)
  })

  test.each([
    ['qps >= 700', { metric: 'qps', atLeast: 700 }],
    ['loss <= baseline', { metric: 'loss', atMost: 1, relativeTo: 'reference' }],
    ['qps >= 9.5e-1 * baseline', { metric: 'qps', atLeast: 0.95, relativeTo: 'reference' }],
    ['2*a <= 3', null],
    ['a <= b', null],
  ])('%s', (expression, expected) => {
    expect(goal({ expression: 'x' }, [{ expression }]).constraints).toEqual(expected === null ? [] : [expected])
  })

  test('nothing at all is no objective', () => {
    expect(axGoal(null)).toEqual({ objective: null, constraints: [], guesses: [] })
  })
})

test('what is nothing of Ax is refused with a sentence', () => {
  const path = join(folder, 'snapshot.json')
  writeFileSync(path, '{"_type":"Client","experiment":null}')
  expect(() => readAxJson(sourceOf(path, '/'))).toThrow('snapshot.json has no experiment of Ax with "trials"')
  writeFileSync(path, '{"_type":"Client",')
  expect(() => readAxJson(sourceOf(path, '/'))).toThrow(/^snapshot\.json is not JSON as a whole/)
})
