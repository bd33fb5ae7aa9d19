/**
 * Seconds to forecast 16 candidates from 100, 1,000 and 10,000 records, for every forecaster. The records are made up: changes
 * of the recipe of `environments/nanolm`, with gains from a planted response. Aim: two seconds.
 *
 * Run:  node bench/forecasting.ts [--turns 3]
 */
import { Command } from 'commander'
import { wholeNumberFrom } from '../src/flag-values.ts'
import { forecasters } from '../src/forecast/forecaster.ts'
import { median } from '../src/statistics/summary.ts'
import { madeUp } from './made-up-records.ts'

const flags = new Command('node bench/forecasting.ts')
  .description('Seconds to forecast 16 candidates from 100, 1,000 and 10,000 records, for every forecaster.')
  .option('--turns <number>', 'of which the median is taken', wholeNumberFrom(1), 3)
  .parse()
  .opts<{ readonly turns: number }>()
const sizes = [100, 1_000, 10_000]
const all = madeUp(Math.max(...sizes), 16)

console.log(`| forecaster | ${sizes.map(size => `${size.toLocaleString('en')} records`).join(' | ')} |`)
console.log(`|---|${sizes.map(() => '---|').join('')}`)
for (const [name, forecaster] of Object.entries(forecasters)) {
  const cells = sizes.map(size => {
    const turns = Array.from({ length: flags.turns }, () => {
      // Copies: words, and forecasts of the past, are remembered for the very records that were asked about.
      const history = structuredClone(all.records.slice(0, size))
      const candidates = structuredClone(all.candidates)
      const before = performance.now()
      forecaster(history[0]!.environment, history, candidates, { seed: 1 })
      return (performance.now() - before) / 1000
    })
    return `${median(turns).toFixed(2)} s`
  })
  console.log(`| ${name} | ${cells.join(' | ')} |`)
}
