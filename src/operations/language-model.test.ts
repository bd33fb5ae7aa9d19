/** A language model forecasts for `almanac forecast`, `run` and campaigns, over HTTP, from flags and from the environment file. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { startsOf, toyEnvironment } from '../campaign/toy-environment.ts'
import { almanac, almanacJson, startAlmanac } from '../command-line.ts'
import { type Asked, type Behaviour, scriptedServer } from '../language/scripted-server.ts'
import { openLedger } from '../ledger/ledger.ts'
import type { CampaignRound } from '../report/report-data.ts'
import { campaignStart } from './campaign-start.ts'
import { forecast } from './forecast.ts'
import { inProcess } from './in-process.ts'
import { run } from './run.ts'

let folder = ''
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const gain = (median: number) => ({
  p10: median - 1,
  p25: median - 0.5,
  p50: median,
  p75: median + 0.5,
  p90: median + 1,
})

/** A model that has understood the toy: a rate of 0.01 is best. */
function knowing({ body }: Asked): Behaviour {
  const text = body.messages[1]!.content
  const parts = text.slice(text.indexOf('\n# Candidates:')).split('\n## Candidate ').slice(1)
  const forecasts = parts.map(part => {
    const rate = Number(/changes "rate" from \S+ to (\S+)/.exec(part)?.[1] ?? 1)
    const median = 4 - (Math.log10(rate) + 2) ** 2
    const candidate = part.slice(0, part.indexOf('\n'))
    return { candidate, closest: [], basis: 'mechanism', uncertainty: 'Noise.', finishes: 0.9, gain: gain(median) }
  })
  return { answer: { forecasts } }
}

const language = (model: string) => ({ forecaster: 'language' as const, model })
const flags = { history: 'pooled', anyway: false } as const

test('almanac forecast asks the model that is named, best first, and again for nothing', async () => {
  folder = toyEnvironment()
  await using server = await scriptedServer(knowing)
  const call = ['forecast', '--model', server.model, '--candidates', 'candidates.json', '--batch']
  const told = await almanac(folder, ...call)
  expect(told.errors).toMatch(/Asking http:\S+: 1 question, about [\d,]+ tokens in, at most [\d,]+ out\./)
  expect(told.errors).toMatch(/Asked http:\S+: 1 request, 100 tokens in, 60 of them from its cache, 20 out\./)
  expect(told.output).toMatch(/Learn at 0\.01 [\s\S]*Learn at 0\.03 [\s\S]*Learn at 10 /)
  expect(told.output).toContain(`By ${server.model}, from 0 records.`)
  expect(told.output).toContain('\nLearn at 0.01\n  by mechanism; uncertain: Noise.\n')
  const { forecaster, forecasts } = await almanacJson<{
    forecaster: string
    forecasts: { sentence: string; median: number; explanation: object }[]
  }>(folder, ...call)
  expect(server.asked).toHaveLength(1)
  expect(forecaster).toBe(server.model)
  expect(forecasts[0]).toMatchObject({
    sentence: 'Learn at 0.01',
    median: 4,
    explanation: { basis: 'mechanism', answers: 1 },
  })
})

