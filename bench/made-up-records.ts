/**
 * Records that are made up: one or two changes of the recipe of `environments/nanolm`, each a different pair, with gains from a planted
 * response and noise. As many candidates as are asked for come from the same source and are not among the records.
 */
import { readFileSync } from 'node:fs'
import { pairs, parseCards, singles } from '../src/campaign/cards.ts'
import { changedOptions } from '../src/experiment/diff-options.ts'
import type { Environment } from '../src/experiment/environment.ts'
import type { Candidate, ExperimentRecord } from '../src/experiment/record.ts'
import { seededRandom } from '../src/statistics/random.ts'

export interface MadeUp {
  readonly environment: Environment
  readonly records: readonly ExperimentRecord[]
  readonly candidates: readonly Candidate[]
}

export function madeUp(recordCount: number, candidateCount: number): MadeUp {
  const read = (name: string) =>
    JSON.parse(readFileSync(new URL(`../environments/nanolm/${name}`, import.meta.url), 'utf8'))
  const environment: Environment = {
    family: {
      name: 'nanolm',
      description: 'A byte-level language model of 0.1 million parameters, trained on public speeches.',
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
  const random = seededRandom('bench')
  const cards = parseCards(read('cards.json'), 'cards.json')
  const some = [...singles(cards), ...pairs(cards, recordCount + candidateCount, random)]
  const wanted = recordCount + candidateCount
  if (some.length < wanted) throw new Error(`madeUp: there are ${some.length} changes, and ${wanted} are wanted`)
  const all = random.shuffle(some).slice(0, wanted)
  const effects = new Map<string, number>()
  const effectOf = (change: string) => {
    const known = effects.get(change) ?? 0.05 * random.normal()
    effects.set(change, known)
    return known
  }
  const asked = all.map(intervention => ({
    intervention,
    changes: changedOptions(environment.version.reference, intervention),
  }))
  const records = asked.slice(candidateCount).map(({ intervention, changes }, index): ExperimentRecord => {
    const planted = changes.reduce((sum, { option, to }) => sum + effectOf(`${option} ${to}`), 0)
    return {
      id: index + 1,
      environment,
      intervention,
      changes,
      runs: [],
      outcome: 'finished',
      measured: {
        gain: planted + 0.005 * random.normal(),
        standardError: 0.005,
        degreesOfFreedom: 10,
        probabilityBetter: null,
      },
      verdict: 'inconclusive',
    }
  })
  return { environment, records, candidates: asked.slice(0, candidateCount) }
}
