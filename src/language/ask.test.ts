import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { openAnswers } from './answers.ts'
import { type Asking, ask, type Question } from './ask.ts'
import { type Limit, startMeter } from './budget.ts'
import { openModel } from './open-model.ts'
import { type Behaviour, type ScriptedServer, scriptedServer } from './scripted-server.ts'

const question: Question<{ chance: number }> = {
  instructions: 'Say how likely it is.',
  shared: '# What all know\n',
  own: '# What is asked\n',
  schema: z.strictObject({ chance: z.number().min(0).max(1) }),
  check: ({ chance }) => (chance === 0.5 ? 'a chance of 0.5 says nothing' : null),
  seed: 7,
  maxOutputTokens: 100,
}

type Changes = Partial<Omit<Asking, 'model' | 'meter'>> & {
  readonly variables?: NodeJS.ProcessEnv
  readonly limit?: Limit
}

async function asking(
  server: ScriptedServer,
  { variables = {}, limit = {}, ...changes }: Changes = {},
): Promise<Asking> {
  return {
    model: await openModel(server.model, variables),
    timeoutSeconds: 20,
    meter: startMeter(limit, null),
    answers: null,
    signal: new AbortController().signal,
    ...changes,
  }
}

/** One behaviour after the other; the last goes on. */
async function serverThat(...behaviours: Behaviour[]): Promise<ScriptedServer> {
  return scriptedServer((_, index) => behaviours[Math.min(index, behaviours.length - 1)]!)
}

const good = { answer: { chance: 0.25 } } as const
const usage = { requests: 1, input: 100, cached: 60, output: 20 }

test('a good answer comes back checked, with what it took; the question went out with its schema and parameters', async () => {
  await using server = await serverThat(good)
  const answer = await ask(
    question,
    await asking(server, { effort: 'low', variables: { ALMANAC_MODEL_KEY: 'k-12345678' } }),
  )
  expect(answer).toEqual({ answer: { chance: 0.25 }, usage, kept: false })
  const [{ path, headers, body }] = server.asked as [ScriptedServer['asked'][number]]
  expect(path).toBe('/v1/chat/completions')
  expect(headers.authorization).toBe('Bearer k-12345678')
  expect(body).toMatchObject({ model: 'scripted', seed: 7, max_tokens: 100, reasoning_effort: 'low' })
  expect(body.messages).toEqual([
    { role: 'system', content: 'Say how likely it is.' },
    { role: 'user', content: '# What all know\n# What is asked\n' },
  ])
  expect(body.response_format).toMatchObject({
    type: 'json_schema',
    json_schema: { schema: { type: 'object', required: ['chance'], additionalProperties: false } },
  })
})

test.each<[string, unknown, string]>([
  ['no JSON', 'I would say: fairly likely.', 'it is not JSON'],
  ['half an object', '{"chance": 0.2', 'it is not JSON'],
  ['nothing', '', 'it is empty'],
  ['a wrong type', { chance: 'high' }, 'chance: Invalid input: expected number, received string'],
  ['a number out of bounds', { chance: 1.5 }, 'chance: Too big: expected number to be <=1'],
  ['a field too many', { chance: 0.2, reason: 'x' }, 'Unrecognized key: "reason"'],
  ['what the check refuses', { chance: 0.5 }, 'a chance of 0.5 says nothing'],
])('%s is asked for once more with the reason, and then it is a failed answer', async (_, wrong, reason) => {
  await using mended = await serverThat({ answer: wrong }, good)
  expect(await ask(question, await asking(mended))).toMatchObject({
    answer: { chance: 0.25 },
    usage: { requests: 2, input: 200 },
  })
  expect(mended.asked).toHaveLength(2)
  const { messages } = mended.asked[1]!.body
  expect(messages.slice(0, 2)).toEqual(mended.asked[0]!.body.messages)
  expect(messages[3]!.content).toContain(reason)

  await using stubborn = await serverThat({ answer: wrong })
  const answer = await ask(question, await asking(stubborn))
  expect(answer).toMatchObject({ failed: expect.stringContaining(reason), usage: { requests: 2 } })
  expect(stubborn.asked).toHaveLength(2)
})

test('a reason stays short, whatever the answer holds', async () => {
  await using server = await serverThat({ answer: { ['x'.repeat(1_000_000)]: 1 } })
  const answer = await ask(question, await asking(server))
  expect(JSON.stringify(answer).length).toBeLessThan(2000)
  expect(server.asked[1]!.text.length).toBeLessThan(20_000)
})

test('an object between fences, or after thoughts, is an answer', async () => {
  const fenced = 'Sure!\n```json\n{"chance": 0.75}\n```\n'
  const thought = '<think>{"chance": 0.1}? No.</think>\n{"chance": 0.75}'
  for (const answer of [fenced, thought]) {
    await using server = await serverThat({ answer })
    expect(await ask(question, await asking(server))).toMatchObject({ answer: { chance: 0.75 } })
  }
})

