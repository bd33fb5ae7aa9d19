import { describe, expect, test } from 'vitest'
import { readJsonRecords } from './json-records.ts'
import { piHistories } from './pi-log.ts'

const lines = (...records: unknown[]) => records.map(record => JSON.stringify(record)).join('\n')
const config = (name: string, bestDirection = 'lower') => ({
  type: 'config',
  name,
  metricName: 'combined_µs',
  metricUnit: 'µs',
  bestDirection,
})
const run = (n: number, metric: number, status: string, description: string, more: object = {}) => ({
  run: n,
  commit: `c09e72${n}`,
  metric,
  metrics: { parse_µs: metric - 100, combined_µs: metric },
  status,
  description,
  timestamp: 1773348490000 + n,
  segment: 0,
  confidence: 2.5,
  ...more,
})

describe('pi-autoresearch', () => {
  const text = lines(
    config('faster liquid'),
    run(1, 3818, 'keep', 'Baseline: 3,818µs combined'),
    run(2, 3700, 'keep', 'byte dispatch (3,700µs)', { asi: { hypothesis: 'dispatch on bytes' } }),
    run(3, 0, 'crash', 'split tokenizer'),
    run(4, 3650, 'checks_failed', 'skip the checks'),
    config('faster liquid'),
    run(5, 3500, 'keep', 'baseline again'),
    run(6, 3400, 'discard', 'inline everything'),
  )
  const histories = piHistories(readJsonRecords(text), 'autoresearch.jsonl')

  test('each line that configures begins an environment with a baseline of its own', () => {
    expect(histories.map(({ name, rows }) => [name, rows.map(({ role }) => role)])).toEqual([
      ['faster liquid', ['reference', 'kept', 'tried', 'tried']],
      ['faster liquid (2)', ['reference', 'tried']],
    ])
  })

  test('the objective has its own name and the direction that the log states; others stand beside it', () => {
    expect(histories[0]!.metrics).toEqual([
      { name: 'combined_µs', direction: 'minimize', guessed: false },
      { name: 'parse_µs', direction: 'minimize', guessed: true },
    ])
    expect(histories[0]!.guesses).toEqual([])
    expect(histories[0]!.rows[1]!.outcome).toMatchObject({
      metrics: { combined_µs: 3700, parse_µs: 3600 },
      finishedAt: '2026-03-12T20:48:10.002Z',
    })
  })

  test('0 of a crash is no number, failed checks keep theirs, and the hypothesis is what was tried', () => {
    const [, second, crash, failed] = histories[0]!.rows
    expect(second).toMatchObject({
      intervention: { sentence: 'dispatch on bytes' },
      note: expect.stringContaining('3,700µs'),
    })
    expect(crash!.outcome).toMatchObject({ kind: 'crashed', metrics: {} })
    expect(failed!.outcome).toMatchObject({ kind: 'violated', metrics: { combined_µs: 3650 } })
  })

  test('the number in a baseline says nothing of what was tried', () => {
    expect(histories[0]!.rows[0]!.intervention.sentence).toBe('Baseline')
  })

  test('a log that only configures is refused', () => {
    expect(() => piHistories(readJsonRecords(lines(config('x'))), 'autoresearch.jsonl')).toThrow('has no runs yet')
  })
})
