import { describe, expect, test } from 'vitest'
import type { Exit } from './exit.ts'
import { outcomeOf } from './outcome.ts'

const exit: Exit = {
  kind: 'exited',
  exitCode: 0,
  signal: null,
  reason: null,
  startedAt: '2026-01-01T00:00:00.000Z',
  finishedAt: '2026-01-01T00:00:02.000Z',
  seconds: 2,
  peakMegabytes: 10,
}
const readings = { loss: { kind: 'number', value: 1.5 }, speed: { kind: 'not finite', text: 'NaN' } } as const
const evidence = { exit, readings, objective: 'loss', broken: null } as const

test('a run that exits with its objective is finished, with what could be read and its times', () => {
  expect(outcomeOf({ ...evidence, cost: 3 })).toEqual({
    kind: 'finished',
    reason: null,
    metrics: { loss: 1.5 },
    exitCode: 0,
    startedAt: exit.startedAt,
    finishedAt: exit.finishedAt,
    seconds: 2,
    cost: 3,
  })
})

describe('the other outcomes', () => {
  const ended = (change: Partial<Exit>) => outcomeOf({ ...evidence, exit: { ...exit, ...change } })

  test('crashed: an exit code, also with a readable metric', () => {
    expect(ended({ exitCode: 3 })).toMatchObject({
      kind: 'crashed',
      reason: 'exit code 3',
      exitCode: 3,
      metrics: { loss: 1.5 },
    })
  })

  test('crashed: a signal', () => {
    expect(ended({ exitCode: null, signal: 'SIGSEGV' })).toMatchObject({ kind: 'crashed', reason: 'ended by SIGSEGV' })
    expect(ended({ exitCode: null, signal: 'SIGKILL' }).reason).toMatch(/SIGKILL.*memory runs out/)
  })

  test('crashed: the last line of the errors explains it, cleaned and cut', () => {
    const words = (lastLine: string) => outcomeOf({ ...evidence, exit: { ...exit, exitCode: 1 }, lastLine }).reason
    expect(words('ValueError: no')).toBe('exit code 1: ValueError: no')
    expect(words('\x1b[31mred\u202e\t\n')).toBe('exit code 1: [31mred')
    expect(words('x'.repeat(1000))!.length).toBeLessThan(230)
    expect(words('torch.OutOfMemoryError: CUDA out of memory. Tried')).toMatch(/^out of memory: exit code 1: torch/)
  })

  test('crashed: over its memory, or without its objective', () => {
    expect(ended({ kind: 'out-of-memory', reason: 'used 9 MB' })).toMatchObject({
      kind: 'crashed',
      reason: 'out of memory: used 9 MB',
    })
    const unread = outcomeOf({ ...evidence, readings: { loss: { kind: 'missing', why: 'the run wrote no m.json' } } })
    expect(unread).toMatchObject({
      kind: 'crashed',
      reason: 'metric missing: loss: the run wrote no m.json',
      metrics: {},
    })
    expect(outcomeOf({ ...evidence, readings: {} })).toMatchObject({
      kind: 'crashed',
      reason: expect.stringMatching(/does not say where/),
    })
  })

  test('diverged: the objective is not finite', () => {
    expect(outcomeOf({ ...evidence, objective: 'speed' })).toMatchObject({ kind: 'diverged', reason: 'speed is NaN' })
  })

  test('violated: a constraint is broken, and the number stays', () => {
    const broken = 'parameters is 9, over 1.25 times 4'
    expect(outcomeOf({ ...evidence, broken })).toMatchObject({
      kind: 'violated',
      reason: broken,
      metrics: { loss: 1.5 },
    })
  })

  test('timed out and cancelled', () => {
    expect(ended({ kind: 'timed-out', reason: 'over 1 s', exitCode: 0 })).toMatchObject({
      kind: 'timed-out',
      reason: 'over 1 s',
    })
    expect(ended({ kind: 'cancelled', reason: 'cancelled' })).toMatchObject({ kind: 'cancelled' })
  })

  test('infrastructure: lost, or never started', () => {
    expect(outcomeOf({ ...evidence, exit: 'lost', readings: {} })).toMatchObject({
      kind: 'infrastructure',
      startedAt: null,
      seconds: null,
      exitCode: null,
    })
    expect(ended({ kind: 'not-started', reason: 'no folder', exitCode: null })).toMatchObject({
      kind: 'infrastructure',
      reason: 'no folder',
      startedAt: null,
    })
  })
})
