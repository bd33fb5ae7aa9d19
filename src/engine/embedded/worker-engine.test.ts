/**
 * The engine in its thread does what the one in this thread does, to the last bit and the last word; meanwhile this thread goes on, calls can
 * be ended, and a thread that dies leaves no call without an answer.
 */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { afterAll, describe, expect, it } from 'vitest'
import type { CrossEntropyDatum, PolicyDatum } from '../datum.ts'
import type { Engine } from '../engine.ts'
import { bigram } from '../models/bigram.ts'
import { decoder } from '../models/decoder.ts'
import { createEmbeddedEngine } from './engine.ts'
import { smallDecoder } from './fixtures/small-decoder.ts'
import { createWorkerEngine } from './worker-engine.ts'

const configuration = { ...smallDecoder, vocabulary: 7, contextLength: 12, keyValueHeads: 1, dropout: 0.1 }
const model = decoder(configuration)
const loss = { kind: 'cross_entropy' } as const
/** A view of part of a large buffer, as batches are cut from a corpus. */
const corpus = Int32Array.from({ length: 1000 }, (_, index) => (index * index) % 7)
const datum = (start: number, length = 6): CrossEntropyDatum => ({
  input: { tokens: corpus.subarray(start, start + length) },
  targets: corpus.subarray(start + 1, start + 1 + length),
  weights: new Float32Array(length).fill(1 / length),
})
const policyDatum: PolicyDatum = {
  input: { tokens: corpus.subarray(0, 4) },
  targets: corpus.subarray(1, 5),
  logProbabilities: new Float32Array(4).fill(-2),
  advantages: Float32Array.of(1, -1, 0, 2),
}
const groups = [
  { match: ({ name }: { name: string }) => name.endsWith('query'), optimiser: { kind: 'muon' }, learningRate: 0.02 },
  { match: ['gain'], optimiser: { kind: 'lion' }, learningRate: 0.001 },
  { match: () => true, optimiser: { kind: 'adamw' }, learningRate: 0.01 },
] as const

const home = mkdtempSync(join(tmpdir(), 'almanac-worker-'))
const worker = createWorkerEngine()
const embedded = createEmbeddedEngine()
afterAll(async () => {
  await (await worker).dispose()
  await embedded.dispose()
  rmSync(home, { recursive: true })
})

const noError = 'no error'
const sentence = (call: Promise<unknown>) =>
  call.then(
    () => noError,
    (error: Error) => error.message,
  )

/** What a trainer answers to everything it can be asked, in order. */
async function* trainerAnswers(engine: Engine, folder: string): AsyncGenerator<unknown> {
  const trainer = await engine.createTrainer({ model, seed: 3 })
  const { parameters, vocabulary, contextLength } = trainer
  yield { parameters, vocabulary, contextLength, capabilities: engine.capabilities }
  // Called before the ones before have answered: carried out in order.
  const results = [
    trainer.forward([datum(0), datum(9, 4)], loss, { capture: ['hidden.1'] }),
    trainer.forwardBackward([datum(0), datum(9, 4)], loss),
    trainer.forwardBackward([policyDatum], { kind: 'ppo' }, { dropoutSeed: 8 }),
    trainer.gradients(),
    trainer.optimStep({ groups, clipNorm: 0.5 }),
    trainer.values(),
  ]
  yield await Promise.all(results)
  yield trainer.version
  await trainer.save(folder)
  await trainer.setValues(new Map([['norm', new Float32Array(8)]]))
  yield (await trainer.values()).get('norm')
  yield trainer.version
  await trainer.load(folder)
  yield await trainer.values()
  const loaded = await engine.loadTrainer(folder)
  yield loaded.version
  await loaded.forwardBackward([datum(20)], loss)
  yield await loaded.gradients()
  await loaded.clearGradients()
  yield await loaded.gradients()
  yield await sentence(trainer.forward([{ ...datum(0), weights: new Float32Array(5) }], loss))
  yield await sentence(trainer.optimStep({ groups }))
  yield await sentence(loaded.optimStep({ groups: groups.slice(0, 1) }))
  yield await sentence(trainer.save(folder))
  yield await sentence(trainer.optimStep({} as never))
  yield await sentence(engine.createTrainer({} as never))
  yield await sentence(
    engine.createTrainer({ model: decoder(configuration), values: new Map([['no', corpus as never]]) }),
  )
  const last = trainer.forward([datum(0)], loss)
  await trainer.dispose()
  await trainer.dispose()
  yield await last
  yield await sentence(trainer.values())
  await loaded.dispose()
}

