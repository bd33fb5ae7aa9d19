/**
 * What a run leaves behind: `metrics.json`, whole or not at all.
 */
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Configuration } from './options.ts'

export interface CurvePoint {
  readonly step: number
  readonly tokens: number
  /** Mean training loss since the point before, in bits per byte. */
  readonly train_bpb: number
}

export interface Metrics {
  /** Bits per byte of held-out text, both sources in equal parts; "NaN" when the run diverged, which JSON cannot say otherwise. */
  readonly val_bpb: number | 'NaN'
  readonly val_bpb_moby_dick: number | 'NaN'
  readonly val_bpb_sotu: number | 'NaN'
  readonly outcome: 'finished' | 'diverged'
  /** How it diverged. */
  readonly reason: string | null
  readonly parameters: number
  /** Of training with the whole budget, by the engine's estimate; the same whether or not the run got that far. */
  readonly estimated_flops: number
  /** Trained on; fewer than the budget when it diverged. */
  readonly tokens: number
  readonly steps: number
  /** Of training, without start and validation. */
  readonly seconds: number
  readonly tokens_per_second: number
  readonly seed: number
  readonly curve: readonly CurvePoint[]
  readonly configuration: Configuration
}

const curvePoints = 40

/** At most `curvePoints` points, evenly spaced, from the loss of every step in nats. Ends before one that is not finite. */
export function trainingCurve(losses: readonly number[], batchTokens: number): CurvePoint[] {
  const points: CurvePoint[] = []
  let from = 0
  for (let point = 1; point <= curvePoints; point++) {
    const to = Math.round((point * losses.length) / curvePoints)
    if (to === from) continue
    const mean = losses.slice(from, to).reduce((sum, loss) => sum + loss, 0) / (to - from)
    if (!Number.isFinite(mean)) break
    points.push({ step: to, tokens: to * batchTokens, train_bpb: mean / Math.LN2 })
    from = to
  }
  return points
}

/** Writes beside the file and renames, so that a run that is ended on the way leaves no metrics rather than half of them. */
export function writeMetrics(folder: string, metrics: Metrics): void {
  const path = join(folder, 'metrics.json')
  const partial = `${path}.partial`
  const file = openSync(partial, 'w')
  try {
    writeSync(file, `${JSON.stringify(metrics, null, 2)}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(partial, path)
}
