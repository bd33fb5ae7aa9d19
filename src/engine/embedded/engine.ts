/**
 * The embedded engine: trains and samples on this machine's CPU, in this process.
 */
import { readCheckpoint } from '../checkpoints/read-checkpoint.ts'
import type { Capabilities, Engine } from '../engine.ts'
import { EmbeddedTrainer } from './trainer.ts'

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
  const keep = (trainer: EmbeddedTrainer) => {
    trainers.add(trainer)
    return trainer
  }
  return {
    capabilities,
    async createTrainer({ model, seed = 0, values = new Map(), adapters = null }) {
      return keep(new EmbeddedTrainer({ model, adapters, seed, values, threads, tokensAtOnce }))
    },
    async loadTrainer(folder) {
      const checkpoint = readCheckpoint(folder)
      const { model, adapters, values } = checkpoint
      const trainer = new EmbeddedTrainer({ model, adapters, seed: 0, values, threads, tokensAtOnce })
      trainer.takeUp(checkpoint)
      return keep(trainer)
    },
    loadSampler: () => Promise.reject(new Error('loadSampler: not yet')),
    async dispose() {
      for (const trainer of trainers) await trainer.dispose()
      trainers.clear()
    },
  }
}
