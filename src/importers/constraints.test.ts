import { describe, expect, test } from 'vitest'
import { constraintIn, constraintText } from './constraint-text.ts'
import { withConstraints } from './constraints.ts'
import { examine } from './examine.ts'
import { readResultsTsv } from './results-tsv.ts'

const header = 'commit\tval_bpb\tmemory_gb\tstatus\tdescription'
const read = (...rows: string[]) => readResultsTsv(`${[header, ...rows].join('\n')}\n`, 'results.tsv')

describe('rules', () => {
  const history = read(
    'baseline\t1.0\t4\tkeep\tbaseline',
    'a1\t0.2\t4\tkeep\tread the answers',
    'a2\t0.95\t9\tdiscard\twider',
    'a3\t0\t4\tcrash\tdeeper',
    'a4\t0.94\t\tdiscard\tno memory read',
  )
  const ruled = (...texts: string[]) =>
    withConstraints(history, texts.map(constraintIn)).rows.map(({ outcome }) => outcome.kind)

  test('a row that breaks one keeps its number and counts as violated, also where the log kept it', () => {
    const { rows } = withConstraints(history, [constraintIn('val_bpb >= 0.9')])
    expect(rows[1]).toMatchObject({
      role: 'kept',
      outcome: { kind: 'violated', metrics: { val_bpb: 0.2 }, reason: 'val_bpb is 0.2, and must be at least 0.9' },
    })
    expect(ruled('val_bpb >= 0.9')).toEqual(['finished', 'violated', 'finished', 'crashed', 'finished'])
  })

  test('a bound may be relative to what the row was tried on; a number that a row lacks breaks nothing', () => {
    expect(ruled('memory_gb <= 2x')).toEqual(['finished', 'finished', 'violated', 'crashed', 'finished'])
    expect(ruled('nothing <= 1')).toEqual(['finished', 'finished', 'finished', 'crashed', 'finished'])
  })

  test('are written as people write them', () => {
    expect(constraintIn(' val bpb ≥ 0.9 ')).toEqual({ metric: 'val bpb', atLeast: 0.9 })
    expect(constraintIn('bytes<=16_000_000')).toEqual({ metric: 'bytes', atMost: 16e6 })
    expect(constraintText(constraintIn('loss <= 1.25x'))).toBe("loss at most 1.25 times the reference's")
    expect(() => constraintIn('loss < 3')).toThrow('"loss < 3" is no constraint; write a metric, <= or >=')
  })
})

describe('what is known of a history before it is stored', () => {
  test('texts that tell the result are counted, by words and by the number itself', () => {
    const { leaking } = examine(
      read(
        'baseline\t1.0\t4\tkeep\tbaseline',
        'a1\t0.98765\t4\tkeep\twider layers, 0.9877 now',
        'a2\t0.99\t4\tdiscard\tdeeper (much worse)',
        'a3\t0.99\t4\tdiscard\tshallower',
      ),
    )
    expect(leaking).toEqual({ rows: 2, share: 0.5 })
  })

  test('a step far beyond what was ever kept is at risk; the reference and usual steps are not', () => {
    const kept = Array.from({ length: 12 }, (_, i) => {
      const value = 1 - 0.001 * (i + 1) - 0.0001 * (i % 3)
      return `b${i}\t${value.toFixed(5)}\t4\tkeep\tchange ${i}`
    })
    const { atRisk } = examine(read('baseline\t1.0\t4\tkeep\tbaseline', ...kept, 'c1\t0.4\t4\tdiscard\treads answers'))
    expect(atRisk).toMatchObject([{ place: 'line 15', value: 0.4 }])
  })

  test('reasons are grouped, the dates are those of the rows', () => {
    const history = readResultsTsv(
      [
        `${header}\ttimestamp`,
        'baseline\t1.0\t4\tkeep\tbaseline\t2026-04-03T16:50:11+09:00',
        'a1\t\t4\tkeep\tone\t',
        'a2\t\t4\tkeep\ttwo\t',
        'a3\t0.9\t4\twhat\tthree\t',
        'a4\t0.9\t4\tkeep\tfour\t2026-04-05T00:00:00Z',
      ].join('\n'),
      'results.tsv',
    )
    const { dates, unusable } = examine(history)
    expect(dates).toEqual({ first: '2026-04-03T07:50:11.000Z', last: '2026-04-05T00:00:00.000Z' })
    expect(unusable).toEqual([
      { reason: 'status "keep", but no value of val_bpb', rows: 2, places: ['line 3', 'line 4'] },
      { reason: 'unknown status "what"', rows: 1, places: ['line 5'] },
    ])
  })
})