test('an answer that is cut off is asked for again with more room', async () => {
  await using server = await serverThat({ answer: '{"chance": 0.', finish: 'length' }, good)
  expect(await ask(question, await asking(server))).toMatchObject({ answer: { chance: 0.25 } })
  expect(server.asked.map(({ body }) => body.max_tokens)).toEqual([100, 200])
  expect(server.asked[1]!.body.messages[3]!.content).toContain('cut off after 100 tokens')
})

test('a server that knows no schemas is asked in words alone from then on', async () => {
  await using server = await scriptedServer(({ body }) =>
    body.response_format === undefined
      ? good
      : { status: 400, body: '{"error":{"message":"unknown field response_format"}}' },
  )
  const asked = await asking(server)
  expect(await ask(question, asked)).toMatchObject({ answer: { chance: 0.25 } })
  expect(await ask({ ...question, seed: 8 }, asked)).toMatchObject({ answer: { chance: 0.25 } })
  expect(server.asked).toHaveLength(3)
})

test('a refusal is a failed answer at once', async () => {
  await using server = await serverThat({ answer: '', finish: 'content_filter' })
  expect(await ask(question, await asking(server))).toMatchObject({ failed: 'the model refused to answer' })
  expect(server.asked).toHaveLength(1)
})

test.each<[string, Behaviour]>([
  [
    'a rate limit that says when',
    { status: 429, headers: { 'retry-after': '0' }, body: '{"error":{"message":"slow down"}}' },
  ],
  ['an overloaded server', { status: 503, headers: { 'retry-after-ms': '5' }, body: 'busy' }],
  ['a dropped connection', 'drop'],
])('%s is waited for', async (_, behaviour) => {
  await using server = await serverThat(behaviour, good)
  expect(await ask(question, await asking(server))).toMatchObject({ answer: { chance: 0.25 } })
  expect(server.asked).toHaveLength(2)
})

test('what a server may have read counts, though it brought nothing; a refusal does not', async () => {
  for (const [behaviour, tries] of [
    ['drop', 4],
    ['hang', 1],
    [{ status: 429, headers: { 'retry-after': '0' } }, 0],
  ] as const) {
    await using server = await serverThat(behaviour)
    const { usage } = await ask(question, await asking(server, { timeoutSeconds: behaviour === 'hang' ? 0.2 : 20 }))
    const { instructions, shared, own } = question
    expect(usage.input).toBeGreaterThanOrEqual((tries * (instructions.length + shared.length + own.length)) / 3)
    expect(usage.input > 0).toBe(tries > 0)
  }
})

test('whoever stays limited fails after four tries, and one that asks for hours after one', async () => {
  const limited = (after: string): Behaviour => ({
    status: 429,
    headers: { 'retry-after': after },
    body: '{"error":{"message":"quota"}}',
  })
  for (const [after, tries, later] of [
    ['0', 4, ''],
    ['7200', 1, '; it wants to be asked again in 120 minutes'],
  ] as const) {
    await using server = await serverThat(limited(after))
    expect(await ask(question, await asking(server))).toMatchObject({
      failed: `the model failed (429): "quota"${later}`,
    })
    expect(server.asked).toHaveLength(tries)
  }
})

