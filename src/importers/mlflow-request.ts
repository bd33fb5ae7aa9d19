/**
 * One question to an MLflow server: a time limit, another try where the server is busy, and a redirect only to the same host, since
 * whoever answers a redirect gets the token. The token is never part of an error.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parsePythonJson } from './python-json.ts'

export interface MlflowServer {
  /** Where the server's interface begins: `http://host:5000/` or below a path. */
  readonly base: URL
  /** `Bearer …` or `Basic …`; null for a server that asks for none. */
  readonly authorization: string | null
  readonly signal: AbortSignal | null
}

/** How long one try may take, and how many there are where the server is busy. */
export interface Patience {
  readonly seconds: number
  readonly tries: number
}

/** Seconds. A server that asks for more is not waited for. */
const longestWait = 60
const mostRedirects = 3
const mostBytes = 256 * 2 ** 20

/**
 * The answer as JSON, in which numbers may be NaN or infinite. Throws a sentence with the status and what the server says.
 */
export async function askMlflow(
  server: MlflowServer,
  method: 'GET' | 'POST',
  path: string,
  values: Readonly<Record<string, unknown>>,
  { seconds, tries }: Patience = { seconds: 60, tries: 5 },
): Promise<unknown> {
  const url = new URL(`api/2.0/mlflow/${path}`, server.base)
  if (method === 'GET') for (const [key, value] of Object.entries(values)) url.searchParams.set(key, String(value))
  for (let tried = 1; ; tried++) {
    const response = await answerOf(server, method, url, method === 'POST' ? JSON.stringify(values) : null, seconds)
    if ((response.status === 429 || response.status >= 500) && tried < tries) {
      await response.body?.cancel()
      const wait = waitOf(response, tried)
      if (wait > longestWait) {
        throw new Error(
          `${url.origin} answers ${response.status} and wants to be asked again in ${Math.ceil(wait / 60)} minutes: import it then`,
        )
      }
      await sleep(1000 * wait, undefined, server.signal ? { signal: server.signal } : {})
      continue
    }
    const text = await textOf(response).catch((error: Error) => {
      if (server.signal?.aborted) throw error
      throw new Error(`${url.origin} stopped in the middle of an answer: ${reasonOf(error, seconds)}`, { cause: error })
    })
    if (!response.ok) throw new Error(refusal(server, response.status, text))
    try {
      return parsePythonJson(text)
    } catch (error) {
      throw new Error(`${server.base.origin} does not answer like an MLflow server (no JSON at ${url.pathname})`, {
        cause: error,
      })
    }
  }
}

async function answerOf(
  server: MlflowServer,
  method: string,
  start: URL,
  body: string | null,
  seconds: number,
): Promise<Response> {
  let url = start
  for (let redirects = 0; ; redirects++) {
    const headers: Record<string, string> = { accept: 'application/json' }
    if (body !== null) headers['content-type'] = 'application/json'
    if (server.authorization !== null) headers['authorization'] = server.authorization
    const limit = AbortSignal.timeout(1000 * seconds)
    const signal = server.signal ? AbortSignal.any([server.signal, limit]) : limit
    const response = await fetch(url, { method, headers, body, signal, redirect: 'manual' }).catch((error: Error) => {
      if (server.signal?.aborted) throw error
      throw new Error(`${url.origin} cannot be reached: ${reasonOf(error, seconds)}`, { cause: error })
    })
    const location = response.headers.get('location')
    if (response.status < 300 || response.status >= 400 || location === null) return response
    await response.body?.cancel()
    const next = new URL(location, url)
    if (!isSameServer(url, next) || redirects === mostRedirects) {
      throw new Error(
        `${url.origin} redirects to ${next.protocol}//${next.host}${next.pathname}, which is not followed; give that address if it is the right one`,
      )
    }
    url = next
  }
}

/** The same host and port, or the same host's step from http to https. */
function isSameServer(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true
  return from.hostname === to.hostname && from.protocol === 'http:' && to.protocol === 'https:' && to.port === ''
}

function reasonOf(error: Error, seconds: number): string {
  if (error.name === 'TimeoutError') return `no answer within ${seconds} seconds`
  const cause = error.cause as { code?: string; message?: string } | undefined
  return cause?.code ?? cause?.message ?? error.message
}

/** As long as the server says, or twice as long each time. */
function waitOf(response: Response, tried: number): number {
  const said = response.headers.get('retry-after')
  const seconds =
    said === null ? Number.NaN : /^\d+$/.test(said) ? Number(said) : (Date.parse(said) - Date.now()) / 1000
  return Math.max(0, Number.isNaN(seconds) ? 0.25 * 2 ** tried : seconds)
}

async function textOf(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body ?? []) {
    bytes += piece.length
    if (bytes > mostBytes) throw new Error('it is larger than 256 MiB')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function refusal(server: MlflowServer, status: number, text: string): string {
  const { origin } = server.base
  if (status === 401 || status === 403) {
    return server.authorization === null
      ? `${origin} wants a token (${status}); put it in MLFLOW_TRACKING_TOKEN`
      : `${origin} does not accept the token (${status}); check MLFLOW_TRACKING_TOKEN`
  }
  return `${origin} answers ${status}${withoutToken(messageIn(text), server.authorization).slice(0, 200)}`
}

/** What MLflow says of an error, if it is MLflow that says it. */
function messageIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown }
    return typeof message === 'string' ? `: ${message}` : ''
  } catch {
    return ''
  }
}

/** A server may repeat what it was sent. */
function withoutToken(message: string, authorization: string | null): string {
  const [, token] = /^\S+ (.+)$/.exec(authorization ?? '') ?? []
  return token === undefined ? message : message.replaceAll(token, '…')
}