/** What a sampler answers, in order. */
async function* samplerAnswers(engine: Engine, folder: string): AsyncGenerator<unknown> {
  const trainer = await engine.createTrainer({ model, seed: 3 })
  const sampler = await trainer.snapshot({ logitOffset: Float32Array.of(0, 1, 0, 0, 0, 0, -1) })
  // Later steps do not change a snapshot.
  await trainer.forwardBackward([datum(0)], loss)
  await trainer.optimStep({ groups })
  const { version, vocabulary, contextLength } = sampler
  yield { version, vocabulary, contextLength }
  const prompt = { tokens: corpus.subarray(3, 6) }
  const [drawn] = await sampler.sample([
    {
      prompt,
      samples: 2,
      firstSample: 5,
      maximumTokens: 4,
      topLogProbabilities: 2,
      topP: 0.9,
      returnSupport: true,
      keepPrefix: true,
    },
  ])
  yield drawn!.map(({ prefix, ...rest }) => ({ ...rest, kept: [prefix!.length, prefix!.tokens] }))
  const prefix = await sampler.prefix(prompt)
  const longer = await sampler.extend(prefix, corpus.subarray(6, 8))
  yield [prefix.length, prefix.tokens, longer.length, longer.tokens]
  yield await sampler.sample([
    { prompt: longer, maximumTokens: 3, seed: 4, stop: [[1, 2], [3]] },
    { prompt: drawn![1]!.prefix!, maximumTokens: 2, key: 'b' },
    { prompt, maximumTokens: 2, temperature: 0, blocked: [2] },
  ])
  yield await sampler.beamSearch([{ prompt: longer, beams: 2, maximumTokens: 2, stop: [1] }])
  yield (await sampler.prefix(longer)).tokens
  // Callers that no type checker has seen.
  yield await sentence(sampler.sample(undefined as never))
  yield await sentence(sampler.sample([{ maximumTokens: 1 } as never]))
  yield await sentence(sampler.sample([{ prompt, maximumTokens: 1, blocked: new Set([1]) as never }]))
  yield await sentence(sampler.beamSearch([{ prompt } as never]))
  const input = { tokens: corpus.subarray(0, 5) }
  yield await sampler.score([{ input, targets: corpus.subarray(1, 6), topLogProbabilities: 2 }])
  const ragged = { tokens: corpus.subarray(0, 6), offsets: Int32Array.of(0, 2, 2, 6) }
  yield await sampler.score([
    { prefix: longer, input: { tokens: corpus.subarray(8, 11) }, targets: ragged, adapter: false },
    { prefix, input, targets: corpus.subarray(1, 6), distribution: { temperature: 2 } },
  ])
  yield await sentence(
    sampler.score([{ prefix: { length: 3, tokens: prompt.tokens }, input, targets: corpus.subarray(1, 6) }]),
  )
  yield await sampler.distributions([{ input, distribution: { temperature: 0.5 } }])
  yield await sampler.beamSearch([
    {
      prompt,
      beams: 2,
      maximumTokens: 3,
      stop: [0],
      constraint: {
        next: [
          new Map([
            [1, 0],
            [2, 0],
          ]),
        ],
      },
    },
  ])
  yield await sentence(sampler.sample([{ prompt, maximumTokens: 100 }]))
  const other = await trainer.snapshot({ values: new Map([['norm', new Float32Array(8).fill(2)]]) })
  yield await other.score([{ input, targets: corpus.subarray(1, 6) }])
  yield await sentence(trainer.snapshot({ values: new Map([['norm', new Float32Array(7)]]) }))
  yield await sentence(other.sample([{ prompt: prefix, maximumTokens: 1 }]))
  yield await sentence(other.extend(prefix, corpus.subarray(0, 1)))
  await trainer.save(folder)
  const loaded = await engine.loadSampler(folder)
  yield [loaded.version, await loaded.distributions([{ input }])]
  yield await sentence(sampler.extend({ length: 3, tokens: prompt.tokens }, corpus.subarray(0, 1)))
  await Promise.all([sampler.dispose(), other.dispose(), loaded.dispose()])
  yield await sentence(sampler.score([]))
  yield await sentence(sampler.sample([{ prompt: longer, maximumTokens: 1 }]))
  await trainer.dispose()
}

