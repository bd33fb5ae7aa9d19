import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mergePatch } from '../experiment/configuration.ts'
import type { Json, JsonObject } from '../experiment/json.ts'
import { overridesBetween, withoutNulls, withoutSeed } from './configurations.ts'
import { trackedRun as run } from './fixtures/tracked-run.ts'
import type { ImportedHistory } from './history.ts'
import type { TrackedExperiment, TrackedRun } from './tracked-experiment.ts'
import { trackedHistory } from './tracked-history.ts'

const experiment = (runs: readonly TrackedRun[], some: Partial<TrackedExperiment> = {}): TrackedExperiment => ({
  name: 'sweep',
  description: null,
  objective: null,
  constraints: [],
  runs,
  unusable: [],
  guesses: [],
  ...some,
})
const read = (runs: readonly TrackedRun[], options = {}) => trackedHistory(experiment(runs), 'tracker.db', options)
const measured = (id: string, configuration: JsonObject, val_loss: number, some: Partial<TrackedRun> = {}) =>
  run(id, { configuration, metrics: { val_loss }, ...some })

/** One line a row: place, role, the place of what it is a change of, its sentence. */
function summary({ rows }: ImportedHistory) {
  const places = new Map(rows.map(row => [row.key, row.place.replace('run ', '')]))
  return rows.map(({ place, role, against, intervention }) => {
    const base = against === null ? '-' : places.get(against)
    return `${place.replace('run ', '')} ${role} on ${base}: ${intervention.sentence}`
  })
}

describe('which run is the reference', () => {
  const runs = [
    measured('a', { lr: 1, depth: 2 }, 0.5),
    measured('b', { lr: 2, depth: 2 }, 0.4),
    measured('c', { lr: 2, depth: 2 }, 0.41),
    measured('d', { lr: 2, depth: 4 }, 0.3),
  ]

  test('the one that is named, by id or name', () => {
    const history = read(runs, { reference: 'd' })
    expect(summary(history)).toEqual([
      'd reference on -: lr = 2, depth = 4',
      'a tried on d: lr 2 → 1, depth 4 → 2',
      'b tried on d: depth 4 → 2',
      'c tried on d: depth 4 → 2',
    ])
    expect(history.guesses.filter(guess => guess.includes('reference'))).toEqual([])
  })

  test('the one that is marked, the one that is called baseline, the one measured most often, the first: each with the reason', () => {
    const reference = (list: readonly TrackedRun[]) => {
      const { rows, guesses } = read(list)
      return [rows[0]!.place, ...guesses.filter(guess => guess.startsWith('the reference'))]
    }
    expect(reference(runs.with(3, { ...runs[3]!, isBaseline: true }))).toEqual(['run d'])
    expect(reference(runs.with(0, { ...runs[0]!, tags: ['baseline'] }))).toEqual([
      'run a',
      'the reference is run a: its name or a tag says baseline',
    ])
    expect(reference(runs)).toEqual([
      'run b',
      'the reference is run b: its configuration was measured most often, 2 times',
    ])
    const crashed = run('x', { kind: 'crashed', configuration: { lr: 9 } })
    expect(reference([crashed, runs[0]!, runs[3]!])).toEqual([
      'run a',
      'the reference is run a: it is the first that finished',
    ])
  })

  test('a name that is not there, and a run without a number, are refused with names that would do', () => {
    expect(() => read(runs, { reference: 'z' })).toThrow(
      'there is no run "z" to be the reference; name one of them, such as a, b, c, d',
    )
    const crashed = run('x', { kind: 'crashed' })
    expect(() => read([...runs, crashed], { reference: 'x' })).toThrow('cannot be the reference, because it has no')
  })
})

describe('runs as changes', () => {
  test('runs that differ by the seed alone are repeats, with their seeds', () => {
    const { rows } = read([
      measured('a', { lr: 1, seed: 1, data: { random_seed: 7, size: 3 } }, 0.5),
      measured('b', { lr: 1, seed: 2, data: { random_seed: 8, size: 3 } }, 0.52),
      measured('c', { lr: 3, data: { size: 3 } }, 0.4, { seed: 5 }),
    ])
    expect(rows.map(({ role, seed, intervention }) => [role, seed, intervention.overrides])).toEqual([
      ['reference', 1, { lr: 1, data: { size: 3 } }],
      ['reference', 2, { lr: 1, data: { size: 3 } }],
      ['tried', 5, { lr: 3 }],
    ])
  })

  test('nested options stay nested, what was taken away is null, and what never varies is in no sentence', () => {
    const { rows } = read([
      measured('a', { optimizer: { name: 'adam', lr: 1 }, size: 10 }, 0.5),
      measured('b', { optimizer: { lr: 1 }, size: 10, extra: true, unset: null }, 0.5),
    ])
    expect(rows[1]!.intervention).toMatchObject({
      overrides: { optimizer: { name: null }, extra: true },
      sentence: 'without optimizer.name, extra = true',
    })
  })

  test('the text of a run is split, the number that was measured included; its note stays one', () => {
    const { rows } = read([
      measured('a', { lr: 1 }, 0.51234),
      measured('b', { lr: 2 }, 0.49876, { text: 'twice the rate: 0.4988 now', note: 'ran on a Tuesday' }),
    ])
    expect(rows[1]!.intervention.sentence).toBe('twice the rate')
    expect(rows[1]!.note).toBe('0.4988 now; ran on a Tuesday')
  })

  test('a run that failed has no number and its reason; one that finished without a number is left out', () => {
    const history = read([
      measured('a', { lr: 1 }, 0.5),
      run('b', { configuration: { lr: 2 }, kind: 'crashed', status: 'FAILED', metrics: { val_loss: 3 } }),
      run('c', { configuration: { lr: 3 }, metrics: { step: 3 } }),
    ])
    expect(history.rows[1]!.outcome).toMatchObject({ kind: 'crashed', metrics: {}, reason: 'the source says "FAILED"' })
    expect(history.unusable).toMatchObject([{ place: 'run c', reason: 'it finished, but has no value of val_loss' }])
    expect(history.statuses).toEqual([
      { word: 'FINISHED', meaning: 'reference', rows: 1 },
      { word: 'FAILED', meaning: 'crashed', rows: 1 },
    ])
  })

  test('more commits than configurations: an equal configuration is another idea, not a repeat', () => {
    const { rows } = read([
      measured('a', { lr: 1 }, 0.5, { commit: 'aaaaaaa', text: 'start' }),
      measured('b', { lr: 1 }, 0.4, { commit: 'bbbbbbb', text: 'rotary embeddings' }),
    ])
    expect(rows.map(({ role, intervention }) => [role, intervention.sentence, intervention.overrides])).toEqual([
      ['reference', 'start', { lr: 1 }],
      ['tried', 'rotary embeddings', null],
    ])
  })
})

