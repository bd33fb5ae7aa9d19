import { stripVTControlCharacters, styleText } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { displayWidth, pad, truncate } from './display-width.ts'
import { progressLine } from './progress.ts'
import { renderResultTable } from './result-table.ts'
import { sampleReport } from './sample-report.ts'
import { renderTable, type Styling } from './table.ts'

const plain: Styling = (_, text) => text

test('columns line up, numbers at the right, the flexible column cut to the width', () => {
  const table = renderTable(
    [{ heading: 'name', shrinkTo: 8 }, { heading: 'gain', align: 'right' }, { heading: 'verdict' }],
    [
      ['a sentence that is rather long for so narrow a terminal', '+0.1', 'better'],
      ['漢字の提案です、とても長い文章', '−12.25', 'worse'],
      ['short', '0', 'inconclusive'],
    ],
    { width: 40, styling: plain },
  )
  expect(`\n${table}\n`).toBe(`
name                  gain  verdict
a sentence that i…    +0.1  better
漢字の提案です、…   −12.25  worse
short                    0  inconclusive
`)
})

test('what a terminal would obey is shown, not obeyed', () => {
  const table = renderTable([{ heading: 'a' }], [['x\u001b[2Jy\u0007\u202ez\nsecond line']], {
    width: 80,
    styling: plain,
  })
  expect(table).toBe('a\nx[U+001B][2Jy[U+0007][U+202E]z second line')
})

test('styling changes no width', () => {
  const data = sampleReport(3)
  const coloured: Styling = (style, text) =>
    styleText(style === 'better' ? 'green' : 'gray', text, { validateStream: false })
  const withColour = renderResultTable(data.records, data.forecasts, { width: 90, styling: coloured })
  expect(withColour).toContain('\u001b[')
  expect(stripVTControlCharacters(withColour).replace(/ +$/gm, '')).toBe(
    renderResultTable(data.records, data.forecasts, { width: 90, styling: plain }),
  )
})

test('every line of the result table fits the terminal', () => {
  fc.assert(
    fc.property(fc.integer({ min: 75, max: 200 }), fc.integer({ min: 1, max: 50 }), (width, seed) => {
      const data = sampleReport(seed, { hostile: true, records: 12 })
      const lines = renderResultTable(data.records, data.forecasts, { width, styling: plain }).split('\n')
      expect(lines).toHaveLength(data.records.length + 1)
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width)
      expect(lines.join('\n')).not.toMatch(/NaN|undefined|Infinity/)
    }),
    { numRuns: 20 },
  )
})

test('truncation never exceeds its columns and keeps whole what fits', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.integer({ min: 1, max: 30 }), (text, columns) => {
      const cut = truncate(text, columns)
      expect(displayWidth(cut)).toBeLessThanOrEqual(columns)
      if (displayWidth(text) <= columns) expect(cut).toBe(text)
      else expect(cut.endsWith('…')).toBe(true)
    }),
  )
})

test('widths of wide, combining and joined characters', () => {
  expect(['abc', '漢字', 'e\u0301', '👩‍🔬', '한국', 'ｆ', '−±…→'].map(displayWidth)).toEqual([3, 4, 1, 2, 4, 2, 4])
  expect(pad('漢', 4, 'right')).toBe('  漢')
})

test('the progress line says round, run, time and best gain, and is cut to the terminal', () => {
  const measured = { gain: 0.01234, standardError: 0.004, degreesOfFreedom: 8, probabilityBetter: 0.99 }
  const progress = {
    round: 2,
    rounds: 4,
    runsEnded: 7,
    runsBudget: 24,
    runsRunning: 2,
    runsFailed: 1,
    elapsedSeconds: 72,
    secondsBudget: 300,
    best: { measured, sentence: 'swap AdamW\nfor Muon' },
  }
  expect(progressLine(progress, 200)).toBe(
    'round 2/4 · run 7/24, 2 running, 1 failed · 1 min 12 s of 5 min 00 s · best +0.0123 ± 0.0040 (swap AdamW for Muon)',
  )
  expect(displayWidth(progressLine(progress, 40))).toBe(40)
  const long = progressLine({ ...progress, best: { measured, sentence: 'a sentence '.repeat(40) } }, 480)
  expect(long).toMatch(/\(a sentence .{40,}…\)$/)
  expect(displayWidth(long)).toBeLessThan(180)
  expect(
    progressLine(
      { ...progress, rounds: null, runsBudget: null, runsRunning: 0, runsFailed: 0, secondsBudget: null, best: null },
      80,
    ),
  ).toBe('round 2 · run 7 · 1 min 12 s · no gain measured yet')
  expect(progressLine({ ...progress, round: 'reference', best: null }, 80)).toBe(
    'reference · run 7/24, 2 running, 1 failed · 1 min 12 s of 5 min 00 s',
  )
  expect(progressLine({ ...progress, round: null, runsFailed: 0, best: null, secondsBudget: null }, 80)).toBe(
    'run 7/24, 2 running · 1 min 12 s',
  )
})
