/**
 * What a language model is called: `provider/model` for a provider of the AI SDK, or the address of an endpoint that speaks
 * the OpenAI protocol with the model's name behind `#`. Names carry no keys: they are stored with every forecast.
 */

export type ModelName =
  | { readonly kind: 'provider'; readonly provider: string; readonly model: string; readonly text: string }
  | { readonly kind: 'endpoint'; readonly url: string; readonly model: string; readonly text: string }

const examples = 'openai/gpt-5, anthropic/claude-sonnet-4-5 or http://127.0.0.1:8080/v1#name'

/** Throws one sentence for what is no name, and for an address with a key or a password in it. */
export function parseModelName(text: string): ModelName {
  if (/^https?:/i.test(text)) return endpointOf(text)
  const match = /^([a-z][a-z0-9-]*)\/(\S+)$/.exec(text)
  if (!match) throw new Error(`The model is "${text}"; name one as ${examples}.`)
  return { kind: 'provider', provider: match[1]!, model: match[2]!, text }
}

function endpointOf(text: string): ModelName {
  if (!URL.canParse(text)) throw new Error(`The model is "${text}", which is no address; name one as ${examples}.`)
  const address = new URL(text)
  const model = decodeURIComponent(address.hash.slice(1))
  if (address.username !== '' || address.password !== '' || address.search !== '') {
    throw new Error(
      `The address of the model at ${address.host} has a user, a password or a query, and would be stored with them; put the key into the variable ${endpointKey} instead.`,
    )
  }
  if (model === '') {
    throw new Error(`The model is "${text}"; name the model that is asked for at its end, as in ${text}#name.`)
  }
  const url = `${address.origin}${address.pathname}`.replace(/\/+$/, '')
  return { kind: 'endpoint', url, model, text: `${url}#${model}` }
}

/** The environment variable with the key of an endpoint; one that asks for none needs none. */
export const endpointKey = 'ALMANAC_MODEL_KEY'
