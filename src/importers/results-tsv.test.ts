import { describe, expect, test } from 'vitest'
import type { ImportedHistory } from './history.ts'
import { readResultsTsv, tsvTable } from './results-tsv.ts'
import { tableHistories } from './table-history.ts'

const tsv = (...rows: string[][]) => `${rows.map(cells => cells.join('\t')).join('\n')}\n`
const header = ['commit', 'val_bpb', 'memory_gb', 'status', 'description']

const lineAt = ({ place }: { readonly place: string }) => Number(place.replace('line ', ''))

/** One line a row: line, role, outcome, objective, the line of the row it was tried on. */
function summary({ rows, metrics }: ImportedHistory) {
  const lineOf = new Map(rows.map(row => [row.key, lineAt(row)]))
  return rows.map(({ place, role, outcome, against }) => {
    const value = outcome.metrics[metrics[0].name]
    return `${lineAt({ place })} ${role} ${outcome.kind} ${value ?? '-'} on ${against === null ? '-' : lineOf.get(against)}`
  })
}

describe("karpathy's format", () => {
  const text = tsv(
    header,
    ['baseline', '0.997900', '44.0', 'keep', 'baseline'],
    ['aaaaaa1', '0.986041', '43.9', 'keep', 'halve the batch (more steps)'],
    ['aaaaaa2', '0.990000', '43.9', 'discard', 'add 5% warmup (much worse)'],
    ['aaaaaa3', '0.000000', '0.0', 'crash', 'double the width (OOM)'],
    ['aaaaaa4', '0.985500', '43.9', 'keep', 'embedding LR 0.6 to 0.8'],
    ['aaaaaa5', '0.985600', '43.9', 'discard', 'softcap 15 to 20'],
  )
  const history = readResultsTsv(text, 'results.tsv')

  test('each row is tried on the row kept before it, not on the best so far', () => {
    expect(summary(history)).toEqual([
      '2 reference finished 0.9979 on -',
      '3 kept finished 0.986041 on 2',
      '4 tried finished 0.99 on 3',
      '5 tried crashed - on 3',
      '6 kept finished 0.9855 on 3',
      '7 tried finished 0.9856 on 6',
    ])
    expect(history.unusable).toEqual([])
  })

  test('the metric and its direction are guessed from the header, and said to be', () => {
    expect(history.metrics).toEqual([
      { name: 'val_bpb', direction: 'minimize', guessed: true },
      { name: 'memory_gb', direction: 'minimize', guessed: true },
    ])
  })

  test('a crash has no number, not zero, and its reason', () => {
    const crash = history.rows[3]!
    expect(crash.outcome.metrics).toEqual({})
    expect(crash.outcome.reason).toMatch(/crash.*OOM/)
  })

  test('the sentence says what was tried, the note how it went', () => {
    const discarded = history.rows[2]!
    expect(discarded.intervention.sentence).toBe('add 5% warmup')
    expect(discarded.note).toContain('much worse')
  })

  test('line ends, a byte-order mark and added rows do not change who a row is', () => {
    const windows = readResultsTsv(`\uFEFF${text.replaceAll('\n', '\r\n')}`, 'elsewhere/results.tsv')
    const grown = readResultsTsv(`${text}aaaaaa6\t0.98\t44\tkeep\tsomething new\n`, 'results.tsv')
    const keys = history.rows.map(row => row.key)
    expect(windows.rows.map(row => row.key)).toEqual(keys)
    expect(grown.rows.map(row => row.key).slice(0, keys.length)).toEqual(keys)
    expect(new Set(keys).size).toBe(keys.length)
  })
})