describe('trees of programs', () => {
  test('each is tried on its parent, those with children were kept, and parents come first', () => {
    const history = read([
      run('child', { metrics: { score: 2 }, parent: 'root', diff: '-a\n+b\n', text: 'sort first' }),
      run('root', { metrics: { score: 1 }, text: 'greedy' }),
      run('grandchild', { kind: 'crashed', parent: 'child', diff: '-b\n+c\n' }),
      run('other', { metrics: { score: 1.5 }, text: 'dynamic programming' }),
      run('orphan', { metrics: { score: 1.6 }, parent: 'gone', diff: '-x\n+y\n', text: 'annealing' }),
    ])
    expect(summary(history)).toEqual([
      'root reference on -: greedy',
      'child kept on root: sort first',
      'grandchild tried on child: the program of run grandchild',
      'other tried on root: dynamic programming',
      'orphan tried on root: annealing',
    ])
    expect(history.rows.map(({ intervention }) => intervention.diff)).toEqual([
      null,
      '-a\n+b\n',
      '-b\n+c\n',
      null,
      null,
    ])
  })

  test('a circle of parents, and a chain of ten thousand, end', () => {
    const circle = read([
      run('a', { metrics: { score: 1 }, parent: 'b', text: 'x' }),
      run('b', { metrics: { score: 2 }, parent: 'a', text: 'y' }),
    ])
    expect(circle.rows).toHaveLength(2)
    const chain = Array.from({ length: 10_000 }, (_, i) =>
      run(`${i}`, { metrics: { score: i }, parent: i === 0 ? null : `${i - 1}`, text: `step ${i}` }),
    )
    const { rows } = read(chain.toReversed())
    expect(rows.map(({ place }) => place)).toEqual(chain.map(({ place }) => place))
  })
})

describe('the metric', () => {
  test('what most runs have and looks most like a result, with the direction its name says; a name that is not there is refused', () => {
    const runs = [run('a', { metrics: { epoch: 3, train_loss: 1, val_acc: 0.5 }, text: 'x' })]
    const history = read(runs)
    expect(history.metrics[0]).toEqual({ name: 'val_acc', direction: 'maximize', guessed: true })
    expect(history.guesses[0]).toContain('the metric is val_acc, higher is better')
    expect(read(runs, { metric: { name: 'train_loss' } }).metrics[0]).toMatchObject({
      name: 'train_loss',
      direction: 'minimize',
    })
    expect(() => read(runs, { metric: { name: 'bleu' } })).toThrow(
      'tracker.db has no metric "bleu": its metrics are epoch, train_loss, val_acc',
    )
  })

  test("the source's own objective counts before a guess, the caller's before both", () => {
    const it = experiment([run('a', { metrics: { x: 1, y: 2 }, text: 'x' })], {
      objective: { name: 'x', direction: 'maximize' },
    })
    expect(trackedHistory(it, 's').metrics[0]).toEqual({ name: 'x', direction: 'maximize', guessed: false })
    expect(trackedHistory(it, 's', { metric: { name: 'y', direction: 'minimize' } }).metrics[0].name).toBe('y')
  })
})

describe('configurations', () => {
  const value: fc.Arbitrary<Json> = fc.letrec<{ value: Json; object: JsonObject }>(tie => ({
    value: fc.oneof(fc.integer(), fc.string({ maxLength: 4 }), fc.boolean(), fc.constant(null), tie('object')),
    object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'd.e'), tie('value'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  })).value
  const configuration = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), value, { noNullPrototype: true })

  test('the overrides lead from the first to the second', () => {
    fc.assert(
      fc.property(configuration, configuration, (a, b) => {
        const [from, to] = [withoutNulls(a), withoutNulls(b)]
        expect(mergePatch(from, overridesBetween(from, to))).toEqual(to)
        expect(overridesBetween(from, from)).toEqual({})
      }),
    )
  })

  test('seeds are found by name wherever they stand; a number that is none stays no seed', () => {
    expect(withoutSeed({ 'trainer.random-seed': '42', seed_everything: 3, x: { rng_seed: 1 }, seeds: 9 })).toEqual({
      configuration: { x: {}, seeds: 9 },
      seed: 42,
    })
    expect(withoutSeed({ seed: 'abc', lr: 1 })).toEqual({ configuration: { lr: 1 }, seed: null })
  })
})
