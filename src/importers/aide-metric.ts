/**
 * The metric of an AIDE node: one number and whether more is better, or (AI Scientist v2) named metrics with a value for each data set,
 * of which the first counts.
 */
import type { Direction } from '../experiment/environment.ts'

export interface AideMetric {
  readonly name: string
  readonly value: number
  /** Null where nothing says. */
  readonly direction: Direction | null
}

interface NamedMetric {
  readonly metric_name?: unknown
  readonly lower_is_better?: unknown
  readonly data?: readonly ({ readonly final_value?: unknown } | null)[]
}

/** Null where there is no value, as of a program that is broken. */
export function aideMetric(metric: unknown): AideMetric | null {
  if (typeof metric === 'number') return { name: 'metric', value: metric, direction: null }
  if (typeof metric !== 'object' || metric === null) return null
  const { value, maximize } = metric as { readonly value?: unknown; readonly maximize?: unknown }
  if (typeof value === 'number') return { name: 'metric', value, direction: directionIn(maximize) }
  const named = (value as { readonly metric_names?: readonly NamedMetric[] } | null)?.metric_names
  const first: unknown = Array.isArray(named) ? named[0] : null
  return typeof first === 'object' && first !== null ? namedMetric(first) : null
}

function namedMetric({ metric_name, lower_is_better, data }: NamedMetric): AideMetric | null {
  const values = Array.isArray(data)
    ? data.map(each => each?.final_value).filter(value => typeof value === 'number')
    : []
  if (values.length === 0) return null
  const name = typeof metric_name === 'string' && metric_name !== '' ? metric_name : 'metric'
  const direction = typeof lower_is_better === 'boolean' ? directionIn(!lower_is_better) : null
  return { name, value: values.reduce((sum, value) => sum + value, 0) / values.length, direction }
}

function directionIn(maximize: unknown): Direction | null {
  return typeof maximize === 'boolean' ? (maximize ? 'maximize' : 'minimize') : null
}
