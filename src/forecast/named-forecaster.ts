/** From the name in a configuration or a flag to the forecaster: one that computes, or the language model that is named with it. */
import { dirname, join } from 'node:path'
import type { Usage } from '../language/usage.ts'
import { type Forecaster, forecasterNames, forecasters } from './forecaster.ts'
import { languageForecaster } from './language/language.ts'
import type { LanguageSettings } from './language/settings.ts'
import { nowAndThen } from './now-and-then.ts'

export const forecasterChoices = [...forecasterNames, 'language'] as const
export type ForecasterChoice = (typeof forecasterChoices)[number]

export interface ForecasterSurroundings {
  /** Path of the ledger: answers of language models are kept beside it. */
  readonly ledger: string
  /** Keys are read from here. */
  readonly variables: NodeJS.ProcessEnv
  /** Ends the asking. */
  readonly signal: AbortSignal
  /** What a language model took before, where that counts towards its budget. */
  readonly before?: Usage | undefined
  /** Told what asking will take, how far it is, and what it took. */
  tell(text: string): void
}

/** Throws a sentence where the name is `language` and no model is named. */
export function namedForecaster(
  name: ForecasterChoice,
  language: LanguageSettings | null | undefined,
  { ledger, ...surroundings }: ForecasterSurroundings,
): Forecaster {
  if (name !== 'language') return forecasters[name]
  if (!language) {
    throw new Error(
      'The forecaster is "language", but no model is named: give --model, or set "language" in the environment file.',
    )
  }
  const progress = nowAndThen((answered: number, of: number) =>
    surroundings.tell(`${answered} of ${of} questions answered`),
  )
  return languageForecaster(language, { ...surroundings, progress, answers: answersBeside(ledger) }).forecast
}

/** The file of answers that were paid for before. */
export function answersBeside(ledger: string): string {
  return join(dirname(ledger), 'answers.db')
}
