/**
 * Whether the numbers of a loss make sense.
 */
import { requireRecord } from '../required-types.ts'
import type { Loss } from './loss.ts'

/** Throws a sentence for the first that does not. */
export function checkLoss(verb: string, loss: Loss): void {
  requireRecord(`${verb}: the loss`, loss)
  const expect = (holds: boolean, field: string, value: unknown, expected: string) => {
    if (!holds) throw new Error(`${verb}: ${field} of ${loss.kind} is ${value}: expected ${expected}`)
  }
  const isAmount = (value: number) => Number.isFinite(value) && value >= 0
  switch (loss.kind) {
    case 'cross_entropy': {
      const { labelSmoothing = 0, zLoss = 0, innerStateWeight = 0 } = loss
      expect(
        isAmount(labelSmoothing) && labelSmoothing < 1,
        'labelSmoothing',
        labelSmoothing,
        'a number from 0 to below 1',
      )
      expect(isAmount(zLoss), 'zLoss', zLoss, 'a number from 0 on')
      expect(isAmount(innerStateWeight), 'innerStateWeight', innerStateWeight, 'a number from 0 on')
      return
    }
    case 'ppo':
    case 'cispo': {
      const { clipLow, clipHigh } = clipBounds(loss)
      expect(isAmount(clipLow), 'clipLow', clipLow, 'a ratio from 0 on')
      expect(isAmount(clipHigh) && clipHigh >= clipLow, 'clipHigh', clipHigh, `a ratio from clipLow, ${clipLow}, on`)
      return
    }
    case 'dro':
      expect(isAmount(loss.beta), 'beta', loss.beta, 'a number from 0 on')
      return
    case 'importance_sampling':
      return
    default:
      throw new Error(`${verb}: there is no loss of kind ${JSON.stringify((loss as { kind: unknown }).kind)}`)
  }
}

/** The bounds of the ratio, with their defaults. */
export function clipBounds(loss: Extract<Loss, { kind: 'ppo' | 'cispo' }>): { clipLow: number; clipHigh: number } {
  const [low, high] = loss.kind === 'ppo' ? [0.8, 1.2] : [0, 4]
  return { clipLow: loss.clipLow ?? low, clipHigh: loss.clipHigh ?? high }
}
