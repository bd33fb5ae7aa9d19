/**
 * One request to a model, sent again while waiting can help: when it is asked too often, overloaded, or the connection
 * breaks. What comes of it is data; only what no further request can cure is thrown: no such model, a refused key, nobody
 * at the address, or the user's own stop.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { JSONSchema7, ModelMessage } from 'ai'
import { failureOf, hopeless, mayHaveBeenBilled, refusesSchemas, retryMilliseconds, withoutSecrets } from './failure.ts'
import type { OpenModel } from './open-model.ts'
import { addUsage, noUsage, tokensOf, type Usage } from './usage.ts'

/** How hard a model thinks, for those that can be told. */
export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof efforts)[number]

export interface Request {
  readonly model: OpenModel
  readonly instructions: string
  readonly messages: readonly ModelMessage[]
  readonly schema: JSONSchema7
  /** Of sampling, for models that take one. */
  readonly seed: number
  readonly maxOutputTokens: number
  readonly effort?: Effort | undefined
  readonly timeoutSeconds: number
  readonly signal: AbortSignal
}

export interface Reply {
  readonly text: string
  /** `length`: it was cut off. */
  readonly finish: string
  readonly usage: Usage
}

const mostTries = 4

/** Models whose server refused to hold them to a schema: they are asked in words alone, which say the shape too. */
const withoutSchemas = new WeakSet<OpenModel>()

/** What a request took that brought nothing: providers bill what they read, also when the line is cut or nobody waits any longer. */
export interface Unanswered {
  readonly failed: string
  readonly usage: Usage
}

export async function send(request: Request): Promise<Reply | Unanswered> {
  let lost = noUsage
  for (let attempt = 1; ; attempt++) {
    const slow = new AbortController()
    const timer = setTimeout(() => slow.abort(), request.timeoutSeconds * 1000)
    let error: unknown
    try {
      const reply = await sendOnce(request, AbortSignal.any([request.signal, slow.signal]))
      return { ...reply, usage: addUsage(lost, reply.usage) }
    } catch (thrown) {
      error = thrown
    } finally {
      clearTimeout(timer)
    }
    request.signal.throwIfAborted()
    if (slow.signal.aborted || (await mayHaveBeenBilled(error))) {
      lost = addUsage(lost, { ...noUsage, input: tokensOf(textOf(request).length) })
    }
    if (slow.signal.aborted) {
      return { failed: `the model did not answer within ${request.timeoutSeconds} seconds`, usage: lost }
    }
    if ((await refusesSchemas(error)) && !withoutSchemas.has(request.model)) {
      withoutSchemas.add(request.model)
      continue
    }
    const wait = await retryMilliseconds(error, attempt)
    if (wait === null || attempt === mostTries) {
      const why = await hopeless(error, request.model)
      if (why !== null) throw new Error(why, { cause: error })
      return { failed: failureOf(error, request.model), usage: lost }
    }
    await pause(wait, undefined, { signal: request.signal }).catch(() => request.signal.throwIfAborted())
  }
}

async function sendOnce(request: Request, abortSignal: AbortSignal): Promise<Reply> {
  const { generateText } = await import('ai')
  // Its warnings (a parameter that the provider does not know) would stand among our output.
  globalThis.AI_SDK_LOG_WARNINGS = false
  const { model, instructions, messages, schema, seed, maxOutputTokens, effort } = request
  let answer = ''
  const result = await generateText({
    model: model.model,
    instructions,
    messages: [...messages],
    // The answer is checked by whoever asks, who can say what is wrong with it: here it only passes through.
    output: {
      name: 'answer',
      responseFormat: Promise.resolve(
        withoutSchemas.has(model) ? { type: 'text' as const } : { type: 'json' as const, schema, name: 'answer' },
      ),
      parseCompleteOutput: async ({ text }: { text: string }) => (answer = text),
      parsePartialOutput: async () => undefined,
      createElementStreamTransform: () => undefined,
    },
    seed,
    maxOutputTokens,
    // Nothing is left with the provider, and no summary of thoughts is bought, which not every account may have.
    providerOptions: { openai: { store: false, reasoningSummary: null } },
    ...(effort === undefined ? {} : { reasoning: effort }),
    maxRetries: 0,
    abortSignal,
  })
  const { inputTokens, outputTokens, inputTokenDetails } = result.usage
  const input = counted(inputTokens, textOf(request))
  return {
    // A server may repeat in its answer what it was sent, and answers are kept.
    text: withoutSecrets(answer, model),
    finish: result.finishReason,
    usage: {
      requests: 1,
      input,
      cached: Math.min(input, Math.max(0, inputTokenDetails.cacheReadTokens ?? 0)),
      output: counted(outputTokens, answer),
    },
  }
}

function textOf({ instructions, messages }: Request): string {
  return JSON.stringify([instructions, messages])
}

/** Some servers count nothing, or less than nothing; a budget must hold with them too. */
function counted(tokens: number | undefined, text: string): number {
  return tokens !== undefined && Number.isSafeInteger(tokens) && tokens > 0 ? tokens : tokensOf(text.length)
}
