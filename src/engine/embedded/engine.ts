/**
 * The embedded engine: trains and samples on this machine's CPU, in this process.
 */
import { readCheckpoint } from '../checkpoints/read-checkpoint.ts'
import type { Adapters, Capabilities, Engine } from '../engine.ts'
import type { Model } from '../models/model.ts'
import type { EmbeddedSampler } from './sampler.ts'
import { Samplers } from './samplers.ts'
import { EmbeddedTrainer, type EmbeddedTrainerOptions } from './trainer.ts'

export interface EmbeddedEngineOptions {
  /** Threads of the computation, default 1. Results do not depend on it. */
  readonly threads?: number
  /** Most positions that are computed at once, padding included; larger batches are split. More need more memory. Default 2048. */
  readonly tokensAtOnce?: number
}

const capabilities: Capabilities = {
  losses: ['cross_entropy', 'importance_sampling', 'ppo', 'cispo', 'dro'],
  raggedTargets: true,
  signedWeights: true,
  reduction: 'sum',
  distributions: true,
  readouts: true,
  optimisers: ['adamw', 'muon', 'lion', 'sgd'],
  maximumTopLogProbabilities: Number.POSITIVE_INFINITY,
  prefixes: true,
  beamSearch: true,
  mismatch: true,
}

export function createEmbeddedEngine({ threads = 1, tokensAtOnce = 2048 }: EmbeddedEngineOptions = {}): Engine {
  for (const [field, value] of Object.entries({ threads, tokensAtOnce }))
    if (!(Number.isInteger(value) && value > 0))
      throw new Error(`createEmbeddedEngine: ${field} is ${value}: expected a positive whole number`)
  const trainers = new Set<EmbeddedTrainer>()
  const samplers = new Set<EmbeddedSampler>()
  const keepSampler = (sampler: EmbeddedSampler) => {
    for (const earlier of samplers) if (earlier.isDisposed) samplers.delete(earlier)
    samplers.add(sampler)
    return sampler
  }
  const newTrainer = (
    model: Model,
    adapters: Adapters | null,
    seed: number,
    values: EmbeddedTrainerOptions['values'],
  ) => {
    for (const earlier of trainers) if (earlier.isDisposed) trainers.delete(earlier)
    const trainer = new EmbeddedTrainer({
      model,
      adapters,
      seed,
      values,
      threads,
      tokensAtOnce,
      onSnapshot: keepSampler,
    })
    trainers.add(trainer)
    return trainer
  }
  return {
    capabilities,
    async createTrainer({ model, seed = 0, values = new Map(), adapters = null }) {
      return newTrainer(model, adapters, seed, values)
    },
    async loadTrainer(folder) {
      const checkpoint = readCheckpoint(folder)
      const trainer = newTrainer(checkpoint.model, checkpoint.adapters, 0, checkpoint.values)
      trainer.takeUp(checkpoint)
      return trainer
    },
    async loadSampler(folder) {
      const { model, adapters, values, version } = readCheckpoint(folder, { optimiser: false })
      const makers = new Samplers({ model, adapters, threads, tokensAtOnce })
      const sampler = keepSampler(makers.create({ values, version }))
      await makers.release()
      return sampler
    },
    async dispose() {
      for (const part of [...trainers, ...samplers]) await part.dispose()
      trainers.clear()
      samplers.clear()
    },
  }
}
