/**
 * Bits per byte of held-out text: what a run is judged by.
 */
import type { Trainer } from '../../src/engine/training.ts'
import { validationWindows } from './batches.ts'
import type { Objective } from './objective.ts'
import type { Source } from './text.ts'

export interface Validation {
  /** Over all held-out bytes that are measured; the sources have equally many. */
  readonly all: number
  readonly mobyDick: number
  readonly stateOfTheUnion: number
}

/** Numbers that are not finite come out as they are. */
export async function validate(
  trainer: Trainer,
  objective: Objective,
  [book, addresses]: readonly [Source, Source],
): Promise<Validation> {
  const measure = (source: Source) =>
    objective.bitsPerByte(trainer, validationWindows(source, objective.excerpts, trainer.contextLength))
  const mobyDick = await measure(book)
  const stateOfTheUnion = await measure(addresses)
  return { all: (mobyDick + stateOfTheUnion) / 2, mobyDick, stateOfTheUnion }
}
