/**
 * A run that was killed while it was at a later step goes on from its checkpoint, in another process, with the same numbers as one that never
 * stopped: each optimiser moves something, and dropout draws masks.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createEmbeddedEngine } from '../embedded/engine.ts'
import { createTrainer, train } from './fixtures/killed-run.ts'

const home = mkdtempSync(join(tmpdir(), 'almanac-killed-'))
afterAll(() => rmSync(home, { recursive: true }))

it('goes on where it was saved', async () => {
  const folder = join(home, 'saved')
  const program = join(import.meta.dirname, 'fixtures', 'killed-run.ts')
  expect(spawnSync(process.execPath, [program, folder]).signal).toBe('SIGKILL')

  const never = await createTrainer()
  await train(never, 0, 3)
  const losses = await train(never, 3, 6)
  const stopped = await createEmbeddedEngine().loadTrainer(folder)
  expect(stopped.version).toBe(3)
  expect(await train(stopped, 3, 6)).toEqual(losses)

  // Everything that goes on is in a checkpoint: weights, what optimisers remember, counters.
  const folders = [join(home, 'never stopped'), join(home, 'stopped')] as const
  await never.save(folders[0])
  await stopped.save(folders[1])
  for (const file of ['manifest.json', 'model.safetensors', 'optimiser.safetensors'])
    expect(readFileSync(join(folders[1], file)).equals(readFileSync(join(folders[0], file)))).toBe(true)
  await never.dispose()
  await stopped.dispose()
})
