/**
 * Memory does not grow over a long run: neither by what is compiled, drawn and snapshot in an engine, nor in the engine's thread by
 * prefixes and samplers that nobody refers to any more.
 */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { decoder } from '../models/decoder.ts'
import type { Sampler } from '../sampling.ts'
import { createEmbeddedEngine } from './engine.ts'
import { smallDecoder } from './fixtures/small-decoder.ts'
import { createWorkerEngine } from './worker-engine.ts'
import type { ToThread } from './worker-messages.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const model = decoder(smallDecoder)
const prompt = { tokens: Int32Array.of(1, 2) }

it('of an engine, over hundreds of steps and dozens of snapshots', () => {
  // In a process of its own: in one that runs tests, more changes than what the engine holds.
  const program = join(import.meta.dirname, 'fixtures', 'long-run.ts')
  const { stdout } = spawnSync(process.execPath, ['--expose-gc', program], { encoding: 'utf8' })
  const { held, whole } = JSON.parse(stdout) as { held: number; whole: number }
  // Usually 1 and 2 MB; 10 kB a step would be 3 MB, and the graphs that were pushed out 20.
  expect(held / 1e6).toBeLessThan(2)
  expect(whole / 1e6).toBeLessThan(8)
})

it('of an engine whose samplers are forgotten without being disposed of', async () => {
  const engine = createEmbeddedEngine()
  const trainer = await engine.createTrainer({ model })
  const forgotten = new WeakRef(await trainer.snapshot())
  const kept = await trainer.snapshot()
  const deadline = Date.now() + 10_000
  while (forgotten.deref() && Date.now() < deadline) {
    // What was asked after is kept until then.
    await sleep(1)
    collectGarbage()
  }
  expect(forgotten.deref()).toBeUndefined()
  await engine.dispose()
  await expect(kept.sample([{ prompt, maximumTokens: 1 }])).rejects.toThrow('the sampler was disposed of')
})

it('of the engine’s thread, for prefixes and samplers that are referred to no more', async () => {
  const started = once(process, 'worker')
  const engine = await createWorkerEngine()
  const [thread] = (await started) as [Worker]
  const released = new Set<number>()
  const samplers: number[] = []
  const post = thread.postMessage.bind(thread)
  thread.postMessage = (message: ToThread, transferred) => {
    if (message.kind === 'release') released.add(message.prefix)
    if (message.kind === 'releaseSampler') samplers.push(message.sampler)
    post(message, transferred as [])
  }
  const trainer = await engine.createTrainer({ model })
  const sampler = await trainer.snapshot()
  await trainer.snapshot()
  const draw = async (owner: Sampler) => {
    const [samples] = await owner.sample([{ prompt, samples: 3, maximumTokens: 2, keepPrefix: true }])
    return samples![0]!.prefix!
  }
  const kept = await draw(sampler)
  const deadline = Date.now() + 10_000
  while ((released.size < 2 || samplers.length < 1) && Date.now() < deadline) {
    collectGarbage()
    await sleep(1)
  }
  expect(released.size).toBe(2)
  expect(samplers).toHaveLength(1)
  // What is still referred to can go on.
  expect((await sampler.extend(kept, Int32Array.of(3))).length).toBe(kept.length + 1)
  await engine.dispose()
})
