/** Which records speak against a candidate: by the values it changes, by its diff, by its words. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createTwoFilesPatch } from 'diff'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changedOptions } from '../experiment/diff-options.ts'
import type { Environment, Version } from '../experiment/environment.ts'
import type { Intervention, OutcomeKind, Run } from '../experiment/intervention.ts'
import type { Json } from '../experiment/json.ts'
import type { Candidate, ExperimentRecord } from '../experiment/record.ts'
import { buildRecords } from '../experiment/records.ts'
import { openLedger } from '../ledger/ledger.ts'
import { importHistory } from '../operations/import.ts'
import { inProcess } from '../operations/in-process.ts'
import { precedents } from './tried-before.ts'

const configuration = { rate: 1, width: 4, act: 'relu' }

function environmentAt(changes: object, id = JSON.stringify(changes)): Environment {
  const version: Version = {
    id,
    familyId: 'family',
    reference: { configuration: { ...configuration, ...changes }, commit: null, tree: null, code: null },
    parent: null,
  }
  const metrics = [{ name: 'loss', direction: 'minimize' }] as const
  const family = {
    name: 'test',
    description: '',
    metrics,
    constraints: [],
    command: 'x',
    budget: {},
    evaluator: {},
    data: [],
  }
  return { family, familyId: 'family', version }
}

const here = environmentAt({})

function proposal(parts: Partial<Intervention>): Intervention {
  return { sentence: 'a change', overrides: null, diff: null, tags: [], origin: null, ...parts }
}

function candidate(parts: Partial<Intervention>, environment = here): Candidate {
  const intervention = proposal(parts)
  return { intervention, changes: changedOptions(environment.version.reference, intervention) }
}

const rate = (value: Json) => candidate({ overrides: { rate: value } as never })

/** Records with three runs each, of losses around a value (the reference has 2), or that ended otherwise. */
function records(
  tried: readonly (Partial<Intervention> & { readonly ends: number | OutcomeKind })[],
  environment = here,
): ExperimentRecord[] {
  const row = (
    id: number,
    kind: 'reference' | 'candidate',
    intervention: Intervention,
    ends: number | OutcomeKind,
  ) => ({
    id,
    versionId: environment.version.id,
    kind,
    intervention,
    runs: [1, 2, 3].map((seed): Run => {
      const kind = typeof ends === 'number' ? 'finished' : ends
      const metrics: Record<string, number> = typeof ends === 'number' ? { loss: ends + 0.01 * seed } : {}
      const rest = { reason: null, exitCode: null, startedAt: null, finishedAt: null, seconds: null, cost: null }
      return {
        id: 10 * id + seed,
        versionId: environment.version.id,
        interventionId: id,
        seed,
        attempt: 0,
        outcome: { kind, metrics, ...rest },
      }
    }),
  })
  return buildRecords(new Map([[environment.version.id, environment]]), [
    row(1, 'reference', proposal({}), 2),
    ...tried.map(({ ends, ...parts }, index) => row(index + 2, 'candidate', proposal(parts), ends)),
  ])
}

/** `2 as far !` for each precedent of one candidate, the exclamation mark where it settles. */
function told(one: Candidate, known: readonly ExperimentRecord[], environment = here): string[] {
  const [found] = precedents([one], known, environment)
  return found!.map(({ record, likeness, settles }) => `${record.id} ${likeness}${settles ? ' !' : ''}`)
}

