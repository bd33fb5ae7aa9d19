/**
 * Bits per byte of held-out text: what a run is judged by.
 */
import type { Trainer } from '../../src/engine/trainer.ts'
import { validationBatch } from './batches.ts'
import type { Source } from './text.ts'

export interface Validation {
  /** Over all held-out bytes that are measured; the sources have equally many. */
  readonly all: number
  readonly mobyDick: number
  readonly stateOfTheUnion: number
}

/** Numbers that are not finite come out as they are. */
export async function validate(trainer: Trainer, sources: readonly Source[]): Promise<Validation> {
  const measured = new Map<Source['name'], number>()
  for (const source of sources) {
    const { tokenLogProbabilities } = await trainer.forward(validationBatch(source, trainer.sequence))
    let nats = 0
    for (const logProbability of tokenLogProbabilities) nats -= logProbability
    measured.set(source.name, nats / (Math.LN2 * tokenLogProbabilities.length))
  }
  const mobyDick = measured.get('moby_dick')!
  const stateOfTheUnion = measured.get('sotu')!
  return { all: (mobyDick + stateOfTheUnion) / 2, mobyDick, stateOfTheUnion }
}
