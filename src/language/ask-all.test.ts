import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Asking, Question } from './ask.ts'
import { askAll } from './ask-all.ts'
import { startMeter } from './budget.ts'
import { openModel } from './open-model.ts'
import { type ScriptedServer, scriptedServer } from './scripted-server.ts'

const questions = Array.from(
  { length: 9 },
  (_, index): Question<{ echo: string }> => ({
    instructions: '',
    shared: 'All. ',
    own: `Q${index}`,
    schema: z.strictObject({ echo: z.string() }),
    check: () => null,
    seed: 1,
    maxOutputTokens: 100,
  }),
)

async function asking(server: ScriptedServer, tokens?: number): Promise<Asking> {
  return {
    model: await openModel(server.model, {}),
    timeoutSeconds: 20,
    meter: startMeter(tokens === undefined ? {} : { tokens }, null),
    answers: null,
    signal: new AbortController().signal,
  }
}

test('the first goes alone, then as many as may at once; answers come in the order of the questions', async () => {
  let open = 0
  const together: number[] = []
  await using server = await scriptedServer(async ({ body }) => {
    together.push(++open)
    const number = Number(body.messages.at(-1)!.content.slice(-1))
    // Later questions are answered sooner.
    await pause(number === 0 ? 60 : 45 - 5 * number)
    open--
    return { answer: { echo: `Q${number}` } }
  })
  const answers = await askAll(questions, await asking(server), 3)
  expect(answers.map(each => 'answer' in each && each.answer.echo)).toEqual(questions.map(({ own }) => own))
  expect(together.slice(0, 2)).toEqual([1, 1])
  expect(Math.max(...together)).toBe(3)
})

test('several at once stay within the budget that each alone would keep', async () => {
  await using server = await scriptedServer(async () => {
    await pause(20)
    return { answer: { echo: '' }, usage: { prompt_tokens: 3, completion_tokens: 97 } }
  })
  const limited = await asking(server, 450)
  const answers = await askAll(questions, limited, 8)
  expect(answers.filter(each => 'answer' in each)).toHaveLength(4)
  expect(limited.meter.spent()).toMatchObject({ requests: 4, input: 12, output: 388 })
  expect(server.asked).toHaveLength(4)
})

test('what no question can cure ends all of them', async () => {
  await using server = await scriptedServer((_, index) =>
    index === 0
      ? { answer: { echo: '' } }
      : index === 1
        ? { status: 401, body: '{"error":{"message":"gone"}}' }
        : 'hang',
  )
  await expect(askAll(questions, await asking(server), 4)).rejects.toThrow('refuses the key (401)')
  expect(server.asked.length).toBeLessThanOrEqual(5)
})