describe('values of an option', () => {
  const worse = records([{ overrides: { rate: 3 }, ends: 4 }])

  test('further the same way is settled, less far is shown, the other way is another idea', () => {
    expect(told(rate(3), worse)).toEqual(['2 as far !'])
    expect(told(rate(10), worse)).toEqual(['2 as far !'])
    expect(told(rate(2), worse)).toEqual(['2 less far'])
    expect(told(rate(0.5), worse)).toEqual([])
    expect(told(rate('cosine'), worse)).toEqual([])
    expect(told(candidate({ overrides: { rate: 10, width: 8 } }), worse)).toEqual([])
    expect(told(candidate({ overrides: { rate: 10 }, tags: ['bold'] }), worse)).toEqual(['2 as far !'])
  })

  test('all options have to go as far', () => {
    const pair = records([{ overrides: { rate: 3, width: 8 }, ends: 4 }])
    expect(told(candidate({ overrides: { rate: 4, width: 9 } }), pair)).toEqual(['2 as far !'])
    expect(told(candidate({ overrides: { rate: 4, width: 6 } }), pair)).toEqual(['2 less far'])
    expect(told(candidate({ overrides: { rate: 4, width: 2 } }), pair)).toEqual([])
  })

  test('what was better says nothing against anything; failures settle; what may be noise is shown', () => {
    expect(told(rate(10), records([{ overrides: { rate: 3 }, ends: 1 }]))).toEqual([])
    for (const ends of ['crashed', 'diverged', 'timed-out', 'violated'] as const) {
      expect(told(rate(10), records([{ overrides: { rate: 3 }, ends }])), ends).toEqual(['2 as far !'])
    }
    expect(told(rate(10), records([{ overrides: { rate: 3 }, ends: 'infrastructure' }]))).toEqual([])
    expect(told(rate(10), records([{ overrides: { rate: 3 }, ends: 2.002 }]))).toEqual(['2 as far'])
  })

  test('what helped on the way there, or further out, contradicts it', () => {
    const bumpy = records([
      { overrides: { width: 6 }, ends: 4 },
      { overrides: { width: 8 }, ends: 1 },
    ])
    expect(told(candidate({ overrides: { width: 16 } }), bumpy)).toEqual(['2 as far'])
    expect(told(candidate({ overrides: { width: 7 } }), bumpy)).toEqual(['2 as far !'])
  })

  test('against another reference nothing is settled', () => {
    const before = environmentAt({ width: 2 })
    expect(told(rate(3), records([{ overrides: { rate: 3 }, ends: 4 }], before))).toEqual(['2 as far'])
  })

  test('settled ones come first, then the nearest and newest; a further change never has fewer of them', () => {
    const many = records([
      { overrides: { rate: 3 }, ends: 4 },
      { overrides: { rate: 20 }, ends: 6 },
      { overrides: { rate: 5 }, ends: 5 },
    ])
    expect(told(rate(6), many)).toEqual(['4 as far !', '2 as far !', '3 less far'])
    const value = fc.double({ min: 1.01, max: 30, noNaN: true })
    fc.assert(
      fc.property(value, value, (a, b) => {
        const settled = (to: number) => told(rate(to), many).filter(each => each.endsWith('!')).length
        expect(settled(Math.max(a, b))).toBeGreaterThanOrEqual(settled(Math.min(a, b)))
      }),
    )
  })
})

describe('diffs', () => {
  const lines = Array.from({ length: 10 }, (_, index) => `call_${index}();`)
  const adding = (added: readonly string[]) =>
    createTwoFilesPatch('a/x.py', 'b/x.py', '', added.map(line => `${line}\n`).join(''))
  const nearly = adding([...lines.slice(0, 9), 'another();'])

  test('alike in four lines of five are one idea; what crashed may be mended by a diff that differs', () => {
    const diff = adding(lines)
    expect(told(candidate({ diff: nearly }), records([{ diff, ends: 4 }]))).toEqual(['2 as far !'])
    expect(told(candidate({ diff: adding(lines.slice(0, 5)) }), records([{ diff, ends: 4 }]))).toEqual([])
    expect(told(candidate({ diff: nearly }), records([{ diff, ends: 'crashed' }]))).toEqual(['2 as far'])
    expect(told(candidate({ diff: nearly }), records([{ diff, ends: 'diverged' }]))).toEqual(['2 as far !'])
  })

  test('alike but for a value that goes the other way are two ideas', () => {
    const change = (value: number) =>
      createTwoFilesPatch('a/x.py', 'b/x.py', 'RATE = 4\n', `RATE = ${value}\n${lines.join('\n')}\n`)
    const known = records([{ diff: change(8), ends: 4 }])
    expect(told(candidate({ diff: change(9) }), known)).toEqual(['2 as far !'])
    expect(told(candidate({ diff: change(2) }), known)).toEqual([])
  })

  test('an option in code is the same option in a configuration, unless the diff does more', () => {
    const literal = createTwoFilesPatch('a/train.py', 'b/train.py', 'RATE = 1\n', 'RATE = 3\n')
    expect(told(rate(4), records([{ diff: literal, ends: 4 }]))).toEqual(['2 as far !'])
    const more = createTwoFilesPatch('a/train.py', 'b/train.py', 'RATE = 1\n', `RATE = 3\n${lines.join('\n')}\n`)
    expect(told(rate(4), records([{ diff: more, ends: 4 }]))).toEqual([])
  })
})

