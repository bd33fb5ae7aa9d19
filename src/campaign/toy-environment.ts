/**
 * For tests: an environment whose program is real and quick. It fits nothing, but it reads its configuration, takes its
 * seed, writes its metrics, and notes each start in `started.log` (or where `log`
 * in the configuration says), so that a test can count what really ran. `until` names a file that it
 * waits for, as long as its folder is there.
 */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EnvironmentInput } from './environment-file.ts'

const program = `
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
const [, , configuration, seed, out] = process.argv
const { rate, width, wait = 20, until, fate, log = 'started.log' } = JSON.parse(readFileSync(configuration, 'utf8'))
appendFileSync(log, rate + ' ' + width + ' ' + seed + '\\n')
do await new Promise(resolve => setTimeout(resolve, wait)); while (until && !existsSync(until) && existsSync('program.mjs'))
if (fate === 'crash') { console.error('no such layer'); process.exit(3) }
if (fate === 'hang') await new Promise(resolve => setTimeout(resolve, 60_000))
const noise = 0.01 * Math.sin(Number(seed) * 12.9898 + rate * 78.233)
const loss = (Math.log10(rate) + 2) ** 2 + 1 / width + noise
writeFileSync(out + '/metrics.json', JSON.stringify({ loss: fate === 'diverge' ? 'NaN' : loss, size: width }))
console.log('loss: ' + loss)
`

export const toyInput: EnvironmentInput = {
  name: 'toy',
  command: 'node program.mjs {config} {seed} {out}',
  reference: { configuration: { rate: 1, width: 4 } },
  metrics: [
    { name: 'loss', direction: 'minimize', file: 'metrics.json', path: 'loss' },
    { name: 'size', direction: 'minimize', file: 'metrics.json', path: 'size' },
  ],
  constraints: [{ metric: 'size', atMost: 2, relativeTo: 'reference' }],
  concurrency: 2,
  candidates: { file: 'candidates.json' },
}

export interface ToyCandidate {
  readonly sentence: string
  readonly overrides: object
}

export const toyCandidates: readonly ToyCandidate[] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 3, 10].map(rate => ({
  sentence: `Learn at ${rate}`,
  overrides: { rate },
}))

/** Makes the environment in a new folder and gives its path. */
export function toyEnvironment(
  changes: Partial<EnvironmentInput> = {},
  candidates: readonly ToyCandidate[] = toyCandidates,
): string {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-toy-'))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'program.mjs'), program)
  writeFileSync(join(folder, 'candidates.json'), JSON.stringify(candidates))
  writeFileSync(join(folder, 'almanac.config.json'), JSON.stringify({ ...toyInput, ...changes }))
  return folder
}

/** `rate width seed` of every start of the program, in order. */
export function startsOf(folder: string): string[] {
  try {
    return readFileSync(join(folder, 'started.log'), 'utf8').trim().split('\n')
  } catch {
    return []
  }
}
