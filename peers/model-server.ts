/**
 * Serves a small language model by the OpenAI protocol (chat completions, one at a time), with node-llama-cpp: answers are held to the JSON
 * schema that is sent, and what a question shares with the one before it is not read again. Prints its port when it is ready.
 *
 * Run:  node peers/model-server.ts FOLDER-WITH-NODE-LLAMA-CPP MODEL.gguf
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** What is used of node-llama-cpp, which is installed elsewhere and only for this. */
interface NodeLlama {
  getLlama(options: object): Promise<{
    loadModel(options: { modelPath: string }): Promise<{
      tokenize(text: string): readonly number[]
      createContext(options: object): Promise<{ readonly contextSize: number; getSequence(): Sequence }>
    }>
    createGrammarForJsonSchema(schema: object): Promise<object>
  }>
  readonly LlamaChatSession: new (options: {
    contextSequence: Sequence
    autoDisposeSequence: boolean
  }) => {
    setChatHistory(history: readonly object[]): void
    promptWithMeta(
      text: string,
      options: object,
    ): Promise<{ readonly responseText: string; readonly stopReason: string }>
    dispose(): void
  }
}

interface Sequence {
  /** Tokens read and written so far; what was kept from before is not read again. */
  readonly tokenMeter: { readonly usedInputTokens: number; readonly usedOutputTokens: number }
  /** Tokens that it holds. */
  readonly nextTokenIndex: number
}

interface Asked {
  readonly messages: readonly { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }[]
  readonly response_format?: { readonly json_schema?: { readonly schema: object } }
  readonly max_tokens?: number
  readonly seed?: number
}

/** Tokens of the marks of the chat template around each message, at most. */
const marksOfMessage = 8

const [folder, modelPath] = process.argv.slice(2) as [string, string]
const entry = join(folder, 'node_modules', 'node-llama-cpp', 'dist', 'index.js')
const { getLlama, LlamaChatSession } = (await import(pathToFileURL(entry).href)) as NodeLlama
// One thread: threads that wait for each other on a busy machine are many times slower.
const llama = await getLlama({ gpu: false, build: 'never', logLevel: 'error', maxThreads: 1 })
const model = await llama.loadModel({ modelPath })
const context = await model.createContext({ contextSize: 8192, threads: 1 })
const sequence = context.getSequence()

let before: Promise<unknown> = Promise.resolve()
const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', part => parts.push(part))
  request.on('end', () => {
    before = before.then(() => answer(request, Buffer.concat(parts).toString('utf8'), response)).catch(console.error)
  })
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))

async function answer(request: IncomingMessage, text: string, response: ServerResponse): Promise<void> {
  if (request.url !== '/v1/chat/completions') return refuse(response, 404, 'there are only chat completions')
  const asked = JSON.parse(text) as Asked
  const tokens = asked.messages.reduce(
    (sum, { content }) => sum + model.tokenize(content).length + marksOfMessage,
    asked.max_tokens ?? 0,
  )
  // The library would leave out the middle of the question without a word.
  if (tokens > context.contextSize) {
    return refuse(response, 400, `${tokens} tokens do not fit into the context of ${context.contextSize}`)
  }
  const stop = new AbortController()
  response.on('close', () => stop.abort())
  const { usedInputTokens: readBefore, usedOutputTokens: writtenBefore } = sequence.tokenMeter
  const { responseText, stopReason } = await complete(asked, stop.signal)
  const read = sequence.tokenMeter.usedInputTokens - readBefore
  const written = sequence.tokenMeter.usedOutputTokens - writtenBefore
  const prompt = Math.max(read, sequence.nextTokenIndex - written)
  response.writeHead(200, { 'content-type': 'application/json' }).end(
    JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_760_000_000,
      model: 'small',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: responseText },
          finish_reason: stopReason === 'maxTokens' ? 'length' : 'stop',
        },
      ],
      usage: {
        prompt_tokens: prompt,
        completion_tokens: written,
        total_tokens: prompt + written,
        prompt_tokens_details: { cached_tokens: prompt - read },
      },
    }),
  )
}

async function complete({ messages, response_format, max_tokens, seed }: Asked, signal: AbortSignal) {
  const session = new LlamaChatSession({ contextSequence: sequence, autoDisposeSequence: false })
  try {
    session.setChatHistory(
      messages
        .slice(0, -1)
        .map(({ role, content }) =>
          role === 'assistant' ? { type: 'model', response: [content] } : { type: role, text: content },
        ),
    )
    const schema = response_format?.json_schema?.schema
    return await session.promptWithMeta(messages.at(-1)!.content, {
      ...(schema === undefined ? {} : { grammar: await llama.createGrammarForJsonSchema(schema) }),
      ...(max_tokens === undefined ? {} : { maxTokens: max_tokens }),
      ...(seed === undefined ? {} : { seed }),
      temperature: 0.7,
      signal,
      stopOnAbortSignal: true,
    })
  } finally {
    session.dispose()
  }
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }))
}
