import { createTwoFilesPatch } from 'diff'
import { describe, expect, test } from 'vitest'
import { changedLiterals, changedOptions } from './diff-options.ts'

function diffOf(file: string, before: string, after: string): string {
  return `diff --git a/${file} b/${file}\n${createTwoFilesPatch(`a/${file}`, `b/${file}`, before, after)}`
}

describe('changedLiterals', () => {
  test.each([
    ['train.py', 'LR = 3e-4', 'LR = 1e-3  # faster', { option: 'train.py:LR', from: 3e-4, to: 1e-3 }],
    ['train.py', 'BATCH = 2**17', 'BATCH = 2**18', { option: 'train.py:BATCH', from: 131_072, to: 262_144 }],
    ['train.py', 'depth: int = 8', 'depth: int = 10', { option: 'train.py:depth', from: 8, to: 10 }],
    [
      'train.py',
      'BETAS = (0.9, 0.95)',
      'BETAS = (0.8, 0.95)',
      { option: 'train.py:BETAS', from: [0.9, 0.95], to: [0.8, 0.95] },
    ],
    [
      'train.py',
      'opt = AdamW(model, lr=3e-4, fused=True)',
      'opt = AdamW(model, lr=1e-3, fused=True)',
      { option: 'train.py:lr', from: 3e-4, to: 1e-3 },
    ],
    [
      'train.py',
      'p.add_argument("--warmup-steps", type=int, default=10)',
      'p.add_argument("--warmup-steps", type=int, default=40)',
      { option: 'train.py:warmup-steps', from: 10, to: 40 },
    ],
    ['train.py', 'self.scale = 7 // 2', 'self.scale = 9 // 2', { option: 'train.py:self.scale', from: 3, to: 4 }],
    ['train.py', 'USE_BIAS = False', 'USE_BIAS = None', { option: 'train.py:USE_BIAS', from: false, to: null }],
    ['train.js', 'const HIDDEN = 32', 'const HIDDEN = 64 // wider', { option: 'train.js:HIDDEN', from: 32, to: 64 }],
    [
      'train.ts',
      'export const rate: number = 0.1;',
      'export const rate: number = 0.2;',
      { option: 'train.ts:rate', from: 0.1, to: 0.2 },
    ],
    [
      'train.js',
      "const model = { width: 3, kind: 'gelu' }",
      "const model = { width: 3, kind: 'relu' }",
      { option: 'train.js:kind', from: 'gelu', to: 'relu' },
    ],
    ['config.json', '  "depth": 4,', '  "depth": 6,', { option: 'config.json:depth', from: 4, to: 6 }],
    [
      'config.yaml',
      '  optimizer: adamw',
      '  optimizer: muon',
      { option: 'config.yaml:optimizer', from: 'adamw', to: 'muon' },
    ],
    ['config.yml', '- lr: 0.1', '- lr: 0.2', { option: 'config.yml:lr', from: 0.1, to: 0.2 }],
    [
      'pyproject.toml',
      'threshold = 0.5',
      'threshold = 0.6',
      { option: 'pyproject.toml:threshold', from: 0.5, to: 0.6 },
    ],
  ])('%s: %s', (file, before, after, change) => {
    expect(changedLiterals(diffOf(file, `a\n${before}\nb\n`, `a\n${after}\nb\n`))).toEqual([change])
  })

  test.each([
    ['train.py', 'x = f(3)', 'x = f(4)'],
    ['train.py', '# LR = 3', '# LR = 4'],
    ['train.py', 'if LR == 3: stop()', 'if LR == 4: stop()'],
    ['train.py', 'y = x[a:3]', 'y = x[a:4]'],
    ['train.py', 'f = lambda a: 3', 'f = lambda a: 4'],
    ['train.py', 'print("LR = 3")', 'print("LR = 4")'],
    ['train.py', 'LR = 3 * scale', 'LR = 4 * scale'],
    ['train.py', 'LR *= 3', 'LR *= 4'],
    ['train.js', 'y = ok ? a : 3', 'y = ok ? a : 4'],
    ['train.js', '// LR = 3', '// LR = 4'],
    ['train.js', 'f = x => 3', 'f = x => 4'],
    ['README.md', 'LR = 3', 'LR = 4'],
    ['results.tsv', 'LR = 3', 'LR = 4'],
    ['package-lock.json', '"a": 3', '"a": 4'],
    ['ui/pnpm-lock.yaml', 'a: 3', 'a: 4'],
  ])('%s: %s assigns no literal to an option', (file, before, after) => {
    expect(changedLiterals(diffOf(file, `${before}\n`, `${after}\n`))).toEqual([])
  })

  test('an assignment on one side only has the other undefined', () => {
    expect(changedLiterals(diffOf('train.py', 'A = 1\n', 'A = 1\nWARMUP = 0.1\n'))).toEqual([
      { option: 'train.py:WARMUP', from: undefined, to: 0.1 },
    ])
    expect(changedLiterals(diffOf('train.py', 'A = 1\nCLIP = 1.0\n', 'A = 1\n'))).toEqual([
      { option: 'train.py:CLIP', from: 1, to: undefined },
    ])
  })

  test('code that only moved or was indented changes no option, within a hunk and across hunks', () => {
    const filler = Array.from({ length: 40 }, (_, line) => `pass_${line}()`).join('\n')
    expect(changedLiterals(diffOf('train.py', `LR = 3\n${filler}\n`, `${filler}\nLR = 3\n`))).toEqual([])
    expect(changedLiterals(diffOf('train.py', 'LR = 3\n', 'if big:\n    LR = 3\n'))).toEqual([])
    expect(changedLiterals(diffOf('train.py', `LR = 3\n${filler}\n`, `${filler}\nLR = 4\n`))).toEqual([
      { option: 'train.py:LR', from: 3, to: 4 },
    ])
  })

  test('the same name twice in a file stays apart', () => {
    const before = 'a = Muon(lr=0.02)\nb = AdamW(lr=0.004)\n'
    const after = 'a = Muon(lr=0.03)\nb = AdamW(lr=0.005)\n'
    expect(changedLiterals(diffOf('train.py', before, after))).toEqual([
      { option: 'train.py:lr', from: 0.02, to: 0.03 },
      { option: 'train.py:lr#2', from: 0.004, to: 0.005 },
    ])
  })

  test('several files, among them a binary and a malformed one, lose nothing of the others', () => {
    const binary = 'diff --git a/x.png b/x.png\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZQzU|?Vb\n\n'
    const malformed = 'diff --git a/y.py b/y.py\n--- a/y.py\n+++ b/y.py\n@@ -1,9 +1,9 @@\n-LR = 3\n'
    const diff = binary + malformed + diffOf('a/b.py', 'X = 1\n', 'X = 2\n') + diffOf('c.js', 'y: 1,\n', 'y: 3,\n')
    expect(changedLiterals(diff)).toEqual([
      { option: 'a/b.py:X', from: 1, to: 2 },
      { option: 'c.js:y', from: 1, to: 3 },
    ])
    expect(changedLiterals('not a diff at all')).toEqual([])
  })

  test('very long lines are passed over quickly', () => {
    const line = `DATA = [${'1, '.repeat(200_000)}]`
    expect(changedLiterals(diffOf('data.py', `${line}\nA = 1\n`, `${line} \nA = 2\n`))).toEqual([
      { option: 'data.py:A', from: 1, to: 2 },
    ])
  })
})

describe('changedOptions', () => {
  test('has the options of the overrides and those of the diff', () => {
    const reference = { configuration: { optimiser: { rate: 0.1, name: 'adamw' } } }
    const overrides = { optimiser: { rate: 0.2 } }
    const diff = diffOf('train.py', 'CLIP = 1\n', 'CLIP = 2\n')
    expect(changedOptions(reference, { overrides, diff })).toEqual([
      { option: 'optimiser.rate', from: 0.1, to: 0.2 },
      { option: 'train.py:CLIP', from: 1, to: 2 },
    ])
    expect(changedOptions(reference, { overrides: null, diff: null })).toEqual([])
    expect(changedOptions(reference, { overrides: { optimiser: { rate: 0.1 } }, diff: null })).toEqual([])
  })
})
