/**
 * Stopping, loading and going on gives the same numbers as never having stopped, to the last bit: weights, what every optimiser
 * remembers, dropout masks. What is stopped is another process, by a kill while it is at a later step.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createEmbeddedEngine } from '../embedded/engine.ts'
import { batch, createTrainer, train } from './fixtures/training.ts'

const home = mkdtempSync(join(tmpdir(), 'almanac-resume-'))
afterAll(() => rmSync(home, { recursive: true }))
const program = join(import.meta.dirname, 'fixtures', 'training.ts')

describe.each([
  ['all parameters', false],
  ['adapters', true],
])('training %s', (name, adapted) => {
  it('goes on where it was saved', async () => {
    const folder = join(home, name)
    const { signal } = spawnSync(process.execPath, [program, folder, ...(adapted ? ['adapters'] : [])])
    expect(signal).toBe('SIGKILL')

    const never = await createTrainer(adapted)
    await train(never, 0, 3)
    const expected = { losses: await train(never, 3, 6), values: await never.values(), version: never.version }
    expect(expected.version).toBe(6)

    // As a trainer of its own, and into one that was elsewhere.
    const loaded = await createEmbeddedEngine().loadTrainer(folder)
    const other = await createTrainer(adapted)
    await train(other, 7, 8)
    await other.forwardBackward(batch(9), { kind: 'cross_entropy' })
    await other.load(folder)
    for (const trainer of [loaded, other]) {
      expect(trainer.version).toBe(3)
      const losses = await train(trainer, 3, 6)
      expect({ losses, values: await trainer.values(), version: trainer.version }).toEqual(expected)
    }

    // Everything that goes on is in the folder: saved again it is the same.
    await never.save(join(home, `${name}, never stopped`))
    await loaded.save(join(home, `${name}, stopped`))
    for (const file of ['manifest.json', 'model.safetensors', 'optimiser.safetensors']) {
      const [one, two] = ['never stopped', 'stopped'].map(end => readFileSync(join(home, `${name}, ${end}`, file)))
      expect(one!.equals(two!)).toBe(true)
    }
    for (const trainer of [never, loaded, other]) await trainer.dispose()
  })
})

it('without what optimisers remember, training goes on otherwise', async () => {
  const folder = join(home, 'all parameters')
  const [withState, without] = [await createTrainer(false), await createTrainer(false)]
  await withState.load(folder)
  await without.load(folder, { optimiser: false })
  expect(await without.values()).toEqual(await withState.values())
  await train(withState, 3, 4)
  await train(without, 3, 4)
  expect(await without.values()).not.toEqual(await withState.values())
  for (const trainer of [withState, without]) await trainer.dispose()
})