test('what could not be used is said by candidate, and nothing is made up', async () => {
  folder = toyEnvironment()
  await using server = await scriptedServer(asked =>
    asked.body.messages[1]!.content.includes('Learn at 3"') ? { answer: 'no idea' } : knowing(asked),
  )
  const context = inProcess(folder)
  const { foreseen, dropped } = await forecast.run(
    { ...language(server.model), history: 'pooled', candidates: 'candidates.json' },
    context,
  )
  expect(foreseen).toHaveLength(7)
  expect(dropped).toEqual([
    {
      sentence: 'Learn at 3',
      reason: expect.stringMatching(
        /^it has no forecast, for the answer could not be used, asked twice: it is not JSON/,
      ),
    },
  ])
  expect(context.notes().at(-1)).toMatch(
    /1 forecast failed \(the answer could not be used, asked twice: it is not JSON/,
  )
  const nothing = { ...language(server.model), history: 'pooled' as const, set: ['rate=3'] }
  server.behave = () => ({ answer: 'no idea' })
  expect(forecast.exitCode!(await forecast.run(nothing, context))).toBe(1)
  server.behave = knowing
  expect(forecast.exitCode!(await forecast.run(nothing, context))).toBe(0)
})

test('almanac run stores the forecast with what the model said; without one it runs only anyway', async () => {
  folder = toyEnvironment({ seeds: 1, referenceSeeds: 1 })
  await using server = await scriptedServer(knowing)
  const first = await run.run(
    { ...flags, ...language(server.model), effort: 'low', message: 'Slower.', set: ['rate=0.01'] },
    inProcess(folder),
  )
  const second = { ...flags, ...language(server.model), message: 'Faster.', set: ['rate=3'] }
  server.behave = () => ({ status: 400, body: '{"error":{"message":"context too long"}}' })
  await expect(run.run(second, inProcess(folder))).rejects.toThrow(
    /There is no forecast, for the model failed \(400\): "context too long"\.\nIt was not run; --anyway/,
  )
  expect(startsOf(folder)).toHaveLength(2)
  const { record } = await run.run({ ...second, anyway: true }, inProcess(folder))
  expect(startsOf(folder)).toHaveLength(3)

  await using ledger = await openLedger(join(folder, '.almanac', 'ledger.db'))
  expect((await ledger.forecastsOf(first.record.id))[0]).toMatchObject({
    forecaster: 'language',
    quantiles: [3, 3.5, 4, 4.5, 5],
    explanation: { basis: 'mechanism', uncertainty: 'Noise.' },
    model: {
      name: server.model,
      effort: 'low',
      usage: { requests: 1, input: 100, cached: 60, output: 20 },
      cost: null,
    },
  })
  expect(await ledger.forecastsOf(record.id)).toEqual([])
  // Once refused, and once run anyway.
  expect(await ledger.failedForecastsOf({ interventionId: record.id })).toMatchObject([
    {},
    { failed: expect.stringContaining('context too long'), forecaster: 'language' },
  ])
})

test('a campaign asks the model of the environment file, chooses by it, and drops a candidate without a forecast', async () => {
  await using server = await scriptedServer(asked =>
    asked.body.messages[1]!.content.includes('Learn at 0.03"') ? { answer: '' } : knowing(asked),
  )
  folder = toyEnvironment({ seeds: 1, referenceSeeds: 1, forecaster: 'language', language: { model: server.model } })
  const context = inProcess(folder)
  const outcome = await campaignStart.run({ rounds: 1, choose: 2, exploration: 0 }, context)
  expect(outcome.records.map(({ intervention }) => intervention.sentence).sort()).toEqual([
    'Learn at 0.003',
    'Learn at 0.01',
  ])
  expect(outcome.rounds[0]!.dropped).toEqual([
    {
      sentence: 'Learn at 0.03',
      heldBack: false,
      reason: expect.stringMatching(/^It has no forecast, for the answer could not be used/),
    },
  ])
  expect(context.notes().filter(text => text.startsWith('Asking'))).toHaveLength(1)
})

test('a campaign asks nothing about what the gate holds back, but for what exploration draws of it', async () => {
  const tries = (...rates: number[]) => rates.map(rate => ({ sentence: `Learn at ${rate}`, overrides: { rate } }))
  folder = toyEnvironment({}, tries(3))
  const once = { rounds: 1, choose: 1, confirm: 0 }
  await campaignStart.run({ ...once, exploration: 0, forecaster: 'constant' }, inProcess(folder))
  await using server = await scriptedServer(knowing)
  const candidates = join(folder, 'candidates.json')

  writeFileSync(candidates, JSON.stringify(tries(10, 0.01, 20)))
  const input = { ...once, ...language(server.model) }
  const first = await campaignStart.run({ ...input, exploration: 0 }, inProcess(folder))
  expect(first.records.map(({ intervention }) => intervention.sentence)).toEqual(['Learn at 0.01'])
  expect(first.rounds[0]!.dropped.map(({ reason }) => reason)).toEqual([
    expect.stringMatching(/^It is like what was worse/),
    expect.stringMatching(/^It is like what was worse/),
  ])
  expect(server.asked).toHaveLength(1)

  const second = await campaignStart.run({ ...input, exploration: 1, seeds: 1 }, inProcess(folder))
  const [{ recordId, explored, probability }] = second.rounds[0]!.chosen as [CampaignRound['chosen'][number]]
  expect({ explored, probability }).toEqual({ explored: true, probability: 0.5 })
  expect(server.asked).toHaveLength(2)
  expect(server.asked[1]!.body.messages[1]!.content).toContain(second.records[0]!.intervention.sentence)
  expect(second.forecasts.get(recordId)).toMatchObject({ forecaster: 'language' })

  // Drawn, and without an answer: its place stays empty, and the other is not asked about in its stead.
  server.behave = () => ({ answer: 'no idea' })
  writeFileSync(candidates, JSON.stringify(tries(30, 40)))
  const nothing = campaignStart.run({ ...input, exploration: 1 }, inProcess(folder))
  await expect(nothing).rejects.toThrow('other candidates, more exploration')
  expect(
    new Set(server.asked.slice(2).map(({ body }) => body.messages[1]!.content.match(/Learn at [34]0"/)?.[0])).size,
  ).toBe(1)
})

test('a budget that does not reach for one question is refused before a campaign is created', async () => {
  await using server = await scriptedServer(knowing)
  const price = { input: 1, output: 10 }
  const started = (budget: object, more: object = {}, cost?: number) => {
    const language = { model: server.model, effort: 'none' as const, price, budget, ...more }
    rmSync(folder, { recursive: true, force: true })
    folder = toyEnvironment({ seeds: 1, referenceSeeds: 1, forecaster: 'language', language })
    return campaignStart.run({ rounds: 1, choose: 1, exploration: 0, cost }, inProcess(folder))
  }
  const money =
    /^One question to http:\S+ may cost 0\.01\d* \(\d+ tokens, 1400 of them out\), and its budget is 0\.01: raise/
  await expect(started({ cost: 0.01 })).rejects.toThrow(money)
  await expect(started({}, {}, 0.01)).rejects.toThrow(money)
  await expect(started({ tokens: 1500 })).rejects.toThrow(
    /may take \d+ tokens \(1400 of them out\), and its budget is 1500:/,
  )
  expect(server.asked).toEqual([])
  await using ledger = await openLedger(join(folder, '.almanac', 'ledger.db'))
  expect(await ledger.campaign(1)).toBeNull()
  // What an answer may take can be set.
  const outcome = await started({ cost: 0.01 }, { outputTokens: 100 })
  expect(outcome.records).toHaveLength(1)
  expect(server.asked[0]!.body).toMatchObject({ max_tokens: 100 })
})

test('the budget of a campaign is for all its rounds, and what was done with it stays', async () => {
  await using server = await scriptedServer(
    asked => ({ ...(knowing(asked) as object), usage: { prompt_tokens: 3000, completion_tokens: 1000 } }) as Behaviour,
  )
  const budget = { tokens: 15_000 }
  const language = { model: server.model, batch: true, effort: 'none' as const, budget }
  folder = toyEnvironment({ seeds: 1, referenceSeeds: 1, forecaster: 'language', language })
  const outcome = await campaignStart.run({ rounds: 9, choose: 1, exploration: 0 }, inProcess(folder))
  expect(server.asked).toHaveLength(3)
  expect(outcome.records).toHaveLength(3)
  expect(outcome.why).toBe(
    'No candidate was left in round 4: 3 ran before, 5 were dropped (5: It has no forecast, for the budget of 15000 tokens does not reach any further).',
  )
})

test('the budget of money is for runs and the language model together, and the outcome says what that took', async () => {
  await using server = await scriptedServer(
    asked => ({ ...(knowing(asked) as object), usage: { prompt_tokens: 3000, completion_tokens: 1000 } }) as Behaviour,
  )
  const price = { input: 10, output: 10, currency: 'EUR' }
  const language = { model: server.model, batch: true, effort: 'none' as const, price }
  folder = toyEnvironment({ seeds: 1, referenceSeeds: 1, forecaster: 'language', language })
  const outcome = await campaignStart.run({ rounds: 9, choose: 1, exploration: 0, cost: 0.15 }, inProcess(folder))
  expect(server.asked).toHaveLength(3)
  expect(outcome.language!.cost).toBeCloseTo(0.12, 9)
  expect(outcome.why).toContain('It has no forecast, for the budget of 0.15 does not reach any further')
  const text = campaignStart.text(outcome, { width: 120, styling: (_, words) => words })
  expect(text).toContain('The language model took 3 requests, 9,000 tokens in, 3,000 out: 0.120 EUR.')
  // What cannot pay for a question asks none.
  const over = { rounds: 1, choose: 1, exploration: 0, cost: 1e-9 }
  await expect(campaignStart.run(over, inProcess(folder))).rejects.toThrow('and its budget is 1e-9')
  expect(server.asked).toHaveLength(3)
})

test('nobody at the address ends the command before anything runs, and the key stands nowhere', async () => {
  folder = toyEnvironment({ seeds: 1, referenceSeeds: 1 })
  const server = await scriptedServer(knowing)
  const variables = { ...process.env, ALMANAC_MODEL_KEY: 'very-secret-key' }
  const context = inProcess(folder, { variables })
  await run.run({ ...flags, ...language(server.model), message: 'Slower.', set: ['rate=0.01'] }, context)
  expect(server.asked[0]!.headers.authorization).toBe('Bearer very-secret-key')
  await server[Symbol.asyncDispose]()
  const before = startsOf(folder).length
  const other = { ...flags, ...language(server.model), message: 'Faster.', set: ['rate=3'] }
  await expect(run.run(other, inProcess(folder))).rejects.toThrow('Nobody answers at the address of the model')
  expect(startsOf(folder)).toHaveLength(before)
  for (const name of ['ledger.db', 'answers.db']) {
    expect(readFileSync(join(folder, '.almanac', name)).includes('very-secret-key')).toBe(false)
  }
})

test('stopped while a model is asked, nothing was run and the exit code says so', async () => {
  folder = toyEnvironment({ seeds: 1, referenceSeeds: 1 })
  await using server = await scriptedServer(() => 'hang')
  const { process, ended, told } = startAlmanac(
    folder,
    'run',
    '-m',
    'Slower.',
    '--set',
    'rate=0.01',
    '--model',
    server.model,
  )
  await vi.waitUntil(() => server.asked.length > 0, 100_000)
  process.kill('SIGINT')
  expect((await ended).code).toBe(130)
  expect(told()).toContain('almanac: It was stopped before anything ran.')
  expect(startsOf(folder)).toEqual([])
})

test.each<[string, object, string]>([
  [
    'a language model without a name',
    { forecaster: 'language' },
    'no model is named: give --model, or set "language" in the environment file',
  ],
  ['a name that is none', { model: 'gpt' }, '--model: The model is "gpt"; name one as openai/gpt-5'],
  [
    'flags of a model for another forecaster',
    { forecaster: 'ridge', effort: 'low' },
    '--effort is for a language model, but the forecaster is "ridge"',
  ],
])('%s is refused', async (_, given, sentence) => {
  folder = toyEnvironment()
  await expect(
    forecast.run({ history: 'pooled', sentences: ['x'], ...given } as never, inProcess(folder)),
  ).rejects.toThrow(sentence)
})
