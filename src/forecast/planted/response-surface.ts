/**
 * A made-up response surface for tests: configurations with curved effects, interactions, heavy tails and failures, and
 * two recipes on it. It imitates how training recipes behave; it is no evidence about them.
 */
import { diffConfigurations } from '../../experiment/configuration.ts'
import type { Environment } from '../../experiment/environment.ts'
import type { OutcomeKind } from '../../experiment/intervention.ts'
import type { Json, JsonObject } from '../../experiment/json.ts'
import type { ExperimentRecord } from '../../experiment/record.ts'
import type { Random } from '../../statistics/random.ts'

/** Standard deviation of one run's metric. */
export const seedNoise = 0.003

export const recipes = {
  olmo: {
    optimiser: 'adamw',
    learningRate: 0.002,
    muonLearningRate: 0.01,
    schedule: 'cosine',
    warmup: 0.05,
    weightDecay: 0.1,
    beta2: 0.95,
    batch: 16,
    depth: 4,
    width: 128,
    activation: 'swiglu',
    queryKeyNorm: false,
    tied: true,
    softcap: null,
    initialisation: 1,
  },
  nanochat: {
    optimiser: 'muon',
    learningRate: 0.006,
    muonLearningRate: 0.03,
    schedule: 'stable-decay',
    warmup: 0.01,
    weightDecay: 0,
    beta2: 0.95,
    batch: 32,
    depth: 4,
    width: 128,
    activation: 'relu2',
    queryKeyNorm: true,
    tied: false,
    softcap: 15,
    initialisation: 0.5,
  },
} satisfies Record<string, JsonObject>

export type RecipeName = keyof typeof recipes

interface Card {
  readonly sentence: string
  readonly tag: string
  readonly option: keyof (typeof recipes)['olmo']
  readonly values: readonly Json[]
}

const cards: readonly Card[] = [
  {
    option: 'optimiser',
    tag: 'optimiser',
    values: ['adamw', 'muon', 'lion'],
    sentence: 'Train the matrices with the {value} optimiser for better conditioned updates.',
  },
  {
    option: 'learningRate',
    tag: 'learning-rate',
    values: [0.0005, 0.001, 0.002, 0.004, 0.008, 0.02, 0.04, 0.08],
    sentence: 'Set the learning rate to {value} to use the token budget better.',
  },
  {
    option: 'muonLearningRate',
    tag: 'learning-rate',
    values: [0.005, 0.01, 0.015, 0.03, 0.06, 0.1],
    sentence: 'Set the Muon learning rate of the matrices to {value}.',
  },
  {
    option: 'schedule',
    tag: 'schedule',
    values: ['constant', 'linear', 'cosine', 'stable-decay'],
    sentence: 'Use a {value} schedule for the learning rate.',
  },
  {
    option: 'warmup',
    tag: 'schedule',
    values: [0, 0.01, 0.02, 0.05, 0.1, 0.2],
    sentence: 'Warm up over a share of {value} of the steps.',
  },
  {
    option: 'weightDecay',
    tag: 'regularisation',
    values: [0, 0.01, 0.05, 0.1, 0.2, 0.4],
    sentence: 'Weight decay {value} to keep the weights small.',
  },
  {
    option: 'beta2',
    tag: 'optimiser',
    values: [0.9, 0.95, 0.98, 0.99, 0.999],
    sentence: 'Average squared gradients with beta2 {value}.',
  },
  {
    option: 'batch',
    tag: 'batch',
    values: [4, 8, 16, 32, 64],
    sentence: 'Batch size {value}: more steps or less noise.',
  },
  { option: 'depth', tag: 'architecture', values: [2, 3, 4, 5, 6], sentence: 'A model of depth {value}.' },
  { option: 'width', tag: 'architecture', values: [64, 96, 128, 144, 192], sentence: 'A model of width {value}.' },
  {
    option: 'activation',
    tag: 'architecture',
    values: ['gelu', 'swiglu', 'relu2'],
    sentence: 'Use {value} in the feed-forward layers.',
  },
  {
    option: 'queryKeyNorm',
    tag: 'normalisation',
    values: [true, false],
    sentence: 'Normalise queries and keys: {value}.',
  },
  { option: 'tied', tag: 'architecture', values: [true, false], sentence: 'Tie the embedding and the head: {value}.' },
  {
    option: 'softcap',
    tag: 'regularisation',
    values: [null, 5, 15, 30],
    sentence: 'Cap the logits softly at {value}.',
  },
  {
    option: 'initialisation',
    tag: 'initialisation',
    values: [0.1, 0.25, 0.5, 1, 2, 4],
    sentence: 'Scale the initial weights by {value}.',
  },
]

