/** Who is compared in an evaluation: forecasters by name, what each may know, and language models with how hard they think. */
import type { EnvironmentFile } from '../campaign/environment-file.ts'
import type { Entrant } from '../forecast/evaluate-rolling.ts'
import { type ForecasterName, forecasterNames, forecasters, withoutRanking } from '../forecast/forecaster.ts'
import { type HistoryKind, historyKinds } from '../forecast/history-kind.ts'
import { type Control, controls, type Problem, withControl } from '../forecast/language/controls.ts'
import { type LanguageForecaster, languageForecaster } from '../forecast/language/language.ts'
import type { LanguageSettings } from '../forecast/language/settings.ts'
import { answersBeside } from '../forecast/named-forecaster.ts'
import { nowAndThen } from '../forecast/now-and-then.ts'
import { parseModelName } from '../language/model-name.ts'
import { chosenForecaster, type LanguageFlags } from './language-flags.ts'
import { isModelFile, modelsInFile } from './model-file.ts'
import { type Context, InputError } from './operation.ts'
import { splitList } from './split-list.ts'

/** A forecaster of an evaluation. */
export interface Compared extends Entrant {
  /** Whether it looks at no candidate. */
  readonly isBaseline: boolean
  /** Where it is a language model; several entrants with other histories or controls share one, and its budget. */
  readonly language?: { readonly settings: LanguageSettings; readonly forecaster: LanguageForecaster }
  /** Where it is asked under one. */
  readonly control?: Control
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
 * every effort, by a short name; every history with all of them, in the name where there are several.
 */
export async function entrantsOf(
  flags: EntrantFlags,
  file: EnvironmentFile | null,
  ledger: string,
  context: Context,
): Promise<Compared[]> {
  const names = chosenOf(flags.forecasters, [...forecasterNames, 'language'] as const, '--forecasters')
  const kinds = chosenOf(flags.history, historyKinds, '--history')
  const models = await modelsOf(flags, names.includes('language'), file, context)
  const computed = names.filter((name): name is ForecasterName => name !== 'language')
  const all = names.length === 0 && models.length === 0 ? forecasterNames : computed
  const single: Omit<Compared, 'history'>[] = [
    ...new Set<ForecasterName>([...(withoutRanking as readonly ForecasterName[]), ...all]),
  ].map(name => ({ name, forecaster: forecasters[name], isBaseline: withoutRanking.includes(name) }))
  const shortNames = shortNamesOf(models)
  for (const [index, settings] of models.entries()) {
    const forecaster = languageForecaster(settings, {
      answers: answersBeside(ledger),
      variables: context.variables,
      signal: context.stop,
      // What asking takes is told once for all pools, and not for each.
      tell: () => undefined,
      progress: nowAndThen((answered: number, of: number) =>
        context.emit({ type: 'note', text: `${shortNames[index]}: ${answered} of ${of} questions answered` }),
      ),
    })
    single.push({
      name: shortNames[index]!,
      forecaster: forecaster.forecast,
      isBaseline: false,
      language: { settings, forecaster },
    })
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
  return controls.map(control => ({
    ...own,
    name: `${own.name}, ${control.name}`,
    forecaster: withControl(own.forecaster, control),
    controls: own.name,
    control,
  }))
}

/** Without controls under which nothing of what their entrant is asked would be other. */
export function withoutIdleControls(
  entrants: readonly Compared[],
  problemsOf: (entrant: Compared) => Iterable<Problem>,
): Compared[] {
  const known = new Map<string, boolean>()
  return entrants.filter(entrant => {
    if (entrant.control === undefined) return true
    const key = JSON.stringify([entrant.control.name, entrant.history])
    const changes = known.get(key) ?? Iterator.from(problemsOf(entrant)).some(entrant.control.changes)
    known.set(key, changes)
    return changes
  })
}

/**
 * The model's name without address or provider, where that tells the models apart, and its effort where it is told one; else with as much of
 * the address as does.
 */
function shortNamesOf(models: readonly LanguageSettings[]): string[] {
  const names = models.map(({ model }) => parseModelName(model))
  const spelled = (long: boolean) =>
    names.map((name, index) => {
      const { effort } = models[index]!
      const home = name.kind === 'provider' ? name.provider : name.url.replace(/^https?:\/\//, '')
      return `${long ? `${home} ` : ''}${name.model}${effort === undefined ? '' : ` (${effort})`}`
    })
  const short = spelled(false)
  const taken = new Set<string>(forecasterNames)
  return new Set(short).size === short.length && !short.some(name => taken.has(name)) ? short : spelled(true)
}

async function modelsOf(
  { model, effort, batch, repeats, tokens }: EntrantFlags,
  isNamed: boolean,
  file: EnvironmentFile | null,
  context: Context,
): Promise<LanguageSettings[]> {
  const models = (model ?? []).flatMap(splitList)
  if (models.length === 0 && !isNamed) {
    if (effort !== undefined) throw new InputError('--effort is for a language model; give --model as well.')
    return []
  }
  const efforts = (effort ?? []).flatMap(splitList)
  const said = file ?? { forecaster: 'kernel' as const, language: undefined }
  const asked: {
    readonly model: string | undefined
    readonly file: Pick<EnvironmentFile, 'forecaster' | 'language'>
  }[] = []
  for (const model of models) {
    if (!isModelFile(model)) asked.push({ model, file: said })
    else {
      for (const language of await modelsInFile(model, context)) {
        asked.push({ model: language.model, file: { ...said, language } })
      }
    }
  }
  if (models.length === 0) asked.push({ model: undefined, file: said })
  return asked.flatMap(({ model, file }) =>
    (efforts.length === 0 ? [undefined] : efforts).map(effort => {
      const flags = {
        forecaster: 'language' as const,
        model,
        effort: effort as LanguageFlags['effort'],
        batch,
        repeats,
        tokens,
      }
      return chosenForecaster(flags, file).language!
    }),
  )
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
