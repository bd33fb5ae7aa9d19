/**
 * One question to a language model and its checked answer. An answer that cannot be used is asked for once more, with the
 * reason; what still fails is data with its reason, and no answer is ever made up.
 */
import type { JSONSchema7, ModelMessage } from 'ai'
import { z } from 'zod'
import { type Answers, keyOf } from './answers.ts'
import type { Meter } from './budget.ts'
import type { ModelName } from './model-name.ts'
import type { OpenModel } from './open-model.ts'
import { type Expected, readAnswer } from './read-answer.ts'
import { type Effort, type Reply, type Request, send, type Unanswered } from './send.ts'
import { addUsage, noUsage, tokensOf, type Usage } from './usage.ts'

export interface Question<T> extends Expected<T> {
  readonly instructions: string
  /** What many questions begin with, identical byte for byte: providers keep it and ask less for it. */
  readonly shared: string
  /** What this one asks. */
  readonly own: string
  /** Of sampling: another seed is another question. */
  readonly seed: number
  readonly maxOutputTokens: number
}

export interface Asking {
  readonly model: OpenModel
  readonly effort?: Effort | undefined
  readonly timeoutSeconds: number
  readonly meter: Meter
  /** Answers that were paid for before; null keeps none. */
  readonly answers: Answers | null
  readonly signal: AbortSignal
}

export type Answer<T> =
  | { readonly answer: T; readonly usage: Usage; readonly kept: boolean }
  /** Why there is none, as the end of a sentence. */
  | { readonly failed: string; readonly usage: Usage }

/** Longest wrong answer that is shown to the model again, in characters. */
const longestShown = 8000

/**
 * Throws where no question could be answered (no such model, a refused key, nobody at the address), and the signal's reason
 * when it is aborted.
 */
export async function ask<T>(question: Question<T>, asking: Asking): Promise<Answer<T>> {
  const { model, answers, meter } = asking
  const { instructions, seed } = question
  const schema = jsonSchemaOf(question.schema, model.name)
  const name = model.name.text
  const key = questionKey(question, model.name, asking.effort)
  const before = answers?.get(key) ?? null
  if (before !== null) {
    const read = readAnswer(before, question)
    if ('answer' in read) return { answer: read.answer, usage: noUsage, kept: true }
  }

  const messages: ModelMessage[] = [firstMessage(question, model)]
  let { maxOutputTokens } = question
  let usage = noUsage
  const reasons: string[] = []
  for (let attempt = 1; ; attempt++) {
    const estimate = estimateOf({ ...question, maxOutputTokens })
    const reply = await sendWithin(meter, estimate, {
      ...asking,
      instructions,
      messages,
      schema,
      seed,
      maxOutputTokens,
    })
    usage = addUsage(usage, reply.usage)
    if ('failed' in reply) return { failed: [...reasons, reply.failed].join('; the second time '), usage }
    const read = readAnswer(reply.text, question)
    if ('answer' in read) {
      answers?.put(key, { model: name, text: reply.text })
      return { answer: read.answer, usage, kept: false }
    }
    if (reply.finish === 'content-filter') return { failed: 'the model refused to answer', usage }
    const cut = reply.finish === 'length'
    const wrong = cut ? `it was cut off after ${maxOutputTokens} tokens` : read.wrong
    if (attempt === 2) return { failed: `the answer could not be used, asked twice: ${wrong}`, usage }
    reasons.push(`the answer could not be used: ${wrong}`)
    if (cut) maxOutputTokens *= 2
    // Some templates refuse an empty turn.
    const shown = reply.text.trim() === '' ? '(no answer)' : reply.text.slice(0, longestShown)
    messages.push({ role: 'assistant', content: shown }, { role: 'user', content: secondRequest(wrong, cut) })
  }
}

/** What an answer is kept under: everything that decides it. */
export function questionKey<T>(question: Question<T>, name: ModelName, effort: Effort | undefined): string {
  const { instructions, shared, own, seed, maxOutputTokens } = question
  const schema = jsonSchemaOf(question.schema, name)
  return keyOf([1, name.text, effort ?? null, instructions, shared, own, schema, seed, maxOutputTokens])
}

async function sendWithin(meter: Meter, estimate: Usage, request: Request): Promise<Reply | Unanswered> {
  const room = meter.reserve(estimate)
  if ('obstacle' in room) return { failed: room.obstacle, usage: noUsage }
  let usage = noUsage
  try {
    const reply = await send(request)
    usage = reply.usage
    return reply
  } finally {
    room.settle(usage)
  }
}

function jsonSchemaOf(schema: z.ZodType, name: ModelName): JSONSchema7 {
  return z.toJSONSchema(schema, {
    target: 'draft-7',
    override: ({ jsonSchema }) => {
      // Bounds of what a double can count: grammars that servers make of a schema grow with every digit.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      // Strict schemas of some providers know no lengths of texts, and refuse them.
      if (name.kind === 'provider') delete jsonSchema.maxLength
    },
  }) as JSONSchema7
}

/** What one question takes at most, before it is asked. */
export function estimateOf({
  instructions,
  shared,
  own,
  maxOutputTokens,
}: Pick<Question<unknown>, 'instructions' | 'shared' | 'own' | 'maxOutputTokens'>): Usage {
  const input = tokensOf(instructions.length + shared.length + own.length)
  return { requests: 1, input, cached: 0, output: maxOutputTokens }
}

function firstMessage(
  { shared, own }: { readonly shared: string; readonly own: string },
  { name }: OpenModel,
): ModelMessage {
  // Anthropic keeps what it is told to keep; the others keep what they have seen, and take plain text without complaint.
  if (name.kind === 'provider' && name.provider === 'anthropic') {
    const keep = { anthropic: { cacheControl: { type: 'ephemeral' } } }
    return {
      role: 'user',
      content: [
        { type: 'text', text: shared, providerOptions: keep },
        { type: 'text', text: own },
      ],
    }
  }
  return { role: 'user', content: `${shared}${own}` }
}

function secondRequest(wrong: string, cut: boolean): string {
  return `Your answer cannot be used: ${wrong}. Answer once more, ${cut ? 'more briefly, ' : ''}with the corrected JSON object and nothing else.`
}
