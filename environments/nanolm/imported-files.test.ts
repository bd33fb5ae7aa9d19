import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { code } from './environment.ts'
import { tiny } from './fixtures/tiny.ts'
import { importedFiles } from './imported-files.ts'

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

test('the version counts those of the program, by paths beside the environment file, and what the engine computes', () => {
  expect(code).toContain('behaviour.json')
  expect(code).toContain('train.ts')
  expect(code).toContain('text.ts')
  expect(code.filter(name => /\/|environment|cards|propose|\.test\.ts$/.test(name))).toEqual([])
})
