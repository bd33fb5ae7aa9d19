/** The flags that name a language model and how it is asked, for every operation that forecasts. */
import { z } from 'zod'
import type { EnvironmentFile } from '../campaign/environment-file.ts'
import { type LanguageSettings, languageSettings } from '../forecast/language/settings.ts'
import type { ForecasterChoice, ForecasterSurroundings } from '../forecast/named-forecaster.ts'
import { efforts } from '../language/send.ts'
import { InputError } from './operation.ts'
import type { Place } from './surroundings.ts'

const count = z.number().int().positive()

export const languageFlags = {
  model: z.string().optional().describe('the language model that forecasts: provider/model, or http://…/v1#model'),
  effort: z.enum(efforts).optional().describe('how hard the model thinks'),
  batch: z.boolean().optional().describe('ask the model about all candidates at once'),
  repeats: count.optional().describe('answers of the model that are averaged (default: 1)'),
  tokens: count.optional().describe('budget of the model, in tokens in and out'),
}

export type LanguageFlags = z.output<z.ZodObject<typeof languageFlags>>

export interface ChosenForecaster {
  readonly name: ForecasterChoice
  /** How the language model is asked, where one is named; only `language` uses it. */
  readonly language: LanguageSettings | null
}

/** Flags before the environment file; a model that is named forecasts. Throws where flags of the model go nowhere. */
export function chosenForecaster(
  { forecaster, ...flags }: LanguageFlags & { readonly forecaster?: ForecasterChoice | undefined },
  file: Pick<EnvironmentFile, 'forecaster' | 'language'>,
): ChosenForecaster {
  const name = forecaster ?? (flags.model === undefined ? file.forecaster : 'language')
  const given = Object.keys(flags).find(key => flags[key as keyof LanguageFlags] !== undefined)
  if (name !== 'language') {
    if (given !== undefined)
      throw new InputError(`--${given} is for a language model, but the forecaster is "${name}".`)
    return { name, language: file.language ?? null }
  }
  return { name, language: settingsOf(flags, file) }
}

/** What a forecaster may use of an operation's place. */
export function forecasterSurroundings({
  ledger,
  variables,
  stop,
  emit,
}: Pick<Place, 'ledger' | 'variables' | 'stop' | 'emit'>): ForecasterSurroundings {
  return { ledger: ledger.path, variables, signal: stop, tell: text => emit({ type: 'note', text }) }
}

function settingsOf(
  { tokens, ...flags }: LanguageFlags,
  { language }: Pick<EnvironmentFile, 'language'>,
): LanguageSettings {
  const told = Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined))
  const budget = tokens === undefined ? {} : { budget: { ...language?.budget, tokens } }
  // What the file says of price and context belongs to its own model.
  const base = flags.model === undefined || flags.model === language?.model ? language : undefined
  const parsed = languageSettings.safeParse({ ...base, ...told, ...budget })
  if (parsed.success) return parsed.data
  const { path, message } = parsed.error.issues[0]!
  if (path[0] === 'model' && base === undefined && flags.model === undefined) {
    throw new InputError(
      'The forecaster is "language", but no model is named: give --model, or set "language" in the environment file.',
    )
  }
  throw new InputError(`--${String(path[0])}: ${message}`)
}
