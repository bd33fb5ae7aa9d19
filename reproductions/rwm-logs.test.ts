import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { quickStart } from '../src/command-line.ts'
import { seededRandom } from '../src/statistics/random.ts'

const program = fileURLToPath(new URL('rwm-logs.ts', import.meta.url))

/** Of 30 rows, every third good and every third a crash; one cannot be used. */
function log(seed: number): string {
  const random = seededRandom(seed)
  const rows = Array.from({ length: 30 }, (_, row) => {
    const commit = (0x2000000 + 100 * seed + row).toString(16)
    if (row % 3 === 2) return `${commit}\t0.0\tcrash\ta larger batch, form ${row}`
    const good = row % 3 === 0
    const value = (2 + (good ? -0.1 : 0.1) + 0.01 * random.normal()).toFixed(5)
    return `${commit}\t${value}\tdiscard\t${good ? 'warm up for longer' : 'decay weights more'}, form ${row}`
  })
  return [
    'commit\tval_loss\tstatus\tdescription',
    'baseline\t2.0\tkeep\tbaseline',
    ...rows,
    'x\tn/a\tdiscard\tnothing',
    '',
  ].join('\n')
}

test('logs of others become a page: the same each time, without the places where they lie', () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-rwm-logs-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const logs = [1, 2].map(seed => {
    const path = join(folder, `log-${seed}.tsv`)
    writeFileSync(path, log(seed))
    return path
  })
  const call = () =>
    execFileSync(
      process.execPath,
      [
        program,
        ...logs,
        '--forecasters',
        'recent,neighbours',
        '--resamples',
        '100',
        '--pools',
        '4',
        '--output',
        join(folder, 'page.md'),
      ],
      { encoding: 'utf8', env: quickStart },
    )
  const page = call()
  expect(readFileSync(join(folder, 'page.md'), 'utf8')).toBe(page)
  expect(call()).toBe(page)
  expect(page).not.toContain(folder)
  expect(page).not.toMatch(/NaN|undefined|Infinity/)
  expect(page).toContain('node reproductions/rwm-logs.ts log-1.tsv log-2.tsv --forecasters')
  for (const name of ['log-1.tsv', 'log-2.tsv']) {
    // In what was read, in three tables of figures, and at the gate.
    expect(page.split('\n').filter(line => line.startsWith(`| ${name} |`))).toHaveLength(5)
  }
  expect(page).toMatch(/\| log-1\.tsv \| 31 \(1\) \| 0 \|/)
  expect(page).toContain('Mean over the 2 environments')
  const row = page.split('\n').find(line => line.startsWith('| neighbours |'))!
  expect(Number(row.split('|')[2]!.trim().split(' ')[0])).toBeGreaterThan(0.4)
})

test('without a log, or with too short ones, it says so', () => {
  expect(() => execFileSync(process.execPath, [program], { stdio: 'pipe', env: quickStart })).toThrow(
    "error: missing required argument 'logs'",
  )
  const folder = mkdtempSync(join(tmpdir(), 'almanac-rwm-logs-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'short.tsv'), log(1).split('\n').slice(0, 9).join('\n'))
  const short = spawnSync(process.execPath, [program, join(folder, 'short.tsv')], { encoding: 'utf8', env: quickStart })
  expect({ status: short.status, errors: short.stderr }).toEqual({
    status: 2,
    errors: 'almanac: None of the logs has 20 rows with a result; give longer ones, or --least.\n',
  })
})