/** The metric without noise, in bits per byte; Infinity where training diverges. */
export function surface(configuration: JsonObject): number {
  const number = (option: string): number => configuration[option] as number
  const muon = configuration['optimiser'] === 'muon'
  const best = Math.log(configuration['optimiser'] === 'lion' ? 0.0008 : 0.004)
  const larger = 0.4 * Math.log(number('batch') / 16)
  const rate = Math.log(number('learningRate')) - best - larger
  const matrixRate = muon ? Math.log(number('muonLearningRate') / 0.02) - larger : rate
  const stability =
    matrixRate - (configuration['queryKeyNorm'] === true ? 0.7 : 0) - 2 * Math.min(number('warmup'), 0.1)
  if (stability > 2.6) return Number.POSITIVE_INFINITY
  const named = (table: Readonly<Record<string, number>>, option: string) => table[String(configuration[option])] ?? 0
  return (
    2 +
    (muon ? 0.003 : 0.012) * rate ** 2 +
    (muon ? 0.012 * matrixRate ** 2 : 0) +
    0.02 * Math.exp(2 * (stability - 1)) +
    named({ adamw: 0.03, lion: 0.04, muon: 0 }, 'optimiser') +
    named({ constant: 0.02, linear: 0, cosine: 0.004, 'stable-decay': 0.002 }, 'schedule') +
    0.004 * (Math.log(number('warmup') + 0.01) - Math.log(0.04)) ** 2 +
    (muon ? 0.004 : 0.012) * (Math.log(number('weightDecay') + 0.02) - Math.log(0.12)) ** 2 +
    0.003 * (Math.log(1 - number('beta2')) - Math.log(0.03)) ** 2 +
    0.006 * Math.log2(number('batch') / 16) ** 2 -
    0.03 * Math.log2(number('depth') / 4) -
    0.05 * Math.log2(number('width') / 128) +
    named({ gelu: 0.012, swiglu: 0.004, relu2: 0 }, 'activation') -
    (configuration['queryKeyNorm'] === true ? 0.008 : 0) -
    (configuration['tied'] === true ? 0 : 0.006) +
    (configuration['softcap'] === null ? 0.004 : 0.01 * (Math.log(number('softcap') / 20) / 1.5) ** 2) +
    0.008 * Math.log2(number('initialisation') / 0.6) ** 2
  )
}

export function recipeEnvironment(recipe: RecipeName): Environment {
  return {
    familyId: `family-${recipe}`,
    family: {
      name: `planted-${recipe}`,
      description: `A small language model trained for a fixed budget with the ${recipe} recipe.`,
      metrics: [{ name: 'val_bpb', direction: 'minimize', unit: 'bits per byte' }],
      constraints: [{ metric: 'parameters', atMost: 1.25, relativeTo: 'reference' }],
      command: null,
      budget: {},
      evaluator: {},
      data: ['planted'],
    },
    version: {
      id: `version-${recipe}`,
      familyId: `family-${recipe}`,
      reference: { configuration: recipes[recipe], commit: null, tree: null, code: null },
      parent: null,
    },
  }
}

/** All single changes of a recipe in random order, then random pairs, up to `count` records of two seeds each. */
export function plantedRecords(recipe: RecipeName, count: number, random: Random, firstId = 1): ExperimentRecord[] {
  const reference: JsonObject = recipes[recipe]
  const singles = cards.flatMap(card =>
    card.values.filter(value => value !== reference[card.option]).map(value => ({ card, value })),
  )
  const order = random.shuffle(singles)
  return Array.from({ length: count }, (_, index) => {
    const first = order[index] ?? order[random.integer(order.length)]!
    const others = order.filter(({ card }) => card !== first.card)
    const parts = index < order.length ? [first] : [first, others[random.integer(others.length)]!]
    return recordOf(recipe, parts, firstId + index, random)
  })
}

export function recordOf(
  recipe: RecipeName,
  parts: readonly { readonly card: Pick<Card, 'option' | 'sentence' | 'tag'>; readonly value: Json }[],
  id: number,
  random: Random,
): ExperimentRecord {
  const reference: JsonObject = recipes[recipe]
  const overrides = Object.fromEntries(parts.map(({ card, value }) => [card.option, value]))
  const configuration = { ...reference, ...overrides }
  const metric = surface(configuration)
  const gain = surface(reference) - metric + (seedNoise / Math.SQRT2) * random.normal()
  const size = (c: JsonObject) => (c['depth'] as number) * (c['width'] as number) ** 2
  const outcome: OutcomeKind =
    size(configuration) > 1.25 * size(reference) ? 'violated' : Number.isFinite(metric) ? 'finished' : 'diverged'
  return {
    id,
    environment: recipeEnvironment(recipe),
    intervention: {
      sentence: parts.map(({ card, value }) => card.sentence.replace('{value}', String(value))).join(' '),
      overrides,
      diff: null,
      tags: [...new Set(parts.map(({ card }) => card.tag))],
      origin: null,
    },
    changes: diffConfigurations(reference, configuration),
    runs: [],
    outcome,
    measured:
      outcome === 'finished'
        ? { gain, standardError: seedNoise / Math.SQRT2, degreesOfFreedom: 10, probabilityBetter: null }
        : null,
    verdict: null,
  }
}
