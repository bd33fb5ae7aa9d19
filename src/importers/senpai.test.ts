import { expect, test } from 'vitest'
import { senpaiHistory } from './senpai.ts'
import { readSenpaiMarkdown } from './senpai-markdown.ts'

const log = `# Experiments

## 2026-04-04 11:50 — PR #2104: Dedicated head — fern — **MERGED**

**Hypothesis:** A head of its own
for aft foils should improve p_tan.

| Metric | Baseline (#2001) | Seed 42 (k4xt) | Seed 73 (dh2t) | 2-seed avg | Δ |
|---|---|---|---|---|---|
| p_in | 12.0 | **11.5** | 11.7 | 11.6 | -3.3% ✓ |
| p_tan | 28.0 | 27.0 | 27.2 | 27.1 | -3.2% |

## 2026-04-05 — PR #2111: Spectral bias — nezuko — **CLOSED** ❌

**Hypothesis:** Fourier features.

| Metric | Baseline (#2104) | 2-seed avg | Δ |
|---|---|---|---|
| p_in | 11.6 | 13.15 | +13% ✗ |

## PR #2112: Nothing measured — **DEAD END**

- **Verdict:** DEAD END

## PR #2113: Sharper — edward — **MERGED**

| Metric | Baseline (#2104) | Result |
| --- | --- | --- |
| p_in | 11.6 | 11.4 |

## PR #2114: Sharper still — edward — **MERGED**

| Metric | Baseline (#2113) | Seed 1 |
| --- | --- | --- |
| p_in | 11.4 | 11.3 |
`

test('each section is measured against the baseline that it states, a run for each seed', () => {
  const history = senpaiHistory(readSenpaiMarkdown(log), 'EXPERIMENTS_LOG.md')
  const places = new Map(history.rows.map(({ key, place }) => [key, place]))
  expect(
    history.rows.map(({ place, role, seed, against, outcome, intervention }) => [
      place,
      role,
      seed,
      against === null ? null : places.get(against),
      outcome.metrics['p_in'],
      intervention.sentence,
    ]),
  ).toEqual([
    ['line 3, its baseline', 'reference', null, null, 12, 'the baseline Baseline (#2001)'],
    ['line 3, seed 42', 'kept', 42, 'line 3, its baseline', 11.5, expect.stringContaining('Dedicated head: A head of')],
    ['line 3, seed 73', 'tried', 73, 'line 3, its baseline', 11.7, expect.any(String)],
    ['line 13, its baseline', 'reference', null, null, 11.6, 'the baseline Baseline (#2104)'],
    ['line 13', 'tried', null, 'line 13, its baseline', 13.15, 'Spectral bias: Fourier features.'],
    ['line 25', 'kept', null, 'line 13, its baseline', 11.4, 'Sharper'],
    ['line 31, its baseline', 'reference', null, null, 11.4, 'the baseline Baseline (#2113)'],
    ['line 31, seed 1', 'kept', 1, 'line 31, its baseline', 11.3, 'Sharper still'],
  ])
  expect(history.rows[1]!.outcome.metrics).toEqual({ p_in: 11.5, p_tan: 27 })
  expect(history.unusable).toMatchObject([{ place: 'line 21', reason: 'the section has no table of metrics' }])
  expect(history.statuses).toContainEqual({ word: 'CLOSED', meaning: 'finished', rows: 1 })
})

test('what was merged tells which way is better, and that is said to be a guess', () => {
  const history = senpaiHistory(readSenpaiMarkdown(log), 'EXPERIMENTS_LOG.md')
  expect(history.metrics[0]).toEqual({ name: 'p_in', direction: 'minimize', guessed: true })
  expect(history.guesses).toEqual([
    'the metric is p_in: most sections have it',
    'lower is better: most merged ones are',
  ])
  expect(() => senpaiHistory(readSenpaiMarkdown(log), 'x.md', { metric: { name: 'bleu' } })).toThrow(
    'x.md has no metric "bleu": its metrics are p_in, p_tan',
  )
})

test('a line of any length takes a time that grows with it', () => {
  const [section] = readSenpaiMarkdown(`## PR #1: x\n${' '.repeat(500_000)}x\n**Hypothesis:** Wider.\n`)
  expect(section!.hypothesis).toBe('Wider.')
})
