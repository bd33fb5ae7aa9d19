/**
 * Where an axis has ticks and what stands at them: whole runs, round gains with their sign.
 */
import type { Interval } from './gain-series.ts'

/** Ticks at whole runs only. */
export function integerTicks(last: number, count: number): number[] {
  const step =
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].find(size => last / size <= count) ?? Math.ceil(last / count)
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, index) => index * step)
}

/** About `count` round numbers within the frame. */
export function niceTicks({ low, high }: Interval, count: number): number[] {
  const rough = (high - low) / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const excess = rough / power
  const step = power * (excess >= Math.sqrt(50) ? 10 : excess >= Math.sqrt(10) ? 5 : excess >= Math.sqrt(2) ? 2 : 1)
  const first = Math.ceil(low / step)
  // Rounded, since 3 * 0.02 is not 0.06.
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  )
}

export function signedTick(value: number): string {
  const text = Number(value.toPrecision(6)).toString().replace('-', '−')
  return value > 0 ? `+${text}` : text
}
