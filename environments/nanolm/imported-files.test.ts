import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { resolveConfiguration } from './configuration.ts'
import { code } from './environment.ts'
import { tiny } from './fixtures/tiny.ts'
import { importedFiles } from './imported-files.ts'
import { pretrain } from './pretrain.ts'

const program = fileURLToPath(new URL('train.ts', import.meta.url))

/** Runs the program on a tiny configuration, with hooks on how modules are loaded. */
function runWith(hooks: string) {
  const preload = `data:text/javascript,${encodeURIComponent(`import { registerHooks } from 'node:module'\n${hooks}`)}`
  return spawnSync(process.execPath, ['--import', preload, program, ...flags], { encoding: 'utf8' })
}

const folder = mkdtempSync(join(tmpdir(), 'nanolm-'))
writeFileSync(join(folder, 'tiny.json'), JSON.stringify(tiny))
const flags = ['--config', join(folder, 'tiny.json'), '--seed', '1', '--out', folder]
afterAll(() => rmSync(folder, { recursive: true }))

test('exactly the files that Node loads for a run', () => {
  const { stdout } = runWith('registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) })')
  const loaded = stdout
    .split('\n')
    .filter(line => line.startsWith('file:') && !line.includes('/node_modules/'))
    .map(url => fileURLToPath(url))
  expect(loaded.length).toBeGreaterThan(20)
  expect(importedFiles([program, fileURLToPath(new URL('pretrain.ts', import.meta.url))])).toEqual(loaded.sort())
})

test('the version counts them by paths beside the environment file, types and what samples or saves left out', () => {
  expect(code).toContain('train.ts')
  expect(code).toContain('../../src/engine/embedded/trainer.ts')
  expect(code).toContain('../../src/statistics/random.ts')
  expect(code).not.toContain('environment.ts')
  expect(code).not.toContain('../../src/engine/training.ts')
  expect(code.filter(name => /sampl|beam|checkpoint|tokenis|\.test\.ts$/.test(name))).toEqual([])
})

test('what the version leaves out decides nothing: a run measures the same where it cannot be used', async () => {
  const counted = JSON.stringify(code.map(name => new URL(name, import.meta.url).href))
  const unusable = `export class Samplers { release() {} }
    export const [readCheckpoint, writeCheckpoint] = []`
  const { stderr } = runWith(
    `registerHooks({ load: (url, context, next) =>
      url.includes('/node_modules/') || !url.startsWith('file:') || ${counted}.includes(url)
        ? next(url, context)
        : { format: 'module', shortCircuit: true, source: \`${unusable}\` } })`,
  )
  expect(stderr).toBe('')
  const { val_bpb } = JSON.parse(readFileSync(join(folder, 'metrics.json'), 'utf8'))
  const whole = await pretrain(resolveConfiguration(tiny), { seed: 1 })
  expect(val_bpb).toBe(whole.val_bpb)
})
