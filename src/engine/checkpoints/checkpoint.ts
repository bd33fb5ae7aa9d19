/**
 * Checkpoints: a folder with a manifest (manifest.json) and the arrays in safetensors files: model.safetensors, adapters.safetensors
 * where there are adapters, and optimiser.safetensors (`<parameter>/<array>`). Writing is in write-checkpoint.ts, reading in
 * read-checkpoint.ts.
 */
import type { Adapters } from '../engine.ts'
import type { Model } from '../models/model.ts'
import type { StateRecord } from '../optimisers/state.ts'

export interface Checkpoint {
  readonly model: Model
  readonly adapters: Adapters | null
  /** By name: of all parameters of the model, and of its adapters. */
  readonly values: ReadonlyMap<string, Float32Array>
  /** Optimiser steps that the weights have taken. */
  readonly version: number
  /** Seeds and counters that the trainer goes on from, by name. */
  readonly counters: Readonly<Record<string, number>>
  /** What `Optimisation.exportState` gave. */
  readonly optimiser: ReadonlyMap<string, StateRecord>
}

export const checkpointFiles = {
  manifest: 'manifest.json',
  model: 'model.safetensors',
  adapters: 'adapters.safetensors',
  optimiser: 'optimiser.safetensors',
} as const
