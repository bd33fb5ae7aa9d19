/** How much a campaign may spend, and what it has spent: runs, hours of runs, or money, on runs and on a language model. */
import type { Run } from '../experiment/intervention.ts'

export interface Budget {
  readonly runs?: number | undefined
  /** Hours of run time, added up over all slots. */
  readonly hours?: number | undefined
  readonly cost?: number | undefined
}

export interface Spent {
  readonly runs: number
  readonly hours: number
  /** All of it, the language model's included. */
  readonly cost: number
  readonly languageCost: number
}

/** Everything that was started counts, also what crashed, and what forecasts cost. */
export function spentOn(runs: readonly Run[], costPerHour: number | undefined, languageCost = 0): Spent {
  const hours = runs.reduce((sum, run) => sum + (run.outcome?.seconds ?? 0), 0) / 3600
  const cost = runs.reduce((sum, run) => {
    return sum + (run.outcome?.cost ?? ((run.outcome?.seconds ?? 0) / 3600) * (costPerHour ?? 0))
  }, 0)
  return { runs: runs.length, hours, cost: cost + languageCost, languageCost }
}

/** Why no further run may start, as a sentence; null while there is budget left. */
export function exhausted(budget: Budget, spent: Spent): string | null {
  if (budget.runs !== undefined && spent.runs >= budget.runs) return `The budget of ${budget.runs} runs is spent.`
  if (budget.hours !== undefined && spent.hours >= budget.hours)
    return `The budget of ${budget.hours} run hours is spent.`
  if (budget.cost !== undefined && spent.cost >= budget.cost) {
    const language = spent.languageCost > 0 ? `, ${spent.languageCost.toPrecision(3)} of it on the language model` : ''
    return `The budget of ${budget.cost} (cost) is spent${language}.`
  }
  return null
}
