/**
 * Which way is better: by a metric's name, or by what a log kept. A guess that is shown to the user, never a fact.
 */
import type { Direction } from '../experiment/environment.ts'

// Rates come first: `tokens_per_sec` has `sec` in it, `samples_per_ms` has `ms`.
const rates =
  /(^|_)(per_?(s|sec|secs|second|seconds|ms|hour|day)|throughput|tps|qps|rps|tok_?s|toks|it_?s|mfu|fps|speedup)(_|$)/
const lower =
  /(^|_)(loss|bpb|bpc|bits|nll|ppl|perplexity|err|error|errors|wer|cer|fid|mae|mse|rmse|mape|regret|latency|delay|duration|time|ns|us|µs|ms|s|sec|secs|second|seconds|minutes|runtime|cost|memory|vram|gib|mib|gb|mb|bytes|size|allocations|params)(_|$)/
const higher =
  /(^|_)(acc|accuracy|top\d+|auc|auroc|f1|score|reward|return|returns|win|wins|win_rate|winrate|elo|precision|recall|map|ndcg|mrr|bleu|rouge|iou|dice|r2|psnr|ssim|correct|solved|pass|passed|quality|gain|sharpe|profit|hits?)(_|$)/

/** The words of a metric's name: `valLoss@10` is `val_loss_10`. */
function words(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
}

export function directionOfName(name: string): Direction | null {
  const text = words(name)
  if (rates.test(text)) return 'maximize'
  const down = lower.test(text)
  const up = higher.test(text)
  if (down === up) return null
  return down ? 'minimize' : 'maximize'
}

/** By the values a log kept, in order: each kept one should be better than the one before. Null under 3 steps or when they disagree. */
export function directionOfKept(values: readonly number[]): Direction | null {
  let up = 0
  let down = 0
  for (let i = 1; i < values.length; i++) {
    if (values[i]! > values[i - 1]!) up++
    if (values[i]! < values[i - 1]!) down++
  }
  if (up + down < 3) return null
  if (down >= 0.8 * (up + down)) return 'minimize'
  if (up >= 0.8 * (up + down)) return 'maximize'
  return null
}

/** Whether the value 0 can only mean that nothing was measured: no program takes no time, and no language model has no loss. */
export function zeroMeansMissing(name: string): boolean {
  const text = words(name)
  if (rates.test(text)) return true
  return /(^|_)(loss|bpb|bpc|nll|ppl|perplexity|latency|duration|time|ns|us|µs|ms|sec|secs|seconds|memory|vram|gb|mb|bytes)(_|$)/.test(
    text,
  )
}
