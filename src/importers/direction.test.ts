import { expect, test } from 'vitest'
import { directionOfKept, directionOfName, zeroMeansMissing } from './direction.ts'

test.each([
  [
    'minimize',
    ['val_bpb', 'valLoss', 'test/perplexity', 'latency_ms', 'error_rate', 'combined_µs', 'peak_vram_mb', 'val_fid'],
  ],
  [
    'maximize',
    [
      'val_acc',
      'topAccuracy',
      'win_rate',
      'tokens_per_sec',
      'decode_tok_s',
      'tps',
      'throughput',
      'top1_acc',
      'F1',
      'score',
    ],
  ],
  [null, ['thing', 'zeta', 'depth', 'accept_length', 'score_loss', 'message', 'timeline']],
] as const)('%s: %s', (direction, names) => {
  expect(names.map(name => [name, directionOfName(name)])).toEqual(names.map(name => [name, direction]))
})

test('kept values tell a direction when there are enough of them and they agree', () => {
  expect(directionOfKept([5, 4, 3, 2])).toBe('minimize')
  expect(directionOfKept([1, 2, 3, 3, 4])).toBe('maximize')
  expect(directionOfKept([1, 2, 3])).toBeNull()
  expect(directionOfKept([1, 2, 1, 2, 1])).toBeNull()
})

test('no program takes no time, but a score of 0 is a score', () => {
  expect(['val_bpb', 'tok_s', 'latency_us'].map(zeroMeansMissing)).toEqual([true, true, true])
  expect(['accuracy', 'reward', 'error_rate'].map(zeroMeansMissing)).toEqual([false, false, false])
})
