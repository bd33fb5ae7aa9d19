/** Logs of JSON records and CSV tables, as other people's loops write them: one test for each shape of log. */
import { describe, expect, test } from 'vitest'
import type { ImportedHistory } from './history.ts'
import { jsonRecords } from './json-records.ts'
import { recordTable } from './record-table.ts'
import { csvTable } from './results-csv.ts'
import { type TableOptions, tableHistories } from './table-history.ts'

const jsonl = (...records: unknown[]) => records.map(record => JSON.stringify(record)).join('\n')
const read = (text: string, options: TableOptions = {}) =>
  tableHistories(
    recordTable(() => jsonRecords(text), 'log.jsonl'),
    options,
  )
const readCsv = (text: string, options: TableOptions = {}) => tableHistories(csvTable(text, 'runs.csv'), options)

function summary({ rows, metrics }: ImportedHistory) {
  return rows.map(({ place, role, outcome, intervention }) => {
    const value = outcome.metrics[metrics[0].name] ?? '-'
    return `${place.replace('line ', '')} ${role} ${outcome.kind} ${value} ${intervention.sentence}`
  })
}

describe('JSON records', () => {
  test('inference tuning: tags, parameters and metrics nested; broken limits and failures by their words', () => {
    const run = (num: number, status: string, score: number | null, more: object) => ({
      num,
      hash: `${num}abcde`,
      status,
      score,
      description: `try ${num}`,
      tags: ['kv'],
      params: { batch: 8, dtype: 'fp8' },
      metrics: { latency_ms: 12.5 },
      backend: 'sglang',
      timestamp: '2026-03-01T10:00:00Z',
      ...more,
    })
    const [history] = read(
      jsonl(
        run(1, 'ok', 100, {}),
        run(2, 'ok', 120, { params: { batch: 16, dtype: 'fp8' } }),
        run(3, 'server_failed', null, { params: { batch: 99, dtype: 'fp8' } }),
        run(4, 'constraint_violated', 150, { params: { batch: 16, dtype: 'int4' } }),
        run(5, 'benchmark_failed', null, {}),
      ),
    )
    expect(summary(history!)).toEqual([
      '1 reference finished 100 try 1',
      '2 tried finished 120 try 2: batch=16',
      '3 tried crashed - try 3: batch=99',
      '4 tried violated 150 try 4: batch=16, dtype=int4',
      '5 tried crashed - try 5',
    ])
    expect(history!.rows.map(({ intervention }) => intervention.overrides)).toEqual([
      { batch: 8, dtype: 'fp8' },
      { batch: 16 },
      { batch: 99 },
      { batch: 16, dtype: 'int4' },
      null,
    ])
    expect(history!.rows[0]!.outcome).toMatchObject({
      finishedAt: '2026-03-01T10:00:00.000Z',
      metrics: { score: 100, latency_ms: 12.5 },
    })
  })

  test('rwkv: the change is the sentence, the note a note, the status free text', () => {
    const [history] = read(
      jsonl(
        { exp: 'base', change: 'baseline', ahead: 0.31, imm: 0.3, status: 'CHAMPION', note: '', nan_users: 0 },
        { exp: 'e1', change: 'wider state', ahead: 0.305, imm: 0.3, status: 'NEW CHAMPION (p<0.01)', note: 'stays' },
        { exp: 'e2', change: 'no decay', ahead: 0.32, imm: 0.31, status: 'REJECT: both worse', note: 'unstable' },
        { exp: 'e3', change: 'more data', ahead: 0.3, imm: 0.3, status: 'thinking about it' },
      ),
      { metric: { name: 'ahead', direction: 'minimize' } },
    )
    expect(summary(history!)).toEqual([
      '1 reference finished 0.31 base: baseline',
      '2 kept finished 0.305 wider state',
      '3 tried finished 0.32 no decay',
    ])
    expect(history!.rows.map(({ note }) => note)).toEqual([null, 'stays', 'unstable'])
    expect(history!.unusable).toMatchObject([{ place: 'line 4', reason: 'unknown status "thinking about it"' }])
  })

  test('Optuna in a loop: results and parameters nested, the status among the results', () => {
    const trial = (n: number, lr: number, val_bpb: number, status = 'success') => ({
      trial_number: n,
      method: 'tpe',
      timestamp: 1774024187 + n,
      params: { lr, depth: 8 },
      results: { val_bpb, peak_vram_mb: 100, status },
    })
    const [history] = read(jsonl(trial(0, 0.1, 1.2), trial(1, 0.2, 1.1), trial(2, 0.2, 1.12)))
    expect(history!.metrics[0]).toMatchObject({ name: 'val_bpb', direction: 'minimize' })
    expect(summary(history!)).toEqual([
      '1 reference finished 1.2 lr=0.1, depth=8',
      '2 tried finished 1.1 lr=0.2',
      '3 tried finished 1.12 lr=0.2',
    ])
    expect(history!.rows[1]!.outcome.finishedAt).toBe('2026-03-20T16:29:48.000Z')
  })

  test('a hypothesis beside the description is what was tried; what was learned is a note', () => {
    const [history] = read(
      jsonl(
        { commit: 'a1b2c3d', score: 1, status: 'keep', description: 'baseline' },
        {
          commit: 'b1b2c3d',
          score: 2,
          status: 'keep',
          description: 'cache the keys, twice as fast',
          asi: { hypothesis: 'cache keys between calls', next_action_hint: 'try values' },
        },
      ),
    )
    expect(history!.rows[1]).toMatchObject({
      intervention: { sentence: 'cache keys between calls' },
      note: 'cache the keys, twice as fast; try values',
    })
  })

  test('a torn last line, a list and NaN as Python writes it', () => {
    const torn = read(`${jsonl({ text: 1, val_loss: 3, description: 'a' })}\n{"val_loss": 2, "descr`)
    expect(torn[0]!.unusable).toMatchObject([{ place: 'line 2', reason: 'is no JSON: cut off, or damaged' }])
    const [list] = read('[{"val_loss": 1, "description": "a"},\n {"val_loss": NaN, "description": "b"}, 5]')
    expect(summary(list!)).toEqual(['1 reference finished 1 a', '2 tried diverged - b'])
    expect(list!.unusable).toMatchObject([{ place: 'line 3', reason: 'is no record with names' }])
  })

  test('a status that only failures have: a record without one finished', () => {
    const records = [
      { description: 'baseline', loss: 3 },
      { description: 'wider', loss: 2 },
      { description: 'rate 10', status: 'failed' },
    ]
    const [history] = read(jsonl(...records))
    expect(summary(history!)).toEqual([
      '1 reference finished 3 baseline',
      '2 tried finished 2 wider',
      '3 tried crashed - rate 10',
    ])
    expect(summary(read(jsonl(...records.slice(0, 2)))[0]!)).toEqual(summary(history!).slice(0, 2))
    const [mixed] = read(jsonl(...records, { description: 'deeper', loss: 1, status: 'keep' }))
    expect(mixed!.unusable.map(({ reason }) => reason)).toEqual(['no status', 'no status'])
  })

  test('fields that come later change nothing of who the earlier records are', () => {
    const first = { val_loss: 1, description: 'a', commit: 'a1a1a1a' }
    const keys = (text: string) => read(text)[0]!.rows.map(({ key }) => key)
    const [before] = keys(jsonl(first))
    expect(keys(jsonl(first, { val_loss: 2, description: 'b', seed: 3, extra: { x: 1 } }))[0]).toBe(before)
  })
})

