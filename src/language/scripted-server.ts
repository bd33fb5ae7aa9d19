/**
 * For tests: a server that speaks the OpenAI protocol (chat completions with a JSON schema) over real HTTP and behaves, or
 * misbehaves, as a test says.
 */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Asked {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The body as it came, to the byte. */
  readonly text: string
  readonly body: {
    readonly model: string
    readonly messages: readonly { readonly role: string; readonly content: string }[]
    readonly response_format?: { readonly type: string; readonly json_schema: { readonly schema: object } }
    readonly max_tokens?: number
    readonly seed?: number
    readonly reasoning_effort?: string
  }
}

export type Behaviour =
  /** Answers with this text, or with this value as JSON. */
  | { readonly answer: unknown; readonly finish?: string; readonly usage?: object | null }
  /** Answers with this status and body. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** Closes the connection without a word, never says one, or never ends. */
  | 'drop'
  | 'hang'
  | 'flood'

export interface ScriptedServer {
  /** As a model is named. */
  readonly model: string
  readonly asked: Asked[]
  /** What happens next: given the question and its number from 0. */
  behave: (asked: Asked, index: number) => Behaviour | Promise<Behaviour>
  [Symbol.asyncDispose](): Promise<void>
}

export async function scriptedServer(behave: ScriptedServer['behave']): Promise<ScriptedServer> {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', part => parts.push(part))
    request.on('end', async () => {
      const text = Buffer.concat(parts).toString('utf8')
      const question: Asked = { path: request.url!, headers: request.headers, text, body: JSON.parse(text) }
      asked.push(question)
      const behaviour = await scripted.behave(question, asked.length - 1)
      if (behaviour === 'hang') return
      if (behaviour === 'flood') {
        response.writeHead(200, { 'content-type': 'application/json' })
        const more = () => {
          while (!response.destroyed && response.write(' '.repeat(65_536)));
        }
        response.on('drain', more)
        return more()
      }
      if (behaviour === 'drop') return void request.socket.destroy()
      if ('status' in behaviour) {
        response.writeHead(behaviour.status, behaviour.headers).end(behaviour.body ?? '')
        return
      }
      const { answer, finish = 'stop', usage } = behaviour
      const content = typeof answer === 'string' ? answer : JSON.stringify(answer)
      const counted = { prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 60 } }
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          id: `chatcmpl-${asked.length}`,
          object: 'chat.completion',
          created: 1_760_000_000,
          model: question.body.model,
          choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finish }],
          ...(usage === null ? {} : { usage: usage ?? counted }),
        }),
      )
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const scripted: ScriptedServer = {
    model: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1#scripted`,
    asked,
    behave,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
  return scripted
}
