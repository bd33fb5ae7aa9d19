/**
 * From a name to a model that can be asked. The AI SDK and a provider's package are loaded only when a model is opened; keys
 * come from environment variables, the provider's own or `ALMANAC_MODEL_KEY` for an endpoint.
 */
import type { LanguageModel } from 'ai'
import { endpointKey, type ModelName, parseModelName } from './model-name.ts'

export interface OpenModel {
  readonly name: ModelName
  readonly model: Exclude<LanguageModel, string>
  /** Values that must not be seen in anything that is printed or stored. */
  readonly secrets: readonly string[]
}

/** Throws one sentence where the name is none, or the provider's package is not installed. */
export async function openModel(text: string, variables: NodeJS.ProcessEnv): Promise<OpenModel> {
  const name = parseModelName(text)
  const secrets = Object.entries(variables).flatMap(([variable, value]) =>
    /KEY|TOKEN|SECRET|PASSWORD/i.test(variable) && value !== undefined && value.length >= 8 ? [value] : [],
  )
  const model = name.kind === 'endpoint' ? await endpoint(name, variables[endpointKey]) : await provided(name)
  return { name, model, secrets }
}

async function endpoint(
  { url, model }: ModelName & { kind: 'endpoint' },
  apiKey: string | undefined,
): Promise<OpenModel['model']> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const settings = { name: 'endpoint', baseURL: url, supportsStructuredOutputs: true, fetch: boundedFetch }
  return createOpenAICompatible(apiKey === undefined ? settings : { ...settings, apiKey })(model)
}

/** No answer is that long; a server that never ends must not fill the memory. */
const mostBytes = 2 ** 24

async function boundedFetch(...asked: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...asked)
  let bytes = 0
  const counted = response.body?.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (part, controller) => {
        bytes += part.length
        if (bytes <= mostBytes) controller.enqueue(part)
        else controller.error(new Error(`its answer is longer than ${mostBytes} bytes`))
      },
    }),
  )
  return new Response(counted ?? null, response)
}

/** Every provider's package has an instance by the provider's name that makes models and reads its own variables. */
async function provided({ provider, model, text }: ModelName & { kind: 'provider' }): Promise<OpenModel['model']> {
  const name = `@ai-sdk/${provider}`
  const module: Record<string, unknown> = await import(name).catch(cause => {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new Error(
      `The model is "${text}", and the package ${name} is not installed beside Almanac: npm install ${name}. An endpoint that speaks the OpenAI protocol needs none: name it by its address.`,
      { cause },
    )
  })
  const make = module[provider.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())]
  if (typeof make !== 'function') {
    throw new Error(`The model is "${text}", but the package ${name} offers no models under that name.`)
  }
  return (make as (model: string) => OpenModel['model'])(model)
}
