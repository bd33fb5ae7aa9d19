/**
 * Where every candidate must have a number, as in an evaluation: the forecast of `constant` stands in for one that failed.
 * It says so, and is never stored as the forecaster's own.
 */
import { type Forecast, hasFailed } from '../experiment/record.ts'
import { constant } from './constant.ts'
import type { Forecaster } from './forecaster.ts'

export interface StoodIn extends Forecast {
  /** Why the forecaster's own failed; absent where it did not. */
  readonly failed?: string
}

/** The same forecaster, with `constant` on the same history in place of each failed forecast. */
export function standingIn(forecaster: Forecaster): Forecaster<StoodIn> {
  return async (environment, history, candidates, options) => {
    const answers = await forecaster(environment, history, candidates, options)
    if (!answers.some(hasFailed)) return answers as Forecast[]
    const constants = constant(environment, history, candidates, options)
    return answers.map((answer, index) =>
      hasFailed(answer) ? { ...constants[index]!, failed: answer.failed } : answer,
    )
  }
}
