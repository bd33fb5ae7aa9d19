import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'nanolm-'))
afterAll(() => rmSync(folder, { recursive: true }))

const program = fileURLToPath(new URL('train.ts', import.meta.url))
const tiny = { depth: 1, width: 16, heads: 2, keyValueHeads: 2, contextLength: 16, batchTokens: 512, tokenBudget: 4096 }

function configurationFile(name: string, value: unknown): string {
  const path = join(folder, name)
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value))
  return path
}

function train(...flags: string[]) {
  return spawnSync(process.execPath, [program, ...flags], { encoding: 'utf8', cwd: folder })
}

test('a run prints its progress and leaves its metrics', () => {
  const out = join(folder, 'run', 'deep')
  const { status, stdout, stderr } = train(
    '--config',
    configurationFile('tiny.json', tiny),
    '--seed',
    '7',
    '--out',
    out,
  )
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(/^step 1\/8 {2}loss \d\.\d{4} bits\/byte {2}[\d,]+ tokens\/s$/m)
  expect(readdirSync(out)).toEqual(['metrics.json'])
  const metrics = JSON.parse(readFileSync(join(out, 'metrics.json'), 'utf8'))
  expect(metrics).toMatchObject({
    outcome: 'finished',
    reason: null,
    tokens: 4096,
    steps: 8,
    seed: 7,
    configuration: tiny,
  })
  expect(metrics.val_bpb).toBeCloseTo((metrics.val_bpb_moby_dick + metrics.val_bpb_sotu) / 2, 10)
  // Embedding and head, four attention matrices, three of a SwiGLU layer with 40 units, three norms.
  expect(metrics.parameters).toBe(2 * 256 * 16 + 4 * 16 * 16 + 3 * 16 * 40 + 3 * 16)
  expect(metrics.estimated_flops).toBeGreaterThan(6 * 4096 * (256 * 16))
  expect(metrics.curve).toHaveLength(8)
  expect(metrics.tokens_per_second).toBeCloseTo(4096 / metrics.seconds, 6)
  expect(stdout).toContain(`val_bpb: ${metrics.val_bpb.toFixed(4)}`)
})

test('divergence is a result: exit code 0, and a metric that is not a number', () => {
  const config = configurationFile('wild.json', { ...tiny, learningRate: 10, clipNorm: 0, tokenBudget: 60 * 512 })
  const { status, stdout } = train('--config', config, '--seed', '1', '--out', join(folder, 'wild'))
  expect(status).toBe(0)
  expect(stdout).toMatch(/^diverged: /m)
  const metrics = JSON.parse(readFileSync(join(folder, 'wild', 'metrics.json'), 'utf8'))
  expect(metrics).toMatchObject({ outcome: 'diverged', val_bpb: 'NaN' })
})

test.each([
  [
    'two wrong options',
    { depth: 0, widht: 3 },
    'Option "depth" must be a whole number from 1 to 16, not 0.\nUnknown option "widht". Did you mean "width"?\n',
  ],
  ['no JSON', '{', /^The configuration .*wrong\.json is not JSON: /],
])('a configuration with %s: exit code 2 and sentences', (_, value, sentence) => {
  const out = join(folder, 'refused')
  const { status, stderr } = train('--config', configurationFile('wrong.json', value), '--seed', '1', '--out', out)
  expect(status).toBe(2)
  if (typeof sentence === 'string') expect(stderr).toBe(sentence)
  else expect(stderr).toMatch(sentence)
  expect(existsSync(out)).toBe(false)
})

test.each([
  [['--seed', '1', '--out', 'x'], /^Usage: /],
  [
    ['--config', 'nowhere.json', '--seed', '1', '--out', 'x'],
    /^The configuration nowhere\.json cannot be read: ENOENT/,
  ],
  [['--config', 'tiny.json', '--seed', '-1', '--out', 'x'], /seed/],
  [
    ['--config', 'tiny.json', '--seed', 'one', '--out', 'x'],
    /^--seed must be a whole number from 0 to \d+, not "one"\.$/m,
  ],
  [
    ['--config', 'tiny.json', '--seed', '1', '--out', 'x', '--threads', '0'],
    /^--threads must be a whole number from 1 to 64/,
  ],
  [['--config', 'tiny.json', '--seed', '1', '--out', 'tiny.json'], /^The folder tiny\.json cannot be written: /],
  [['--configuration', 'tiny.json'], /--configuration/],
])('%j: exit code 2 and a sentence', (flags, sentence) => {
  configurationFile('tiny.json', tiny)
  const { status, stderr } = train(...flags)
  expect(status).toBe(2)
  expect(stderr).toMatch(sentence)
  expect(stderr).not.toMatch(/^ {4}at /m)
})

test('a run that is killed leaves no metrics, not even those of the run before', async () => {
  const out = join(folder, 'killed')
  const flags = ['--seed', '1', '--out', out]
  expect(train('--config', configurationFile('first.json', tiny), ...flags).status).toBe(0)
  expect(existsSync(join(out, 'metrics.json'))).toBe(true)

  const long = configurationFile('long.json', { ...tiny, tokenBudget: 100_000_000 })
  const child = spawn(process.execPath, [program, '--config', long, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise(resolve => child.stdout.once('data', resolve))
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
  expect(readdirSync(out)).toEqual([])
})