async function collected(answers: AsyncGenerator<unknown>): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const answer of answers) all.push(answer)
  return all
}

describe('the engine in its thread', () => {
  /** The sentences among the answers, when all of them are the same. */
  async function wordsOf(name: string, answers: typeof trainerAnswers): Promise<string[]> {
    const folder = join(home, name)
    const here = await collected(answers(embedded, folder))
    rmSync(folder, { recursive: true })
    expect(await collected(answers(await worker, folder))).toEqual(here)
    return here.filter(answer => typeof answer === 'string' && answer !== noError) as string[]
  }

  it('answers for a trainer as the one in this thread', async () => {
    expect(await wordsOf('trainer', trainerAnswers)).toHaveLength(8)
  })

  it('answers for a sampler as the one in this thread', async () => {
    expect(await wordsOf('sampler', samplerAnswers)).toHaveLength(12)
  })
})

/** Some hundred milliseconds of work in one piece. */
const large = decoder({ ...configuration, vocabulary: 64, contextLength: 64, width: 64, depth: 2, heads: 4 })
const largeData = Array.from({ length: 32 }, (_, row) => datum(row, 64))

describe('while it computes', () => {
  it('this thread goes on', async () => {
    const trainer = await (await worker).createTrainer({ model: large })
    let ticks = 0
    const timer = setInterval(() => ticks++, 2)
    await trainer.forwardBackward(largeData, loss)
    clearInterval(timer)
    // In this thread there would be none: compiling and computing are one piece of work each.
    expect(ticks).toBeGreaterThan(10)
    await trainer.dispose()
  })

  it('a signal ends the thread, and each call with its reason', async () => {
    const controller = new AbortController()
    const started = once(process, 'worker')
    const engine = await createWorkerEngine({ signal: controller.signal })
    const [thread] = (await started) as [Worker]
    const trainer = await engine.createTrainer({ model: large })
    const reason = new Error('enough')
    const calls = Array.from({ length: 20 }, () =>
      expect(trainer.forwardBackward(largeData, loss)).rejects.toBe(reason),
    )
    await pause(20)
    // What is quick is asked for last: a busy machine may wake this thread late.
    const last = expect(engine.createTrainer({ model })).rejects.toBe(reason)
    controller.abort(reason)
    await Promise.all([...calls, last])
    await expect(trainer.values()).rejects.toBe(reason)
    if (thread.threadId !== -1) await once(thread, 'exit')
    await engine.dispose()
    await expect(createWorkerEngine({ signal: controller.signal })).rejects.toBe(reason)
  })

  it('a call can be ended between two pieces of its work, and the sampler goes on', async () => {
    const trainer = await (await worker).createTrainer({ model: decoder({ ...configuration, contextLength: 4096 }) })
    const sampler = await trainer.snapshot()
    const prompt = { tokens: corpus.subarray(0, 2) }
    const controller = new AbortController()
    const reason = new Error('enough')
    const long = sampler.sample([{ prompt, maximumTokens: 4000, samples: 4 }], { signal: controller.signal })
    const after = sampler.sample([{ prompt, maximumTokens: 1 }])
    setTimeout(() => controller.abort(reason), 50)
    await expect(long).rejects.toBe(reason)
    expect((await after)[0]![0]!.tokens).toHaveLength(1)
    await expect(sampler.score([], { signal: controller.signal })).rejects.toBe(reason)
    await trainer.dispose()
  })
})