test.each<[string, Behaviour, RegExp]>([
  [
    'a question that the server refuses',
    { status: 400, body: '{"error":{"message":"context too long"}}' },
    /^the model failed \(400\): "context too long"$/,
  ],
  ['a body that is not JSON', { status: 200, body: '<html>' }, /^the model failed: /],
  ['a body that never ends', 'flood', /its answer is longer than 16777216 bytes"$/],
  ['a body without choices', { status: 200, body: '{"choices":[]}' }, /^the model failed: /],
])('%s is a failed answer', async (_, behaviour, reason) => {
  await using server = await serverThat(behaviour)
  expect(await ask(question, await asking(server))).toMatchObject({ failed: expect.stringMatching(reason) })
  expect(server.asked).toHaveLength(1)
})

test('a server that says nothing fails after its time', async () => {
  await using server = await serverThat('hang')
  const answer = await ask(question, await asking(server, { timeoutSeconds: 0.2 }))
  expect(answer).toMatchObject({ failed: 'the model did not answer within 0.2 seconds' })
})

test('the user’s stop ends a question at once', async () => {
  await using server = await serverThat('hang')
  const stop = new AbortController()
  const asked = ask(question, await asking(server, { signal: stop.signal }))
  setTimeout(() => stop.abort(new Error('stopped')), 100)
  await expect(asked).rejects.toThrow('stopped')
})

test('what no question can cure is thrown, and a key is never repeated', async () => {
  const variables = { ALMANAC_MODEL_KEY: 'secret-key-1234' }
  await using server = await scriptedServer(({ headers }) => ({
    status: 401,
    body: JSON.stringify({ error: { message: `bad ${headers.authorization}` } }),
  }))
  const refused = await ask(question, await asking(server, { variables })).catch(error => error as Error)
  expect((refused as Error).message).toMatch(
    /refuses the key \(401\): set the variable ALMANAC_MODEL_KEY .*"bad Bearer …"/,
  )
  server.behave = () => ({ status: 404, body: '{"error":{"message":"no such model"}}' })
  await expect(ask(question, await asking(server))).rejects.toThrow(/There is no model .*#scripted \(404\)/)
  await server[Symbol.asyncDispose]()
  await expect(ask(question, await asking(server))).rejects.toThrow(
    /Nobody answers at the address of the model .* \(ECONNREFUSED\)/,
  )
})

test('a budget stops before the question that it does not reach, and counts what a server does not', async () => {
  await using server = await serverThat({ ...good, usage: null })
  const limited = await asking(server, { limit: { tokens: 180 } })
  expect(await ask(question, limited)).toHaveProperty('answer')
  const { input, output } = limited.meter.spent()
  expect(input).toBeGreaterThan(10)
  expect(output).toBeGreaterThan(3)
  expect(await ask({ ...question, seed: 8 }, limited)).toHaveProperty('answer')
  expect(await ask({ ...question, seed: 9 }, limited)).toMatchObject({
    failed: expect.stringMatching(
      /^the budget of 180 tokens does not reach any further \(\d+ are spent, and the next question may take \d+\)$/,
    ),
  })
  expect(server.asked).toHaveLength(2)
})

test('an error under the status of an answer is told in the words of the server', async () => {
  await using server = await serverThat({ status: 200, body: '{"error":{"message":"overloaded, sorry"}}' })
  expect(await ask(question, await asking(server))).toMatchObject({ failed: 'the model failed: "overloaded, sorry"' })
})

test('figures that cannot be are not believed: a budget cannot grow by being spent', async () => {
  const figures = [
    { prompt_tokens: 0, completion_tokens: 0 },
    { prompt_tokens: -1_000_000, completion_tokens: -5 },
    { prompt_tokens: 1e308, completion_tokens: 0.5 },
    { prompt_tokens: 90, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 1e9 } },
    { prompt_tokens: 90, completion_tokens: 20, prompt_tokens_details: { cached_tokens: -1e9 } },
  ]
  for (const usage of figures) {
    await using server = await serverThat({ ...good, usage })
    const { meter, ...rest } = await asking(server)
    expect(await ask(question, { meter, ...rest })).toHaveProperty('answer')
    const { input, cached, output } = meter.spent()
    expect(input).toBeGreaterThan(10)
    expect(input).toBeLessThan(1000)
    expect(output).toBeGreaterThan(3)
    expect(output).toBeLessThan(1000)
    expect(cached >= 0 && cached <= input).toBe(true)
  }
})

test('a server that repeats the key in its answer has it in nothing that is said or kept', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-answers-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'answers.db')
  const variables = { ALMANAC_MODEL_KEY: 'secret-key-1234' }
  const said = { ...question, schema: z.strictObject({ chance: z.number(), why: z.string() }), check: () => null }
  await using server = await scriptedServer(({ headers }) => ({
    answer: { chance: 1, why: `${headers.authorization}` },
  }))
  {
    using answers = openAnswers(path)
    expect(await ask(said, await asking(server, { variables, answers }))).toMatchObject({ answer: { why: 'Bearer …' } })
  }
  expect(readFileSync(path, 'latin1')).not.toContain('secret')
  for (const answer of ['secret-key-1234', { 'secret-key-1234': 1 }]) {
    server.behave = () => ({ answer })
    expect(JSON.stringify(await ask(said, await asking(server, { variables })))).not.toContain('secret')
  }
})

test('an answer that was paid for is kept over restarts, and only for the very same question', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-answers-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'inner', 'answers.db')
  await using server = await serverThat(good)
  {
    using answers = openAnswers(path)
    expect(await ask(question, await asking(server, { answers }))).toMatchObject({ kept: false })
  }
  using answers = openAnswers(path)
  const again = await asking(server, { answers })
  expect(await ask(question, again)).toEqual({
    answer: { chance: 0.25 },
    usage: { requests: 0, input: 0, cached: 0, output: 0 },
    kept: true,
  })
  expect(server.asked).toHaveLength(1)
  const others = [
    { seed: 8 },
    { shared: '# What all knew\n' },
    { own: '?' },
    { instructions: '!' },
    { maxOutputTokens: 99 },
  ]
  for (const changes of others) expect(await ask({ ...question, ...changes }, again)).toMatchObject({ kept: false })
  expect(await ask(question, { ...again, effort: 'high' })).toMatchObject({ kept: false })
  const schema = z.strictObject({ chance: z.number().min(0).max(0.5) })
  expect(await ask({ ...question, schema }, again)).toMatchObject({ kept: false })
  expect(server.asked).toHaveLength(1 + others.length + 2)
})

test('a failed answer is not kept', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-answers-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  using answers = openAnswers(join(folder, 'answers.db'))
  await using server = await serverThat({ answer: 'no' }, { answer: 'no' }, good)
  expect(await ask(question, await asking(server, { answers }))).toHaveProperty('failed')
  expect(await ask(question, await asking(server, { answers }))).toMatchObject({
    answer: { chance: 0.25 },
    kept: false,
  })
})