describe('CSV', () => {
  test('quoted cells with separators and line breaks, semicolons, line ends of Windows', () => {
    const [history] = readCsv(
      '\uFEFFname;val_loss;notes\r\nbase;1,5;"the first; as it was"\r\nwide;1.25;"wider\r\nand ""deeper"""\r\n',
    )
    expect(summary(history!)).toEqual([
      '2 reference finished 1.5 base: the first; as it was',
      '3 tried finished 1.25 wide: wider\r\nand "deeper"',
    ])
  })

  test('an export of trials: parameters by their prefix, states by their words, values as the metric', () => {
    const text = [
      'number,value,datetime_start,datetime_complete,params_lr,params_depth,state',
      '0,0.5,2026-01-01 10:00:00Z,2026-01-01 10:01:00Z,0.1,2,COMPLETE',
      '1,0.4,2026-01-01 10:02:00Z,2026-01-01 10:03:00Z,0.2,2,COMPLETE',
      '2,,2026-01-01 10:04:00Z,,0.3,2,FAIL',
    ].join('\n')
    const [history] = readCsv(text, { metric: { name: 'value', direction: 'minimize' } })
    expect(summary(history!)).toEqual([
      '2 reference finished 0.5 lr=0.1, depth=2',
      '3 tried finished 0.4 lr=0.2',
      '4 tried crashed - lr=0.3',
    ])
  })

  test('an export with other columns, in another order, has the same rows', () => {
    const keys = (...lines: string[]) => readCsv(lines.join('\n'))[0]!.rows.map(({ key }) => key)
    expect(keys('accuracy,more,name', '0.5,,base', '0.6,,wide')).toEqual(keys('name,accuracy', 'base,0.5', 'wide,0.6'))
  })

  test('columns are what the caller says: metric, seed, options, environments, and what is to be ignored', () => {
    const text = [
      'id,fancy,cost,where,attempt,width',
      'a,1,5,lab,11,8',
      'b,2,6,lab,12,16',
      'c,9,6,field,11,8',
      'd,8,6,field,12,16',
    ].join('\n')
    const histories = readCsv(text, {
      metric: { name: 'gain', direction: 'maximize' },
      columns: { metric: 'FANCY', environment: 'where', seed: 'attempt', option: 'width', ignore: 'cost\nid' },
    })
    expect(histories.map(({ name }) => name)).toEqual(['lab', 'field'])
    expect(histories[0]!.metrics).toEqual([{ name: 'gain', direction: 'maximize', guessed: false }])
    expect(histories[0]!.rows.map(({ seed, intervention }) => [seed, intervention.overrides])).toEqual([
      [11, { width: 8 }],
      [12, { width: 16 }],
    ])
    expect(() => readCsv(text, { columns: { status: 'gone' } })).toThrow(
      'runs.csv has no column "gone" for the status: its columns are id, fancy, cost, where, attempt, width',
    )
  })
})
