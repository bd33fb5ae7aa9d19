/**
 * What a checkpoint says about itself, in JSON: everything but the large arrays.
 */
import { z } from 'zod'

/** Goes up when an older program could no longer read what is written. */
export const formatVersion = 1

const whole = z.int().nonnegative()
const schema = z.strictObject({
  format: z.literal('almanac checkpoint'),
  formatVersion: z.literal(formatVersion),
  model: z.strictObject({ kind: z.string(), configuration: z.record(z.string(), z.unknown()) }),
  adapters: z
    .strictObject({
      rank: z.int().positive(),
      alpha: z.exactOptional(z.number()),
      projections: z.exactOptional(z.array(z.string()).readonly()),
    })
    .nullable(),
  /** Optimiser steps that the weights have taken. */
  version: whole,
  /** Seeds and counters that the trainer goes on from, by name. */
  counters: z.record(z.string(), z.number()),
  /** By parameter that has moved: its optimiser and what that counts. */
  optimiser: z.record(
    z.string(),
    z.strictObject({ kind: z.enum(['adamw', 'muon', 'lion', 'sgd']), numbers: z.record(z.string(), z.number()) }),
  ),
  /** Bytes of the files beside it, by name. */
  files: z.record(z.string(), whole),
})

export type Manifest = Readonly<z.infer<typeof schema>>

/** Throws one sentence for a text that is no manifest, or one of a newer format. */
export function parseManifest(text: string): Manifest {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new Error('its manifest is not JSON', { cause })
  }
  const written = z.looseObject({ format: z.string(), formatVersion: z.number() }).safeParse(value).data
  if (written?.format === 'almanac checkpoint' && written.formatVersion > formatVersion)
    throw new Error(
      `it is of format ${written.formatVersion}, and this program reads up to ${formatVersion}; a newer one is needed`,
    )
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'as a whole'}: ${message}`)
  throw new Error(`its manifest is not valid (${problems.join('; ')})`)
}
