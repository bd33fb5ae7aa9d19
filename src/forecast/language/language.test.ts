import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { type Forecast, hasFailed } from '../../experiment/record.ts'
import { openAnswers } from '../../language/answers.ts'
import { type Asked, type Behaviour, scriptedServer } from '../../language/scripted-server.ts'
import { seededRandom } from '../../statistics/random.ts'
import { judge } from '../judge.ts'
import { plantedRecords, recipeEnvironment } from '../planted/response-surface.ts'
import { languageForecaster } from './language.ts'
import { type LanguageInput, languageSettings } from './settings.ts'

const environment = recipeEnvironment('olmo')
const records = plantedRecords('olmo', 30, seededRandom(1))
const [history, candidates] = [records.slice(0, 24), records.slice(24)]
const options = { seed: 1 }

const quantiles = (centre: number) => ({
  p10: centre - 0.02,
  p25: centre - 0.01,
  p50: centre,
  p75: centre + 0.01,
  p90: centre + 0.02,
})

const entry = (candidate: string, changes: object = {}) => ({
  candidate,
  closest: [history[3]!.id, history[1]!.id],
  basis: 'analogy',
  uncertainty: 'Whether it scales.',
  finishes: 0.9,
  gain: quantiles(0.01),
  ...changes,
})

/** The candidates in a question, by label, each with its text. */
function candidatesIn({ body }: Asked): Map<string, string> {
  const text = body.messages[1]!.content
  const parts = text
    .slice(text.indexOf('\n# Candidates:'))
    .split(/^## Candidate /m)
    .slice(1)
  return new Map(parts.map(part => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1).trim()]))
}

/** An honest model: the same forecast for the same candidate, wherever it stands in the list. */
function byText(asked: Asked): Behaviour {
  const forecasts = [...candidatesIn(asked)].map(([label, text]) =>
    entry(label, { gain: quantiles(text.length / 1000) }),
  )
  return { answer: { forecasts } }
}

function forecasterOf(model: string, settings: Omit<LanguageInput, 'model'> = {}, answers: string | null = null) {
  const told: string[] = []
  const language = languageForecaster(languageSettings.parse({ model, timeoutSeconds: 20, ...settings }), {
    answers,
    variables: {},
    signal: new AbortController().signal,
    tell: text => told.push(text),
  })
  return { ...language, told }
}

function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-language-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'answers.db')
}

