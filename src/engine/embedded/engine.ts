/**
 * The embedded engine: trains and samples on this machine's CPU, in this process.
 */
import type { Adapters, Engine, TrainerOptions } from '../engine.ts'
import type { Model } from '../models/model.ts'
import { type FieldsOf, requireFields, requireRecord } from '../required-types.ts'
import { embeddedCapabilities } from './embedded-capabilities.ts'
import { completeEngineOptions, type EmbeddedEngineOptions } from './engine-options.ts'
import type { EmbeddedSampler } from './sampler.ts'
import { EmbeddedTrainer, type EmbeddedTrainerOptions } from './trainer.ts'

const trainerFields: FieldsOf<TrainerOptions> = { model: true, seed: true, values: true, adapters: true }

export function createEmbeddedEngine(options: EmbeddedEngineOptions = {}): Engine {
  const { threads, tokensAtOnce } = completeEngineOptions('createEmbeddedEngine', options)
  const trainers = new Living<EmbeddedTrainer>()
  const samplers = new Living<EmbeddedSampler>()
  const keepSampler = (sampler: EmbeddedSampler) => {
    samplers.add(sampler)
    return sampler
  }
  let isDisposed = false
  const refuseDisposed = (verb: string) => {
    if (isDisposed) throw new Error(`${verb}: the engine was disposed of`)
  }
  const newTrainer = (
    model: Model,
    adapters: Adapters | null,
    seed: number,
    values: EmbeddedTrainerOptions['values'],
  ) => {
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
    capabilities: embeddedCapabilities,
    async createTrainer(given) {
      refuseDisposed('createTrainer')
      requireFields('createTrainer: options', given, trainerFields)
      const { model, seed = 0, values = new Map(), adapters = null } = given
      requireRecord('createTrainer: model', model)
      if (typeof model.build !== 'function')
        throw new Error(
          'createTrainer: model has no function build: give what decoder(…) or another maker of models returns',
        )
      return newTrainer(model, adapters, seed, values)
    },
    async loadTrainer(folder) {
      refuseDisposed('loadTrainer')
      const { readCheckpoint } = await import('../checkpoints/read-checkpoint.ts')
      const checkpoint = readCheckpoint(folder)
      const trainer = newTrainer(checkpoint.model, checkpoint.adapters, 0, checkpoint.values)
      trainer.takeUp(checkpoint)
      return trainer
    },
    async loadSampler(folder) {
      refuseDisposed('loadSampler')
      const { readCheckpoint } = await import('../checkpoints/read-checkpoint.ts')
      const { Samplers } = await import('./samplers.ts')
      const { model, adapters, values, version } = readCheckpoint(folder, { optimiser: false })
      const makers = new Samplers({ model, adapters, threads, tokensAtOnce })
      const sampler = keepSampler(makers.create({ values, version }))
      await makers.release()
      return sampler
    },
    async dispose() {
      isDisposed = true
      for (const trainer of trainers.all()) await trainer.dispose()
      // Trainers that still had snapshots to take have added them by now.
      for (const sampler of samplers.all()) await sampler.dispose()
    },
  }
}

/** What is to be disposed of with the engine. What nobody refers to any more is not kept for that: its memory is free without. */
class Living<T extends { readonly isDisposed: boolean }> {
  #references: WeakRef<T>[] = []

  add(object: T): void {
    this.#references = [...this.all(), object].map(each => new WeakRef(each))
  }

  all(): T[] {
    return this.#references.flatMap(reference => reference.deref() ?? []).filter(({ isDisposed }) => !isDisposed)
  }
}