describe('the end of the thread', () => {
  it('is told to every call when it comes by itself', async () => {
    const started = once(process, 'worker')
    const engine = await createWorkerEngine()
    const [thread] = (await started) as [Worker]
    const trainer = await engine.createTrainer({ model })
    const calls = [trainer.forwardBackward([datum(0)], loss), trainer.values()].map(sentence)
    await thread.terminate()
    const told = "the engine's thread ended by itself (exit code 1)"
    expect(await Promise.all(calls)).toEqual([told, told])
    expect(await sentence(trainer.values())).toBe(told)
    // There is nothing left to free, and what is disposed of in the end must not hide what came before.
    await trainer.dispose()
    await engine.dispose()
  })

  it('comes with disposing, when what was asked before is done', async () => {
    const started = once(process, 'worker')
    const engine = await createWorkerEngine()
    const [thread] = (await started) as [Worker]
    const trainer = await engine.createTrainer({ model })
    const before = trainer.forward([datum(0)], loss)
    const disposed = engine.dispose()
    expect((await before).lossSum).toBeGreaterThan(0)
    await Promise.all([disposed, engine.dispose()])
    expect(thread.threadId).toBe(-1)
    expect(await sentence(trainer.values())).toBe('the engine was disposed of')
    expect(await sentence(engine.loadTrainer(home))).toBe('loadTrainer: the engine was disposed of')
  })

  it('comes with that of the program, which an idle engine does not hold up', () => {
    const program = `
      import { createWorkerEngine } from ${JSON.stringify(join(import.meta.dirname, 'worker-engine.ts'))}
      import { bigram } from ${JSON.stringify(join(import.meta.dirname, '..', 'models', 'bigram.ts'))}
      const engine = await createWorkerEngine()
      const trainer = await engine.createTrainer({ model: bigram({ vocabulary: 3, contextLength: 4 }) })
      console.log([...(await trainer.values()).keys()].join())`
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    expect(run).toMatchObject({ status: 0, signal: null, stdout: 'logits\n', stderr: '' })
  })

  // The runtime's binding aborts the process where a thread is ended inside of it.
  it('is no end of the program, and a program can end itself, while a graph is run', () => {
    const program = `
      import { createWorkerEngine } from ${JSON.stringify(join(import.meta.dirname, 'worker-engine.ts'))}
      import { decoder } from ${JSON.stringify(join(import.meta.dirname, '..', 'models', 'decoder.ts'))}
      const model = decoder({ ...${JSON.stringify(configuration)}, contextLength: 1024 })
      async function busy(signal) {
        const engine = await createWorkerEngine({ signal })
        const sampler = await (await engine.createTrainer({ model })).snapshot()
        return sampler.sample([{ prompt: { tokens: Int32Array.of(1) }, samples: 128, maximumTokens: 1000 }])
      }
      for (const time of [300, 350, 400])
        await busy(AbortSignal.timeout(time)).catch(({ name }) => console.log(name))
      setTimeout(() => process.exit(3), 350)
      await busy()`
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    expect(run).toMatchObject({ status: 3, signal: null, stdout: 'TimeoutError\n'.repeat(3), stderr: '' })
  })
})

describe('what cannot go to the thread is refused: ', () => {
  it('a model that is not built in', async () => {
    const own = { ...bigram({ vocabulary: 3, contextLength: 4 }), kind: 'own' }
    expect(await sentence((await worker).createTrainer({ model: own }))).toContain(
      'there is no model of kind "own" built in',
    )
  })

  it('functions among the data', async () => {
    const trainer = await (await worker).createTrainer({ model })
    const data = [{ ...datum(0), adapter: (() => true) as never }]
    expect(await sentence(trainer.forward(data, loss))).toContain('could not be cloned')
    expect((await trainer.forward([datum(0)], loss)).lossSum).toBeGreaterThan(0)
    await trainer.dispose()
  })

  it('options that make no engine', async () => {
    expect(await sentence(createWorkerEngine({ threads: 0 }))).toBe(
      'createWorkerEngine: threads is 0: expected a positive whole number',
    )
    expect(await sentence(createWorkerEngine({ thread: 2 } as object))).toBe(
      'createWorkerEngine: options: unknown option "thread": did you mean threads?',
    )
  })
})

it('what was given and what came back is the caller’s own', async () => {
  const trainer = await (await worker).createTrainer({ model })
  const given = datum(0)
  const before = structuredClone(corpus)
  const { logProbabilities } = await trainer.forward([given], loss)
  expect(given.input.tokens.buffer).toBe(corpus.buffer)
  expect(corpus).toEqual(before)
  const values = await trainer.values()
  values.get('norm')!.fill(0)
  logProbabilities[0]!.fill(0)
  expect((await trainer.values()).get('norm')).toEqual(new Float32Array(8).fill(1))
  await trainer.dispose()
})
