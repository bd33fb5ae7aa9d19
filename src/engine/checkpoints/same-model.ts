/**
 * Whether two models are the same: kind and configuration, which say everything but the values of the parameters.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Adapters } from '../engine.ts'
import { completeConfiguration } from '../models/model-of.ts'

interface Described {
  readonly kind: string
  readonly configuration: object
}

/**
 * Null where they are the same, or how they differ, in a sentence that speaks of the checkpoint and the model. Options
 * that are not spelled out are the same as their defaults.
 */
export function modelDifference(checkpoint: Described, model: Described): string | null {
  if (checkpoint.kind !== model.kind)
    return `it holds a model of kind ${checkpoint.kind}, and this one is ${model.kind}`
  const [theirs, ours] = [checkpoint, model].map(({ kind, configuration }) =>
    asWritten(completeConfiguration(kind, configuration)),
  ) as [Record<string, unknown>, Record<string, unknown>]
  for (const field of new Set([...Object.keys(theirs), ...Object.keys(ours)]))
    if (!isDeepStrictEqual(theirs[field], ours[field]))
      return `it holds a model whose ${field} is ${shown(theirs[field])}, and that of this one is ${shown(ours[field])}`
  return null
}

export function adaptersDifference(checkpoint: Adapters | null, model: Adapters | null): string | null {
  if (isDeepStrictEqual(withDefaults(checkpoint), withDefaults(model))) return null
  return `it holds ${shownAdapters(checkpoint)}, and this model has ${shownAdapters(model)}`
}

const shownAdapters = (adapters: Adapters | null) =>
  adapters ? `adapters ${JSON.stringify(withDefaults(adapters))}` : 'no adapters'

function withDefaults(adapters: Adapters | null): Adapters | null {
  return adapters && { alpha: adapters.rank, ...asWritten(adapters), rank: adapters.rank }
}

/** Without what JSON leaves out: fields that are undefined. */
function asWritten(value: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>
}

const shown = (value: unknown) => (value === undefined ? 'absent' : JSON.stringify(value))