describe('relatives', () => {
  test('upper-case and other statuses, a metric that is better when higher, tags, units', () => {
    const history = readResultsTsv(
      tsv(
        ['experiment', 'tag', 'decode_tok_s', 'batch_tok_s', 'accept', 'status', 'description'],
        ['1', 'plain_baseline', '107.2', '1,290', 'N/A', 'KEEP', 'plain baseline'],
        ['2', 'plain_baseline', '105.6', '1229', 'N/A', 'KEEP', 'plain baseline again'],
        ['3', 'draft_8', '362.4 tok/s', '1873', '8.00', 'NEW_BEST', 'eight draft tokens'],
        ['4', 'page_64', '300', '1800', '8.00', 'REVERT', 'REVERT: page size 64 slightly worse'],
        ['5', 'cutlass', '0.0', '0', 'N/A', 'FAIL', 'FAIL: backend not supported'],
        ['6', 'ctx_512', '0.0', '7801', 'N/A', 'REVERT', 'context 512'],
        ['7', 'limit', '10', '11', '1', 'size_violation', 'over the limit'],
        ['8', 'slow_disk', 'n/a', '', '', 'rate_limited', 'again later'],
        ['9', 'hot', 'nan', '', '', 'discard', 'learning rate 3'],
      ),
      'results.tsv',
    )
    expect(history.metrics[0]).toEqual({ name: 'decode_tok_s', direction: 'maximize', guessed: true })
    expect(summary(history)).toEqual([
      '2 reference finished 107.2 on -',
      '3 reference finished 105.6 on 2',
      '4 kept finished 362.4 on 2',
      '5 tried finished 300 on 4',
      '6 tried crashed - on 4',
      '8 tried violated 10 on 4',
      '9 tried infrastructure - on 4',
      '10 tried diverged - on 4',
    ])
    expect(history.rows[0]!.outcome.metrics['batch_tok_s']).toBe(1290)
    expect(history.unusable).toMatchObject([
      { place: 'line 7', reason: expect.stringContaining('no value of decode_tok_s') },
    ])
  })

  test('a proposal beside the description makes the description a note', () => {
    const { rows } = readResultsTsv(
      tsv(
        ['commit', 'val_bpb', 'status', 'reasoning', 'description'],
        ['aaaaaa1', '1.2', 'keep', 'ground truth', 'baseline: unmodified'],
        ['nocommit', '1.3', 'discard', 'SwiGLU with a shorter warm-down', 'warmdown hurts generalization'],
      ),
      'results.tsv',
    )
    expect(rows[1]).toMatchObject({
      intervention: { sentence: 'SwiGLU with a shorter warm-down' },
      note: 'warmdown hurts generalization',
      commit: null,
    })
  })

  test('what cannot be used is listed with its line and reason', () => {
    const history = readResultsTsv(
      tsv(
        header,
        ['baseline', '1.0', '4', 'keep', 'baseline'],
        ['aaaaaa1', '0.9', '4', 'curriculum_0.67', 'a status nobody knows'],
        ['aaaaaa2', 'TBD', '4', 'keep', 'not measured yet'],
        ['aaaaaa3', '0.8', '4', 'pending', 'soon'],
        ['nocommit', '0.8', '4', 'discard', ''],
        ['aaaaaa4', '0.95', '4', 'discard', 'twice'],
        ['aaaaaa4', '0.95', '4', 'discard', 'twice'],
        ['garbage'],
        ['aaaaaa5', '0.7', '4', '', 'no status'],
      ),
      'results.tsv',
    )
    expect(history.rows.map(lineAt)).toEqual([2, 7])
    expect(history.unusable.map(row => `${lineAt(row)} ${row.reason}`)).toEqual([
      '3 unknown status "curriculum_0.67"',
      '4 status "keep", but no value of val_bpb',
      '5 was not run: its status is "pending"',
      '6 nothing says what was tried: no description, and no commit',
      '8 the same as line 7, word for word: a copy, not a second run',
      '9 no status (the row has 1 cell, the header 5)',
      '10 no status',
    ])
  })

  test('shifted and short rows are laid on their columns by the status word', () => {
    const { rows, unusable } = readResultsTsv(
      tsv(
        header,
        ['baseline', '1.0', '4', 'keep', 'baseline'],
        ['aaaaaa1', '0.9', '5', 'curriculum_0.67', 'extra', 'discard', 'more columns than the header'],
        ['aaaaaa2', '0.8', 'keep', 'no memory column'],
        ['0.7', '6', 'discard', 'no commit column'],
        ['aaaaaa3', '0.6', '4', 'discard', 'a description', 'with a tab in it'],
        ['aaaaaa4\\t0.5\\t4\\tdiscard\\ttabs that a shell did not make'],
      ),
      'results.tsv',
    )
    expect(unusable).toEqual([])
    expect(rows.map(row => [lineAt(row), row.outcome.metrics['val_bpb'], row.outcome.metrics['memory_gb']])).toEqual([
      [2, 1, 4],
      [3, 0.9, 5],
      [4, 0.8, undefined],
      [5, 0.7, 6],
      [6, 0.6, 4],
      [7, 0.5, 4],
    ])
    expect(rows[1]!.intervention.sentence).toContain('more columns than the header')
    expect(rows[1]!.intervention.sentence).toContain('curriculum_0.67; extra')
    expect(rows[4]!.intervention.sentence).toBe('a description with a tab in it')
  })

  test('quotes, unicode and descriptions over several lines', () => {
    const { rows } = readResultsTsv(
      `${header.join('\t')}\nbaseline\t1.0\t4\tkeep\tbaseline\naaaaaa1\t0.9\t4\tdiscard\t"quoted ""word""\nand a second line"\n` +
        `aaaaaa2\t0.8\t4\tdiscard\t5" disk → ≈ faster loader\nwhich goes on here\naaaaaa3\t0.7\t4\tdiscard\tlast\n`,
      'results.tsv',
    )
    expect(rows.map(row => row.intervention.sentence)).toEqual([
      'baseline',
      'quoted "word"\nand a second line',
      expect.stringContaining('5" disk'),
      'last',
    ])
    expect(rows.map(lineAt)).toEqual([2, 3, 5, 7])
  })

  test('without a header: the status is found by its words, the metric before it', () => {
    const text = tsv(
      ['baseline', '0.99', '44.0', 'keep', 'baseline'],
      ['aaaaaa1', '0.98', '44.0', 'keep', 'one'],
      ['aaaaaa2', '0.985', '44.0', 'discard', 'two'],
    )
    const history = readResultsTsv(text, 'results.tsv', { metric: { name: 'val_bpb', direction: 'minimize' } })
    expect(summary(history)).toEqual([
      '1 reference finished 0.99 on -',
      '2 kept finished 0.98 on 1',
      '3 tried finished 0.985 on 2',
    ])
    expect(history.metrics[0]).toEqual({ name: 'val_bpb', direction: 'minimize', guessed: false })
  })

  test('several environments in one file: each row is tried on what was kept in its own', () => {
    const text = tsv(
      ['commit', 'tier', 'val_bpb', 'status', 'description'],
      ['a1', 'local', '9.0', 'keep', 'baseline'],
      ['a2', 'cluster', '1.3', 'keep', 'baseline on the cluster'],
      ['a3', 'local', '8.9', 'keep', 'first'],
      ['a4', 'cluster', '1.2', 'discard', 'second'],
      ['a5', 'cluster', '', 'keep', 'nothing measured'],
    )
    const histories = tableHistories(tsvTable(text, 'results.tsv'))
    expect(histories.map(({ name }) => name)).toEqual(['local', 'cluster'])
    expect(histories.map(summary)).toEqual([
      ['2 reference finished 9 on -', '4 kept finished 8.9 on 2'],
      ['3 reference finished 1.3 on -', '5 tried finished 1.2 on 3'],
    ])
    expect(histories.flatMap(({ unusable }) => unusable.map(({ place }) => place))).toEqual(['line 6'])
  })

  test('a sweep without status and text: settings become overrides on the first row', () => {
    const { rows, metrics } = readResultsTsv(
      tsv(
        ['layer', 'block', 'warps', 'ratio', 'latency_us'],
        ['sliding', '16', '2', '2.2857142857142856', '31.7'],
        ['sliding', '16', '4', '2.2857142857142856', '30.1'],
        ['full', '32', '2', '2.2857142857142856', '40.0'],
        ['sliding', '16', '2', '2.2857142857142856', '31.9'],
      ),
      'sweep.tsv',
    )
    expect(metrics[0]).toMatchObject({ name: 'latency_us', direction: 'minimize' })
    expect(rows.map(row => [row.role, row.intervention.overrides])).toEqual([
      ['reference', { layer: 'sliding', block: 16, warps: 2 }],
      ['tried', { warps: 4 }],
      ['tried', { layer: 'full', block: 32 }],
      ['reference', { layer: 'sliding', block: 16, warps: 2 }],
    ])
  })

  test('a random search: what everybody sets is an option, also where its numbers never repeat', () => {
    const { rows, metrics } = readResultsTsv(
      tsv(['lr', 'batch_size', 'val_loss'], ['0.0123', '16', '2.1'], ['0.0456', '32', '1.9'], ['0.0789', '16', '2.5']),
      'search.tsv',
    )
    expect(metrics.map(({ name }) => name)).toEqual(['val_loss'])
    expect(rows[1]!.intervention.overrides).toEqual({ lr: 0.0456, batch_size: 32 })
  })

  test('a direction that the name does not tell is read off the kept rows, or left open', () => {
    const rows = (values: number[]) =>
      tsv(
        ['commit', 'thing', 'status', 'description'],
        ...values.map((value, i) => [`a${i}`, `${value}`, 'keep', `change ${i}`]),
      )
    expect(readResultsTsv(rows([1, 2, 3, 4]), 'results.tsv').metrics[0].direction).toBe('maximize')
    expect(readResultsTsv(rows([4, 3, 2, 1]), 'results.tsv').metrics[0].direction).toBe('minimize')
    expect(readResultsTsv(rows([1, 2, 1, 2]), 'results.tsv').metrics[0].direction).toBeNull()
  })
})

describe('what is not a results table', () => {
  test.each([
    ['an empty file', '', /results\.tsv is empty/],
    ['prose', 'Once upon a time\nthere was a file\n', /not a results table: line 1/],
    ['no numbers', 'commit\tstatus\tdescription\na1\tkeep\tx\n', /no column of numbers/],
  ])('%s', (_, text, sentence) => {
    expect(() => readResultsTsv(text, 'results.tsv')).toThrow(sentence)
  })

  test('a metric that has no column: the columns are named', () => {
    const read = () =>
      readResultsTsv(tsv(header), 'results.tsv', { metric: { name: 'val_loss', direction: 'minimize' } })
    expect(read).toThrow(
      'results.tsv has no column "val_loss" for the metric: its columns are commit, val_bpb, memory_gb',
    )
  })
})
