/**
 * Samplers that lag behind a trainer on purpose: weights that are a fixed number of optimiser steps old, or that are
 * renewed every so many steps. Whoever asks for a sampler uses it until the next call and does not dispose of it.
 */

import { described } from '../required-types.ts'
import type { Sampler, SnapshotOptions } from '../sampling.ts'
import type { Trainer } from '../training.ts'

export interface LaggingSamplers {
  /**
   * The sampler for the weights of now. Calls are answered one after the other; ask again after each optimiser step.
   */
  sampler(): Promise<Sampler>
  /** Ends all samplers that are held. */
  dispose(): Promise<void>
}

type Source = Pick<Trainer, 'version' | 'snapshot'>

/**
 * Weights of `steps` optimiser steps ago; as long as there are none so old, the oldest that were seen. Only versions at
 * which it was asked are seen: ask once before the first step and after every one. Holds up to steps + 1 snapshots.
 * Steps are counted by the trainer's version: after loading other weights, begin anew.
 */
export function staleSamplers(trainer: Source, steps: number, options: SnapshotOptions = {}): LaggingSamplers {
  if (!Number.isInteger(steps) || steps < 0)
    throw new Error(`staleSamplers: steps is ${described(steps)}: expected a whole number from 0 on`)
  return lagging(async held => {
    if (held.at(-1)?.version !== trainer.version) held.push(await trainer.snapshot(options))
    const due = held.at(-1)!.version - steps
    return held.splice(0, Math.max(0, held.filter(({ version }) => version <= due).length - 1))
  })
}

/** Weights that are taken over once the trainer is `steps` optimiser steps ahead of them, 1 for always. */
export function renewedSamplers(trainer: Source, steps: number, options: SnapshotOptions = {}): LaggingSamplers {
  if (!Number.isInteger(steps) || steps < 1)
    throw new Error(`renewedSamplers: steps is ${described(steps)}: expected a positive whole number`)
  return lagging(async held => {
    const current = held[0]
    if (current && trainer.version < current.version + steps) return []
    held.push(await trainer.snapshot(options))
    return held.splice(0, held.length - 1)
  })
}

/**
 * `renew` adds to the samplers that are held, oldest first, and takes out those that are no longer needed; the first is
 * in use.
 */
function lagging(renew: (held: Sampler[]) => Promise<Sampler[]>): LaggingSamplers {
  const held: Sampler[] = []
  let last: Promise<unknown> = Promise.resolve()
  let disposed = false
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work)
    last = result.catch(() => {})
    // Another promise, whose failure nobody has looked at yet.
    return result.then(value => value)
  }
  return {
    sampler: () =>
      inTurn(async () => {
        if (disposed) throw new Error('sampler: these lagging samplers were disposed of')
        for (const sampler of await renew(held)) await sampler.dispose()
        return held[0]!
      }),
    dispose: () =>
      inTurn(async () => {
        disposed = true
        for (const sampler of held.splice(0)) await sampler.dispose()
      }),
  }
}
