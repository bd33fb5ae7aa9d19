import { expect, test } from 'vitest'
import { startMeter } from './budget.ts'
import { parseModelName } from './model-name.ts'
import { openModel } from './open-model.ts'
import { costOf } from './usage.ts'

test('a provider’s model has the provider’s name before it, an endpoint’s stands behind its address', () => {
  expect(parseModelName('openai/gpt-5')).toEqual({
    kind: 'provider',
    provider: 'openai',
    model: 'gpt-5',
    text: 'openai/gpt-5',
  })
  expect(parseModelName('groq/openai/gpt-oss-120b')).toMatchObject({ provider: 'groq', model: 'openai/gpt-oss-120b' })
  expect(parseModelName('http://127.0.0.1:8080/v1/#Qwen%2FQwen3-8B')).toEqual({
    kind: 'endpoint',
    url: 'http://127.0.0.1:8080/v1',
    model: 'Qwen/Qwen3-8B',
    text: 'http://127.0.0.1:8080/v1#Qwen/Qwen3-8B',
  })
  expect(parseModelName(parseModelName('http://h/v1#a b').text)).toMatchObject({ model: 'a b' })
})

test.each([
  ['gpt-5', 'The model is "gpt-5"; name one as openai/gpt-5'],
  ['../evil/x', 'The model is "../evil/x"; name one as'],
  ['http://', 'which is no address'],
  ['http://127.0.0.1:8080/v1', 'name the model that is asked for at its end, as in http://127.0.0.1:8080/v1#name'],
  ['https://me:secret@host/v1#name', 'The address of the model at host has a user, a password or a query'],
  ['https://host/v1?key=secret#name', 'put the key into the variable ALMANAC_MODEL_KEY instead'],
])('%s is refused with a sentence, and without its secrets', (text, sentence) => {
  expect(() => parseModelName(text)).toThrow(sentence)
  if (text.includes('secret')) expect(() => parseModelName(text)).not.toThrow(/secret/)
})

test('a provider whose package is not there is named with what to install', async () => {
  await expect(openModel('nobody/some-model', {})).rejects.toThrow('npm install @ai-sdk/nobody')
  await expect(openModel('provider/some-model', {})).rejects.toThrow('@ai-sdk/provider offers no models')
})

test('money is reckoned from tokens, those that were kept at their own price; without a price none can be limited', () => {
  const usage = { requests: 2, input: 1_000_000, cached: 600_000, output: 100_000 }
  expect(costOf(usage, { input: 2, cached: 0.5, output: 10 })).toBeCloseTo(0.8 + 0.3 + 1, 12)
  expect(costOf(usage, { input: 2, output: 10 })).toBeCloseTo(2 + 1, 12)
  expect(costOf(usage, null)).toBeNull()
  expect(() => startMeter({ cost: 1 }, null)).toThrow('no price is known')
  const meter = startMeter({ cost: 2.5 }, { input: 2, output: 10 })
  const question = { requests: 1, input: 500_000, cached: 0, output: 50_000 }
  const asked = meter.reserve(question)
  // What is still out counts in full.
  expect(meter.reserve({ ...question, output: 51_000 })).toEqual({
    obstacle: 'the budget of 2.5 does not reach any further (0.00 is spent, and the next question may cost 1.51)',
  })
  if ('obstacle' in asked) throw new Error(asked.obstacle)
  asked.settle({ ...question, output: 10_000 })
  expect(meter.spent()).toEqual({ ...question, output: 10_000 })
  expect(meter.reserve({ ...question, output: 30_000 })).toHaveProperty('settle')
  const later = startMeter({ tokens: 1000 }, null, { requests: 3, input: 800, cached: 0, output: 100 })
  expect(later.spent().input).toBe(0)
  expect(later.reserve({ requests: 1, input: 90, cached: 0, output: 20 })).toEqual({
    obstacle:
      'the budget of 1000 tokens does not reach any further (900 are spent, and the next question may take 110)',
  })
})
