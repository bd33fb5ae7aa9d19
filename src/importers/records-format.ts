/**
 * Almanac's own exchange format, `almanac-records` version 1, as a schema: JSON lines, the first for the family and its
 * versions, then one for each intervention with its runs. What was observed only: no forecasts, no verdicts, no campaigns.
 */
import { z } from 'zod'
import { outcomeKinds } from '../experiment/intervention.ts'
import type { Json, JsonObject } from '../experiment/json.ts'

const json: z.ZodType<Json> = z.json()
const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), json)
const text = z.string()
const name = z.string().min(1)
const hash = z.string().regex(/^[0-9a-f]{64}$/, { error: '64 hexadecimal digits' })
const moment = z.iso.datetime({ error: 'a moment in UTC such as "2026-03-01T12:00:00.000Z"' })

const metric = z.strictObject({
  name,
  direction: z.enum(['minimize', 'maximize']),
  unit: text.exactOptional(),
  read: z.union([z.strictObject({ file: name, path: text }), z.strictObject({ pattern: name })]).exactOptional(),
})

const constraint = z.strictObject({
  metric: name,
  atMost: z.number().exactOptional(),
  atLeast: z.number().exactOptional(),
  relativeTo: z.literal('reference').exactOptional(),
})

const family = z.strictObject({
  name,
  description: text,
  metrics: z.tuple([metric], metric),
  constraints: z.array(constraint),
  command: z.union([name, z.array(text).min(1), z.null()]),
  budget: z.strictObject({ seconds: z.number().exactOptional(), memoryMegabytes: z.number().exactOptional() }),
  evaluator: z.record(z.string(), z.string()),
  data: z.array(text),
  hardware: text.exactOptional(),
})

const version = z.strictObject({
  id: hash,
  reference: z.strictObject({
    configuration: json,
    commit: text.nullable(),
    tree: text.nullable(),
    code: text.nullable(),
    label: text.exactOptional(),
  }),
  /** The intervention that was promoted, by its version and hash. */
  parent: z.strictObject({ version: hash, hash }).nullable(),
})

const outcome = z.strictObject({
  kind: z.enum(outcomeKinds),
  reason: text.nullable(),
  metrics: z.record(z.string(), z.number()),
  exitCode: z.number().int().nullable(),
  startedAt: moment.nullable(),
  finishedAt: moment.nullable(),
  seconds: z.number().nullable(),
  cost: z.number().nullable(),
})

export const recordsHeader = z.strictObject({
  format: z.literal('almanac-records'),
  version: z.literal(1),
  family,
  versions: z.array(version),
})

export const recordLine = z.strictObject({
  version: hash,
  kind: z.enum(['reference', 'candidate']),
  hash,
  sentence: text,
  overrides: jsonObject.nullable(),
  diff: text.nullable(),
  tags: z.array(text),
  origin: text.nullable(),
  runs: z.array(z.strictObject({ seed: z.number().int(), attempt: z.number().int().min(0), outcome })),
})

export type RecordsHeader = z.output<typeof recordsHeader>
export type RecordLine = z.output<typeof recordLine>
