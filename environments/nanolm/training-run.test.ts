import { createHash } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { createEmbeddedEngine } from '../../src/engine/embedded/engine.ts'
import { decoder } from '../../src/engine/models/decoder.ts'
import { resolveConfiguration } from './configuration.ts'
import { tiny } from './fixtures/tiny.ts'
import { decoderConfiguration } from './model.ts'
import { objectiveOf } from './objective.ts'
import { type Configuration, optionNames } from './options.ts'
import { train } from './training-run.ts'

/** A hash of the losses and of the weights that would be measured. */
async function trained(overrides: Partial<Configuration>): Promise<string> {
  const configuration = { ...resolveConfiguration(tiny), ...overrides }
  const engine = createEmbeddedEngine()
  try {
    const trainer = await engine.createTrainer({ model: decoder(decoderConfiguration(configuration)), seed: 1 })
    const { losses, reason } = await train(trainer, objectiveOf(configuration), configuration, { seed: 1 })
    expect(reason).toBeNull()
    const hash = createHash('sha256').update(JSON.stringify(losses))
    for (const values of (await trainer.values()).values()) hash.update(values)
    return hash.digest('hex')
  } finally {
    await engine.dispose()
  }
}

const bases = {
  adamw: {},
  muon: { optimiser: 'muon' },
  lion: { optimiser: 'lion' },
  sgd: { optimiser: 'sgd' },
  decaying: { schedule: 'warmup-stable-decay' },
  exponential: { weightAveraging: 'exponential' },
  tail: { weightAveraging: 'tail', averagingFraction: 0.5 },
  diffusion: { objective: 'masked-diffusion' },
  growing: { curriculum: 'linear', curriculumStartLength: 8 },
} as const satisfies Record<string, Partial<Configuration>>

/** Every option once, with a value that must make a difference to the named base. */
const changes: readonly [keyof typeof bases, Partial<Configuration>][] = [
  ['adamw', { depth: 2 }],
  ['adamw', { width: 16 }],
  ['adamw', { heads: 4, keyValueHeads: 4 }],
  ['adamw', { keyValueHeads: 1 }],
  ['adamw', { feedForwardFactor: 2 }],
  ['adamw', { contextLength: 32 }],
  ['adamw', { positions: 'alibi' }],
  ['adamw', { positions: 'learned' }],
  ['adamw', { positions: 'none' }],
  ['adamw', { norm: 'post' }],
  ['adamw', { normKind: 'layer' }],
  ['adamw', { queryKeyNorm: true }],
  ['adamw', { activation: 'gelu' }],
  ['adamw', { activation: 'relu-squared' }],
  ['adamw', { tiedEmbeddings: true }],
  ['adamw', { logitSoftCap: 2 }],
  ['adamw', { initialisationScale: 2 }],
  ['adamw', { residualScaling: 'depth' }],
  ['adamw', { dropout: 0.2 }],
  ['adamw', { optimiser: 'muon' }],
  ['adamw', { optimiser: 'lion' }],
  ['adamw', { optimiser: 'sgd' }],
  ['adamw', { learningRate: 0.005 }],
  ['lion', { lionLearningRate: 0.01 }],
  ['lion', { lionMomentum: 0.5 }],
  ['sgd', { sgdLearningRate: 0.01 }],
  ['sgd', { sgdMomentum: 0.5 }],
  ['adamw', { embeddingLearningRateFactor: 3 }],
  ['adamw', { headLearningRateFactor: 3 }],
  ['muon', { muonLearningRate: 0.1 }],
  ['muon', { muonMomentum: 0.5 }],
  ['muon', { newtonSchulzSteps: 1 }],
  ['adamw', { weightDecay: 1 }],
  ['muon', { weightDecay: 1 }],
  ['lion', { weightDecay: 1 }],
  ['sgd', { weightDecay: 1 }],
  ['adamw', { beta1: 0.5 }],
  ['adamw', { beta2: 0.5 }],
  ['adamw', { epsilon: 0.01 }],
  ['adamw', { clipNorm: 0.01 }],
  ['adamw', { schedule: 'constant' }],
  ['adamw', { schedule: 'linear' }],
  ['adamw', { schedule: 'warmup-stable-decay' }],
  ['adamw', { warmupFraction: 0.5 }],
  ['decaying', { decayFraction: 0.8 }],
  ['adamw', { finalLearningRateFraction: 0.9 }],
  ['adamw', { weightAveraging: 'exponential' }],
  ['adamw', { weightAveraging: 'tail', averagingFraction: 0.5 }],
  ['exponential', { averagingDecay: 0.5 }],
  ['tail', { averagingFraction: 0.75 }],
  ['adamw', { objective: 'masked-diffusion' }],
  ['diffusion', { masking: 'counted' }],
  ['diffusion', { lowestMaskedShare: 0.5 }],
  ['diffusion', { highestMaskedShare: 0.5 }],
  ['adamw', { mobyDickShare: 0.2 }],
  ['adamw', { curriculum: 'linear', curriculumStartLength: 8 }],
  ['growing', { curriculum: 'two-stage', curriculumFraction: 0.75 }],
  ['growing', { curriculumFraction: 1 }],
  ['adamw', { batchTokens: 128 }],
  ['adamw', { tokenBudget: 3 * 256 }],
  ['adamw', { labelSmoothing: 0.1 }],
  ['adamw', { zLoss: 0.1 }],
]

const measured = new Map<string, string>()
beforeAll(async () => {
  for (const [name, base] of Object.entries(bases)) measured.set(name, await trained(base))
})

test.each(changes)('on %s, %j changes the weights', async (base, overrides) => {
  expect(await trained({ ...bases[base], ...overrides })).not.toBe(measured.get(base))
})

test('the same configuration and seed give the same weights to the last bit', async () => {
  expect(await trained(bases.adamw)).toBe(measured.get('adamw'))
})

test('the table has every option', () => {
  const tried = new Set(changes.flatMap(([, overrides]) => Object.keys(overrides)))
  expect([...tried].sort()).toEqual([...optionNames].sort())
})
