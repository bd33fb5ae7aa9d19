/**
 * Seconds to forecast 16 candidates from 1,000 and from 10,000 records, for every forecaster. The records are made up: changes
 * of the recipe of `environments/nanolm`, with gains from a planted response. Aim: two seconds.
 *
 * Run:  node bench/forecasting.ts [--turns 3]
 */
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { pairs, parseCards, singles } from '../src/campaign/cards.ts'
import { changedOptions } from '../src/experiment/diff-options.ts'
import type { Environment } from '../src/experiment/environment.ts'
import type { Candidate, ExperimentRecord } from '../src/experiment/record.ts'
import { wholeNumberFrom } from '../src/flag-values.ts'
import { forecasters } from '../src/forecast/forecaster.ts'
import { seededRandom } from '../src/statistics/random.ts'
import { median } from '../src/statistics/summary.ts'

const flags = new Command('node bench/forecasting.ts')
  .description('Seconds to forecast 16 candidates from 1,000 and from 10,000 records, for every forecaster.')
  .option('--turns <number>', 'of which the median is taken', wholeNumberFrom(1), 3)
  .parse()
  .opts<{ readonly turns: number }>()
const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../environments/nanolm/${name}`, import.meta.url), 'utf8'))

const cards = parseCards(read('cards.json'), 'cards.json')
const environment: Environment = {
  family: {
    name: 'bench',
    description: '',
    metrics: [{ name: 'val_bpb', direction: 'minimize' }],
    constraints: [],
    command: null,
    budget: {},
    evaluator: {},
    data: [],
  },
  familyId: 'bench',
  version: {
    id: 'bench',
    familyId: 'bench',
    reference: { configuration: read('olmo.json'), commit: null, tree: null, code: null },
    parent: null,
  },
}

const sizes = [1_000, 10_000]
const random = seededRandom('bench')
const interventions = [...singles(cards), ...pairs(cards, Math.max(...sizes) + 16, random)]
const candidates: Candidate[] = interventions.slice(-16).map(intervention => ({
  intervention,
  changes: changedOptions(environment.version.reference, intervention),
}))
const effects = new Map<string, number>()

console.log(`| forecaster | ${sizes.map(size => `${size.toLocaleString('en')} records`).join(' | ')} |\n|---|---|---|`)
for (const [name, forecaster] of Object.entries(forecasters)) {
  const cells = sizes.map(size => {
    const history = Array.from({ length: size }, (_, index) => recordOf(index))
    const turns = Array.from({ length: flags.turns }, () => {
      const before = performance.now()
      forecaster(environment, history, candidates, { seed: 1 })
      return (performance.now() - before) / 1000
    })
    return `${median(turns).toFixed(2)} s`
  })
  console.log(`| ${name} | ${cells.join(' | ')} |`)
}

function recordOf(index: number): ExperimentRecord {
  const intervention = interventions[index % (interventions.length - 16)]!
  const changes = changedOptions(environment.version.reference, intervention)
  const gain = changes.reduce((sum, change) => sum + effectOf(`${change.option} ${change.to}`), 0.005 * random.normal())
  return {
    id: index + 1,
    environment,
    intervention,
    changes,
    runs: [],
    outcome: 'finished',
    measured: { gain, standardError: 0.005, degreesOfFreedom: 10, probabilityBetter: null },
    verdict: 'inconclusive',
  }
}

function effectOf(change: string): number {
  const known = effects.get(change) ?? 0.05 * random.normal()
  effects.set(change, known)
  return known
}
