/** Who is compared in an evaluation: forecasters by name, what each may know, and language models with how hard they think. */
import type { EnvironmentFile } from '../campaign/environment-file.ts'
import type { Entrant } from '../forecast/evaluate-rolling.ts'
import {
  type Forecaster,
  type ForecasterName,
  forecasterNames,
  forecasters,
  withoutRanking,
} from '../forecast/forecaster.ts'
import { type HistoryKind, historyKinds } from '../forecast/history-kind.ts'
import { withRenamedOptions, withShuffledOutcomes } from '../forecast/language/controls.ts'
import { type LanguageForecaster, languageForecaster } from '../forecast/language/language.ts'
import type { LanguageSettings } from '../forecast/language/settings.ts'
import { answersBeside } from '../forecast/named-forecaster.ts'
import { chosenForecaster, type LanguageFlags } from './language-flags.ts'
import { type Context, InputError } from './operation.ts'

/** A forecaster of an evaluation. */
export interface Compared extends Entrant {
  /** Whether it looks at no candidate. */
  readonly isBaseline: boolean
  /** Where it is a language model. */
  readonly language?: { readonly settings: LanguageSettings; readonly forecaster: LanguageForecaster }
}

export interface EntrantFlags extends Omit<LanguageFlags, 'model' | 'effort'> {
  readonly forecasters?: readonly string[] | undefined
  readonly history?: readonly string[] | undefined
  readonly model?: readonly string[] | undefined
  readonly effort?: readonly string[] | undefined
  /** Each that ranks once more with its history's outcomes shuffled, and once more with all options renamed. */
  readonly controls?: boolean | undefined
}

/**
 * `constant` and `recent` first, always: without them nobody knows whether a forecaster is good or gains only shrink. Every model with
 * every effort; every history with all of them, in the name where there are several.
 */
export function entrantsOf(
  flags: EntrantFlags,
  file: EnvironmentFile | null,
  ledger: string,
  context: Context,
): Compared[] {
  const names = chosenOf(flags.forecasters, [...forecasterNames, 'language'] as const, '--forecasters')
  const kinds = chosenOf(flags.history, historyKinds, '--history')
  const models = modelsOf(flags, names.includes('language'), file)
  const computed = names.filter((name): name is ForecasterName => name !== 'language')
  const all = names.length === 0 && models.length === 0 ? forecasterNames : computed
  const single: Omit<Compared, 'history'>[] = [
    ...new Set<ForecasterName>([...(withoutRanking as readonly ForecasterName[]), ...all]),
  ].map(name => ({ name, forecaster: forecasters[name], isBaseline: withoutRanking.includes(name) }))
  for (const settings of models) {
    const forecaster = languageForecaster(settings, {
      answers: answersBeside(ledger),
      variables: context.variables,
      signal: context.stop,
      // What asking takes is told once for all pools, and not for each.
      tell: () => undefined,
    })
    const name = settings.effort === undefined ? settings.model : `${settings.model} (${settings.effort})`
    single.push({ name, forecaster: forecaster.forecast, isBaseline: false, language: { settings, forecaster } })
  }
  const histories: readonly HistoryKind[] = kinds.length === 0 ? ['in-environment'] : kinds
  return histories.flatMap(history =>
    single.flatMap(entrant => {
      const name = histories.length > 1 ? `${entrant.name}, ${history}` : entrant.name
      const own: Compared = { ...entrant, name, history }
      return flags.controls && !entrant.isBaseline ? [own, ...controlsOf(own)] : [own]
    }),
  )
}

/** Who learns from the records loses with shuffled outcomes, and nothing with other names; who remembers the log, the other way round. */
function controlsOf(own: Compared): Compared[] {
  const control = (what: string, wrapped: (forecaster: Forecaster) => Forecaster): Compared => ({
    ...own,
    name: `${own.name}, ${what}`,
    forecaster: wrapped(own.forecaster),
    controls: own.name,
  })
  return [control('outcomes shuffled', withShuffledOutcomes), control('options renamed', withRenamedOptions)]
}

function modelsOf(
  { model, effort, batch, repeats, tokens }: EntrantFlags,
  isNamed: boolean,
  file: EnvironmentFile | null,
): LanguageSettings[] {
  const models = (model ?? []).flatMap(splitList)
  if (models.length === 0 && !isNamed) {
    if (effort !== undefined) throw new InputError('--effort is for a language model; give --model as well.')
    return []
  }
  const efforts = (effort ?? []).flatMap(splitList)
  return (models.length === 0 ? [undefined] : models).flatMap(model =>
    (efforts.length === 0 ? [undefined] : efforts).map(effort => {
      const flags = {
        forecaster: 'language' as const,
        model,
        effort: effort as LanguageFlags['effort'],
        batch,
        repeats,
        tokens,
      }
      return chosenForecaster(flags, file ?? { forecaster: 'kernel', language: undefined }).language!
    }),
  )
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map(word => word.trim())
    .filter(word => word !== '')
}

function chosenOf<Name extends string>(
  given: readonly string[] | undefined,
  known: readonly Name[],
  flag: string,
): Name[] {
  return [...new Set((given ?? []).flatMap(splitList))].map(word => {
    const name = known.find(each => each === word)
    if (name === undefined) throw new InputError(`${flag} is "${word}"; give one or several of ${known.join(', ')}.`)
    return name
  })
}
