/**
 * Which bytes are trained on and which are measured, as windows: of `length + 1` bytes, all but the first of which are to be
 * predicted. Training windows stand at random places, from the two sources in turn as their shares say. Validation is a
 * fixed set of held-out bytes, the same for every configuration: a shorter context cuts it into more windows and sees less
 * of what came before.
 */
import type { Random } from '../../src/statistics/random.ts'
import type { Source } from './text.ts'

/** Bytes that are predicted in each excerpt of held-out text. */
export const excerptBytes = 512

/** Takes so many windows of a length, and goes on behind them at the next call. */
export type TrainingWindows = (count: number, length: number) => Buffer[]

/** By default half of the windows are from the first source, although it is a tenth of the text. */
export function trainingWindows(
  [first, second]: readonly [Source, Source],
  random: Random,
  firstShare: number,
): TrainingWindows {
  let taken = 0
  const window = (length: number): Buffer => {
    const isFirst = Math.ceil((taken + 1) * firstShare) > Math.ceil(taken * firstShare)
    taken++
    const { training } = isFirst ? first : second
    const start = random.integer(training.length - length)
    return training.subarray(start, start + length + 1)
  }
  return (count, length) => Array.from({ length: count }, () => window(length))
}

/** The validation windows of one source, from excerpts that are spread evenly over it; `length` divides `excerptBytes`. */
export function validationWindows({ heldOut }: Source, excerpts: number, length: number): Buffer[] {
  const spacing = (heldOut.length - excerptBytes - 1) / (excerpts - 1)
  return Array.from({ length: (excerpts * excerptBytes) / length }, (_, index) => {
    const offset = index * length
    const start = Math.floor(Math.floor(offset / excerptBytes) * spacing) + (offset % excerptBytes)
    return heldOut.subarray(start, start + length + 1)
  })
}
