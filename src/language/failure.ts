/** What went wrong with a request: whether waiting helps, whether anything helps, and the words for it. */
import type { OpenModel } from './open-model.ts'

/** First pause before a request is sent again; it doubles each time. */
const firstPause = 500

/** Who says "try again later" and means later than this is not waited for. */
const longestPause = 120_000

interface ApiError {
  readonly message: string
  readonly statusCode?: number
  readonly responseHeaders?: Readonly<Record<string, string>>
  readonly responseBody?: string
  readonly isRetryable: boolean
  readonly cause?: unknown
}

/** How long to wait before the same request is sent again; null where that would not help. */
export async function retryMilliseconds(error: unknown, attempt: number): Promise<number | null> {
  const found = await apiError(error)
  if (!found?.isRetryable || unreachable.has(codeOf(found) ?? '')) return null
  const asked = retryAfter(found.responseHeaders ?? {})
  if (asked === null) return firstPause * 2 ** (attempt - 1)
  return asked <= longestPause ? asked : null
}

/** `retry-after-ms`, or `Retry-After` as seconds or a date (RFC 9110, 10.2.3). */
function retryAfter(headers: Readonly<Record<string, string>>): number | null {
  const { 'retry-after-ms': milliseconds, 'retry-after': seconds } = headers
  const value = milliseconds === undefined ? 1000 * Number(seconds ?? Number.NaN) : Number(milliseconds)
  const wait = Number.isNaN(value) && seconds !== undefined ? Date.parse(seconds) - Date.now() : value
  return Number.isNaN(wait) ? null : Math.max(0, wait)
}

/** Whether a server may have read the question: it was cut off, or its answer could not be read. A refusal costs nothing. */
export async function mayHaveBeenBilled(error: unknown): Promise<boolean> {
  const found = await apiError(error)
  if (found === null) return true
  return (found.statusCode ?? 0) < 400 && !unreachable.has(codeOf(found) ?? '')
}

const unreachable = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

/** The sentence for what would fail with every question alike; null for what concerns this one. */
export async function hopeless(error: unknown, model: OpenModel): Promise<string | null> {
  const { LoadAPIKeyError } = await import('ai')
  const { text } = model.name
  if (LoadAPIKeyError.isInstance(error)) return `The model ${text} needs a key: ${error.message}`
  const found = await apiError(error)
  if (found === null) return null
  const code = codeOf(found)
  if (code !== undefined && unreachable.has(code)) {
    return `Nobody answers at the address of the model ${text} (${code}): start the server, or correct the address.`
  }
  const { statusCode } = found
  if (statusCode === 401 || statusCode === 403) {
    const variable = model.name.kind === 'endpoint' ? 'the variable ALMANAC_MODEL_KEY' : "the provider's variable"
    return `The model ${text} refuses the key (${statusCode}): set ${variable} to one that it accepts. It says: ${saidBy(error, model)}`
  }
  if (statusCode === 404)
    return `There is no model ${text} (404): correct its name or address. The server says: ${saidBy(error, model)}`
  return null
}

/** Whether the server cannot hold a model to a JSON schema, or not to ours. */
export async function refusesSchemas(error: unknown): Promise<boolean> {
  const found = await apiError(error)
  const said = `${found?.message} ${found?.responseBody}`
  return found?.statusCode !== undefined && found.statusCode >= 400 && /response_format|json_schema|grammar/i.test(said)
}

/** In words, bounded, without keys: a server may repeat in its message what it was sent. */
export function failureOf(error: unknown, model: OpenModel): string {
  const { statusCode } = error as Partial<ApiError>
  const status = statusCode === undefined || statusCode < 400 ? '' : ` (${statusCode})`
  return `the model failed${status}: ${saidBy(error, model)}${laterText(error)}`
}

/** Where the server wants to be left alone for longer than anybody waits. */
function laterText(error: unknown): string {
  const wait = retryAfter((error as Partial<ApiError>).responseHeaders ?? {}) ?? 0
  return wait <= longestPause ? '' : `; it wants to be asked again in ${Math.ceil(wait / 60_000)} minutes`
}

function saidBy(error: unknown, model: OpenModel): string {
  const { message = String(error) } = error as Partial<ApiError>
  const deepest = deepestCause(error)
  const own = message.includes(deepest) ? message : `${message}: ${deepest}`
  const said = (statedError(error) ?? own).replace(/\s+/g, ' ')
  return JSON.stringify(withoutSecrets(said, model).slice(0, 300))
}

/** What a server says that answers 200 with an error in place of an answer; null of any other. */
function statedError(error: unknown): string | null {
  const { statusCode = 0, responseBody = '' } = error as Partial<ApiError>
  if (statusCode !== 200) return null
  try {
    const { error: stated } = JSON.parse(responseBody) as { readonly error?: { readonly message?: unknown } | string }
    const text = typeof stated === 'string' ? stated : stated?.message
    return typeof text === 'string' ? text : null
  } catch {
    return null
  }
}

export function withoutSecrets(text: string, { secrets }: Pick<OpenModel, 'secrets'>): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text)
}

function deepestCause(error: unknown): string {
  return error instanceof Error && error.cause instanceof Error
    ? deepestCause(error.cause)
    : ((error as Partial<Error>)?.message ?? String(error))
}

async function apiError(error: unknown): Promise<ApiError | null> {
  const { APICallError } = await import('ai')
  return APICallError.isInstance(error) ? (error as ApiError) : null
}

/** Of the network, where the server was never heard. */
function codeOf({ cause }: ApiError): string | undefined {
  for (let inner = cause; inner instanceof Error; inner = inner.cause) {
    const { code } = inner as NodeJS.ErrnoException
    if (code !== undefined) return code
    // Several addresses of one host were tried.
    if (inner instanceof AggregateError) return (inner.errors[0] as NodeJS.ErrnoException | undefined)?.code
  }
  return undefined
}