test('one by one, every question begins with the same bytes, and each candidate gets its own answer', async () => {
  await using server = await scriptedServer(byText)
  const { forecast, told } = forecasterOf(server.model, {
    price: { input: 2, cached: 0.2, output: 8, currency: 'EUR' },
  })
  const forecasts = (await forecast(environment, history, candidates, options)) as Forecast[]
  expect(server.asked).toHaveLength(candidates.length)
  const prompts = server.asked.map(({ body }) => body.messages[1]!.content)
  const shared = prompts[0]!.slice(0, prompts[0]!.indexOf('\n# Candidates: 1\n'))
  expect(shared.match(/^## Record \d+$/gm)).toHaveLength(history.length)
  for (const { body, text } of server.asked) {
    expect(body.messages[1]!.content.startsWith(shared)).toBe(true)
    // On the wire too, where providers look.
    const end = JSON.stringify(shared).length - 2
    expect(text.slice(0, text.indexOf('# Environment') + end)).toBe(
      server.asked[0]!.text.slice(0, server.asked[0]!.text.indexOf('# Environment') + end),
    )
    expect(candidatesIn({ body } as Asked).size).toBe(1)
  }
  forecasts.forEach((one, index) => {
    const text = [...candidatesIn(server.asked[index]!).values()][0]!
    expect(text).toContain(JSON.stringify(candidates[index]!.intervention.sentence))
    expect(one).toEqual({
      quantiles: Object.values(quantiles(text.length / 1000)),
      finishes: 0.9,
      forecaster: 'language',
      forecasterVersion: '1',
      recordIds: history.map(({ id }) => id),
      explanation: {
        closest: [history[3]!.id, history[1]!.id],
        basis: 'analogy',
        uncertainty: 'Whether it scales.',
        answers: 1,
        asked: 1,
      },
      model: {
        name: server.model,
        effort: null,
        usage: { requests: 1, input: 100, cached: 60, output: 20 },
        cost: (40 * 2 + 60 * 0.2 + 20 * 8) / 1e6,
      },
    })
  })
  expect(told[0]).toMatch(
    /^Asking http.*: 6 questions, about [\d,]+ tokens in, [\d,]+ of them shared, at most [\d,]+ out; [\d.]+ to [\d.]+ EUR\.$/,
  )
  expect(told[1]).toMatch(
    /^Asked http.*: 6 requests, 600 tokens in, 360 of them from its cache, 120 out, 0\.00151 EUR\.$/,
  )
})

test('in a batch, one question asks about all; other orders in each repeat leave an honest model’s answer as it is', async () => {
  await using server = await scriptedServer(byText)
  const settings = { batch: true, repeats: 3 }
  const batched = await forecasterOf(server.model, settings).forecast(environment, history, candidates, options)
  expect(server.asked).toHaveLength(3)
  const orders = server.asked.map(asked => [...candidatesIn(asked).values()].join('|'))
  expect(new Set(orders).size).toBe(3)
  expect(new Set(server.asked.map(({ body }) => body.seed)).size).toBe(3)
  const single = await forecasterOf(server.model).forecast(environment, history, candidates, options)
  batched.forEach((one, index) => {
    const other = single[index] as Forecast
    expect((one as Forecast).quantiles[2]).toBeCloseTo(other.quantiles[2], 12)
    expect((one as Forecast).explanation).toMatchObject({ answers: 3, asked: 3 })
    expect((one as Forecast).model!.usage.input).toBeCloseTo(300 / candidates.length, 9)
  })
})

test('what favours a position in the list is shared out over repeats', async () => {
  await using server = await scriptedServer(asked => ({
    answer: {
      forecasts: [...candidatesIn(asked).keys()].map((label, index) =>
        entry(label, { gain: quantiles(index === 0 ? 1 : 0) }),
      ),
    },
  }))
  const { forecast } = forecasterOf(server.model, { batch: true, repeats: 24 })
  const forecasts = (await forecast(environment, history, candidates, options)) as Forecast[]
  const medians = forecasts.map(one => one.quantiles[2])
  expect(medians.reduce((sum, each) => sum + each, 0)).toBeCloseTo(1, 9)
  expect(Math.max(...medians)).toBeLessThan(0.5)
})

test('repeats are averaged quantile by quantile; one that fails is left out and counted', async () => {
  await using server = await scriptedServer((_, index) =>
    index === 1
      ? { status: 400, body: '{"error":{"message":"no"}}' }
      : {
          answer: {
            forecasts: [
              entry('C1', {
                gain: quantiles(index === 0 ? 0.01 : 0.03),
                finishes: index === 0 ? 0.5 : 0.7,
                basis: 'mechanism',
              }),
            ],
          },
        },
  )
  const { forecast } = forecasterOf(server.model, { repeats: 3 })
  const [only] = (await forecast(environment, history, candidates.slice(0, 1), options)) as [Forecast]
  expect(only.quantiles[0]).toBeCloseTo(0, 12)
  expect(only.quantiles[2]).toBeCloseTo(0.02, 12)
  expect(only.finishes).toBeCloseTo(0.6, 12)
  expect(only.explanation).toMatchObject({ basis: 'mechanism', answers: 2, asked: 3 })
})

test.each<[string, object, string]>([
  ['a record that does not exist', { closest: [99_999] }, 'there is no record 99999 in the history'],
  ['quantiles in no order', { gain: { ...quantiles(0), p25: 1 } }, 'must not decrease from p10 to p90'],
  ['another candidate', { candidate: 'C7' }, 'forecasts.0.candidate'],
  ['a chance of 90', { finishes: 90 }, 'forecasts.0.finishes'],
])(
  '%s is asked for again; the second time it is a failed forecast with its reason, never numbers',
  async (_, changes, reason) => {
    await using server = await scriptedServer(() => ({ answer: { forecasts: [entry('C1', changes)] } }))
    const { forecast, spent } = forecasterOf(server.model)
    const [only] = await forecast(environment, history, candidates.slice(0, 1), options)
    expect(hasFailed(only!)).toBe(true)
    expect(only).toMatchObject({
      failed: expect.stringContaining(reason),
      forecaster: 'language',
      model: { usage: { requests: 2 } },
    })
    expect(only).not.toHaveProperty('quantiles')
    expect(server.asked).toHaveLength(2)
    expect(server.asked[1]!.body.messages[3]!.content).toContain(reason)
    expect(spent()).toMatchObject({ failed: [expect.any(String)], usage: { requests: 2 } })
  },
)

test('a budget keeps what was done; what it did not reach fails with that reason, and a restart goes on from there', async () => {
  await using server = await scriptedServer(byText)
  const answers = temporaryFile()
  const estimate = forecasterOf(server.model, {}, answers).estimate([{ environment, history, candidates }], options)
  expect(server.asked).toHaveLength(0)
  const each = estimate.input / candidates.length + estimate.output / candidates.length
  // The scripted server counts 120 tokens a question, far below the estimate that each must fit into.
  const limited = forecasterOf(server.model, { budget: { tokens: Math.ceil(each) + 300 } }, answers)
  const first = await limited.forecast(environment, history, candidates, options)
  const done = first.filter(one => !hasFailed(one)).length
  expect(done).toBeGreaterThan(0)
  expect(done).toBeLessThan(candidates.length)
  expect(first[done]).toMatchObject({ failed: expect.stringContaining('the budget of') })
  expect(server.asked).toHaveLength(done)
  expect(limited.told[0]).toMatch(
    /\nIts budget of [\d,]+ tokens is less than that: the asking ends where a question, of up to/,
  )
  expect(limited.told[1]).toMatch(/ forecasts failed \(the budget of \d+ tokens does not reach any further\)\.$/)
  // What is kept is in no estimate, and neither is what is asked twice.
  const problem = { environment, history, candidates }
  const left = forecasterOf(server.model, {}, answers).estimate([problem, problem], options)
  expect(left).toMatchObject({ questions: candidates.length - done, kept: candidates.length + done })
  expect(left.output / (candidates.length - done)).toBe(estimate.output / candidates.length)

  const second = await forecasterOf(server.model, {}, answers).forecast(environment, history, candidates, options)
  expect(server.asked).toHaveLength(candidates.length)
  expect(second.slice(0, done).map(one => (one as Forecast).quantiles)).toEqual(
    first.slice(0, done).map(one => (one as Forecast).quantiles),
  )
  expect((second[0] as Forecast).model!.usage.requests).toBe(0)
})

test('answers that cannot be kept, the disk being full, are used and told once', async () => {
  await using server = await scriptedServer(byText)
  const answers = temporaryFile()
  openAnswers(answers)[Symbol.dispose]()
  const file = new DatabaseSync(answers)
  file.exec("create trigger full before insert on answers begin select raise(fail, 'database or disk is full'); end")
  file.close()
  const { forecast, told } = forecasterOf(server.model, {}, answers)
  const forecasts = await forecast(environment, history, candidates, options)
  expect(forecasts.filter(hasFailed)).toEqual([])
  expect(told.filter(text => text.includes('cannot be kept'))).toEqual([
    expect.stringMatching(/^Answers are used and cannot be kept, so that they would be paid for again: .*disk is full/),
  ])
})

test('of a history beyond the context the most telling part is shown, and stored', async () => {
  await using server = await scriptedServer(asked => ({
    answer: { forecasts: [...candidatesIn(asked).keys()].map(label => entry(label, { closest: [] })) },
  }))
  const { forecast } = forecasterOf(server.model, { context: 3000, effort: 'none' })
  const [first] = (await forecast(environment, history, candidates, options)) as Forecast[]
  const shown = [...server.asked[0]!.body.messages[1]!.content.matchAll(/^## Record (\d+)$/gm)].map(([, id]) =>
    Number(id),
  )
  expect(shown).toEqual(first!.recordIds)
  expect(shown.length).toBeGreaterThan(3)
  expect(shown.length).toBeLessThan(history.length)
  const { messages, max_tokens } = server.asked[0]!.body
  expect(
    messages.map(({ content }) => content.length).reduce((sum, each) => sum + each) / 3 + max_tokens!,
  ).toBeLessThanOrEqual(3000)
})

test('it is judged like any other; where an answer failed the constant stands in and is marked', async () => {
  await using server = await scriptedServer((asked, index) => (index < 2 ? { answer: 'no' } : byText(asked)))
  const part = { environment, history, tested: candidates, guarded: false }
  const judged = await judge(forecasterOf(server.model).forecast, part, 1)
  expect(judged.map(({ forecast }) => forecast.forecaster)).toEqual(['constant', ...Array(5).fill('language')])
  expect(judged[0]!.forecast.failed).toContain('it is not JSON')
})