test('where a record or the candidate is known by its words alone they are compared, and nothing is settled', () => {
  const known = records([{ sentence: 'raise the learning rate from 0.02 to 0.04', ends: 4 }])
  const reads = { sentence: 'Raise the learning rate from 0.02 to 0.08.', overrides: { rate: 0.08 } }
  expect(told(candidate(reads), known)).toEqual(['2 in words'])
  expect(told(candidate({ ...reads, sentence: 'use another optimiser' }), known)).toEqual([])
  const changed = records([{ sentence: reads.sentence, overrides: { rate: 3 }, ends: 4 }])
  expect(told(candidate({ sentence: 'raise the learning rate from 0.02 to 0.04' }), changed)).toEqual(['2 less far'])
})

test('words that differ in what they are about are other ideas, and so is another way', () => {
  const worse = (sentence: string) => records([{ sentence, ends: 4 }])
  const said = (sentence: string, before: string) => told(candidate({ sentence }), worse(before))
  expect(said('embedding LR 0.8 to 1.0', 'embedding LR 0.6 to 0.8')).toEqual(['2 in words'])
  expect(said('Raise the embedding LR from 0.8 to 1.0 (again)', 'embedding LR 0.6 to 0.8')).toEqual(['2 in words'])
  expect(said('matrix LR 0.04 to 0.045', 'embedding LR 0.6 to 0.8')).toEqual([])
  expect(said('VE gate scale 2 to 3', 'VE gate channels 32 to 48')).toEqual([])
  expect(said('embedding LR 0.8 to 0.6', 'embedding LR 0.8 to 1.0')).toEqual([])
  expect(said('RoPE base 10K to 5000', 'RoPE base 10K to 200K')).toEqual([])
  expect(said('init scale 0.7 to 0.72', 'init scale 0.65x')).toEqual([])
  expect(said('init scale 0.7 to 0.68', 'init scale 0.65x')).toEqual(['2 less far'])
  expect(said('more warm-up', 'less warm-up')).toEqual([])
  expect(said('depth 8, width 640', 'depth 11, width 640')).toEqual([])
})

test('of the records of real training runs, what would be refused by the others did fail or was worse', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-nanolm-'))
  const nanolm = fileURLToPath(new URL('../../environments/nanolm/', import.meta.url))
  const context = inProcess(join(nanolm, 'almanac.config.ts'), { ledger: join(folder, 'ledger.db') })
  for (const name of ['olmo', 'nanochat']) {
    await importHistory.run(
      { path: join(nanolm, 'records', `${name}.jsonl`), dryRun: false, replace: false, keepPersonal: false },
      context,
    )
  }
  await using ledger = await openLedger(join(folder, 'ledger.db'))
  const all = await ledger.recordsOf()
  const refused = all.filter(record => {
    const others = all.filter(({ id }) => id !== record.id)
    return precedents([record], others, record.environment)[0]!.some(({ settles }) => settles)
  })
  expect(refused.length).toBeGreaterThan(5)
  expect(new Set(refused.map(({ verdict }) => verdict))).toEqual(new Set(['worse', 'failed']))
  // Not for want of others: more than a third of all the records are neither.
  expect(all.filter(({ verdict }) => verdict === 'better' || verdict === 'inconclusive').length).toBeGreaterThan(50)
  rmSync(folder, { recursive: true })
})
