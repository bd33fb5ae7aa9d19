/** What an evaluation found, before it is text or JSON. */
import type { Difference } from '../forecast/differences.ts'
import type { Figure } from '../forecast/figures.ts'
import type { Estimate } from '../statistics/bootstrap.ts'

export interface FiguresRow {
  readonly name: string
  readonly figures: Partial<Readonly<Record<Figure, Estimate>>>
  /** Pools without equal forecasts, which rank correlations are of; null where there are no pools. */
  readonly ranked: number | null
  /** Why forecasts failed, one reason for each, so that those of `constant` stood in. */
  readonly failures: readonly string[]
}

export interface EvaluatedEnvironment {
  readonly name: string
  readonly metric: string
  readonly direction: string
  /** The metric with its unit and which way is better. */
  readonly objective: string
  readonly records: number
  readonly withoutGain: number
  readonly tested: number
  readonly pools: number
  /** Of consecutive pools; null where there is no time order. */
  readonly blocks: number | null
  readonly dates: { readonly first: string; readonly last: string } | null
  /** Rank correlation of two seeds of one record, over all records. */
  readonly ceiling: Estimate
  /** What the truth would reach by the same, within the few that are ranked together. */
  readonly truth: { readonly together: number; readonly ranks: number }
  readonly rows: readonly FiguresRow[]
}

export interface ComparedModel {
  /** Short, as in the tables. */
  readonly name: string
  /** As it is given to `--model`. */
  readonly model: string
  readonly effort: string | null
  readonly knowledgeUntil: string | null
  /** In all its rows together, controls too. Of answers kept from before nobody knows any more. */
  readonly took: {
    readonly requests: number
    readonly kept: number
    readonly input: number
    readonly cached: number
    readonly output: number
    /** Money; null without a price. */
    readonly cost: number | null
    readonly currency: string | null
  }
}

export interface Evaluation {
  readonly split: 'rolling' | 'halves'
  readonly environments: readonly EvaluatedEnvironment[]
  /** The mean over several environments; null where there is one. */
  readonly overall: readonly FiguresRow[] | null
  readonly differences: readonly Difference[]
  /** Those that look at no candidate. */
  readonly baselines: readonly string[]
  /** Entrants that were asked under a control: whose, and which. */
  readonly controls: readonly { readonly name: string; readonly of: string; readonly control: string }[]
  /** Controls that would change nothing in these records, and were not made. */
  readonly idleControls: readonly { readonly of: string; readonly control: string }[]
  readonly models: readonly ComparedModel[]
  /** Which of them forecasts where nothing else is said; null where it was not compared. */
  readonly inUse: string | null
  /** The flags that name the same environments to another command, and one of them to a forecast, with a space before them. */
  readonly environmentFlags: string
  readonly forecastFlags: string
}
