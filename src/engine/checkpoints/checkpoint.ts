/**
 * Checkpoints: a folder with a manifest (manifest.json) and the arrays in safetensors files: model.safetensors, adapters.safetensors
 * where there are adapters, and optimiser.safetensors (`<parameter>/<array>`). The folder appears whole or not at all, is never
 * replaced, and is refused with a sentence where it does not fit.
 */
export type { Checkpoint } from './checkpoint-content.ts'
export { type ReadCheckpointOptions, readCheckpoint } from './read-checkpoint.ts'
export { writeCheckpoint } from './write-checkpoint.ts'
