/**
 * Reads the metrics that a run left behind, from its files and its output.
 */
import type { Metric } from '../experiment/environment.ts'

/** One metric as it was found. `missing` carries one sentence that says where it was looked for and why it is not there. */
export type Reading =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'not finite'; readonly text: string }
  | { readonly kind: 'missing'; readonly why: string }

/** By metric name, for the metrics that have a source (`read`). */
export type Readings = Readonly<Record<string, Reading>>

export interface MetricPlaces {
  readonly metrics: readonly Metric[]
  /** The run's folder, with `stdout.log` and `stderr.log`. */
  readonly folder: string
  /** Where the run was told to write (`{out}`): metric files are looked for here. */
  readonly out: string
}

export async function readMetrics(places: MetricPlaces): Promise<Readings> {
  throw new Error(`readMetrics is being written: ${places.folder}`)
}
