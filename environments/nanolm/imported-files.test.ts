import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { code } from './environment.ts'
import { importedFiles } from './imported-files.ts'

const program = fileURLToPath(new URL('train.ts', import.meta.url))

/** Says on standard output which files are loaded. */
const recorder = `import { registerHooks } from 'node:module'
registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) })`

test('exactly the files that Node loads for the program', () => {
  const preload = `data:text/javascript,${encodeURIComponent(recorder)}`
  const { stdout } = spawnSync(process.execPath, ['--import', preload, program], { encoding: 'utf8' })
  const loaded = stdout
    .split('\n')
    .filter(line => line.startsWith('file:') && !line.includes('/node_modules/'))
    .map(url => fileURLToPath(url))
  expect(loaded.length).toBeGreaterThan(20)
  expect(importedFiles(program)).toEqual(loaded.sort())
})

test('the version counts them by paths beside the environment file, types left out', () => {
  expect(code).toContain('train.ts')
  expect(code).toContain('../../src/statistics/random.ts')
  expect(code).not.toContain('environment.ts')
  expect(code).not.toContain('../../src/engine/training.ts')
  expect(code.filter(name => name.endsWith('.test.ts'))).toEqual([])
})
