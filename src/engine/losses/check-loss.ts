/**
 * Whether the numbers of a loss make sense.
 */
import { described, type FieldsOf, requireFields, requireRecord } from '../required-types.ts'
import type { Loss } from './loss.ts'

const fields: { readonly [Kind in Loss['kind']]: FieldsOf<Extract<Loss, { readonly kind: Kind }>> } = {
  cross_entropy: { kind: true, labelSmoothing: true, zLoss: true, innerStateWeight: true },
  importance_sampling: { kind: true },
  ppo: { kind: true, clipLow: true, clipHigh: true },
  cispo: { kind: true, clipLow: true, clipHigh: true },
  dro: { kind: true, beta: true },
}

/** Throws a sentence for the first that does not. */
export function checkLoss(verb: string, loss: Loss): void {
  requireRecord(`${verb}: the loss`, loss)
  if (!Object.hasOwn(fields, loss.kind))
    throw new Error(
      `${verb}: there is no loss of kind ${described(loss.kind)}; there are ${Object.keys(fields).join(', ')}`,
    )
  requireFields(`${verb}: the loss`, loss, fields[loss.kind])
  const expect = (holds: boolean, field: string, value: unknown, expected: string) => {
    if (!holds) throw new Error(`${verb}: ${field} of ${loss.kind} is ${described(value)}: expected ${expected}`)
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
  }
}

/** The bounds of the ratio, with their defaults. */
export function clipBounds(loss: Extract<Loss, { kind: 'ppo' | 'cispo' }>): { clipLow: number; clipHigh: number } {
  const [low, high] = loss.kind === 'ppo' ? [0.8, 1.2] : [0, 4]
  return { clipLow: loss.clipLow ?? low, clipHigh: loss.clipHigh ?? high }
}
