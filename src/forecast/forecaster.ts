/**
 * What every forecaster is: a function from an environment, its history and the candidates to one forecast a candidate,
 * in their order. Those here are pure: same values and seed, same forecasts; the order of candidates never matters, the
 * order of the history only to `recent`.
 */
import type { Environment } from '../experiment/environment.ts'
import type { Candidate, ExperimentRecord, FailedForecast, Forecast } from '../experiment/record.ts'
import { constant } from './constant.ts'
import { kernel } from './kernel.ts'
import { neighbours } from './neighbours.ts'
import { recent } from './recent.ts'
import { ridge } from './ridge.ts'
import { stack } from './stack.ts'

type Asked = [
  environment: Environment,
  history: readonly ExperimentRecord[],
  candidates: readonly Candidate[],
  options: { readonly seed: number },
]

/**
 * One that may have to wait for its answer, and may get none that can be used, as with a language model. It throws only
 * where no answer can come at all (no such model, no key) or the user has stopped it.
 */
export type Forecaster<Answer = Forecast | FailedForecast> = (...asked: Asked) => Answer[] | Promise<Answer[]>

/** One that computes its answer from what it is given and nothing else. */
export type PureForecaster = (...asked: Asked) => Forecast[]

/** By the name that a configuration gives. */
export const forecasters = { constant, recent, neighbours, ridge, kernel, stack } as const satisfies Record<
  string,
  PureForecaster
>

export type ForecasterName = keyof typeof forecasters
export const forecasterNames = Object.keys(forecasters) as [ForecasterName, ...ForecasterName[]]

/** These give every candidate the same forecast: they have no ranking, and choose at random in expectation. */
export const withoutRanking: readonly string[] = ['constant', 'recent'] satisfies ForecasterName[]
