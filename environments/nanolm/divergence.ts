/**
 * When a run is given up: its loss is not a finite number, or it has stayed worse than knowing nothing at all (a uniform
 * guess, 8 bits a byte) for a stretch of steps although the warm-up is over.
 */

/** Mean loss of a uniform guess over 256 bytes, in nats. */
export const uniformLoss = Math.log(256)

/** Steps in a row whose mean is judged. */
const window = 16

/** A start somewhat above uniform is ordinary: initial logits are not zero. */
const tolerance = 1.1

/** One sentence that says how the run diverged after these mean losses (nats, one a step), or null. */
export function divergence(losses: readonly number[], warmupSteps: number): string | null {
  const step = losses.length
  const last = losses.at(-1)
  if (last === undefined) return null
  if (!Number.isFinite(last)) return `the loss of step ${step} is not a finite number`
  if (step < warmupSteps + 2 * window) return null
  const mean = losses.slice(-window).reduce((sum, loss) => sum + loss, 0) / window
  if (mean <= tolerance * uniformLoss) return null
  return `the loss has stayed above that of a uniform guess (${mean.toFixed(2)} nats in steps ${step - window + 1} to ${step})`
}
