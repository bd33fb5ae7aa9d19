/**
 * `almanac.config.ts` (or `.json`): what a user writes about an environment. Only its shape and its checks; reading it
 * from disk is `open-environment.ts`.
 */
import { z } from 'zod'
import { placeholders } from '../execute/substitute.ts'
import type { Json } from '../experiment/json.ts'
import { languageSettings } from '../forecast/language/settings.ts'
import { forecasterChoices } from '../forecast/named-forecaster.ts'
import { fieldProblems } from './field-problems.ts'
import { gateSchema } from './gate.ts'

const name = z.string().min(1)
const positive = z.number().positive()
const count = z.number().int().positive()
const relativePath = name.refine(path => !/^([/\\]|[A-Za-z]:)|(^|[/\\])\.\.([/\\]|$)/.test(path), {
  error: 'a path inside the folder of the environment file: not absolute, without ".."',
})
const json: z.ZodType<Json> = z.json()

const metric = z
  .strictObject({
    name,
    direction: z.enum(['minimize', 'maximize']),
    unit: z.string().optional(),
    file: relativePath.optional(),
    path: name.optional(),
    pattern: name.optional(),
  })
  .refine(({ file, path, pattern }) => (pattern === undefined) === (file !== undefined && path !== undefined), {
    error: 'names where the metric is read: either "pattern" (in the output), or "file" and "path" (in a JSON file)',
  })
  .refine(({ pattern }) => pattern === undefined || isPattern(pattern), {
    path: ['pattern'],
    error: 'a regular expression with one group around the number, such as "^val_bpb: ([0-9.]+)"',
  })

const constraint = z
  .strictObject({
    metric: name,
    atMost: z.number().optional(),
    atLeast: z.number().optional(),
    relativeTo: z.literal('reference').optional(),
  })
  .refine(({ atMost, atLeast }) => atMost !== undefined || atLeast !== undefined, {
    error: 'a constraint with "atMost" or "atLeast"',
  })

const seeds = z.union([count, z.array(z.number().int()).min(1)])

const candidates = z.union([
  z.strictObject({ file: relativePath }),
  z.strictObject({ program: z.union([name, z.array(name).min(1)]) }),
  /** A JSON file of cards, or the cards themselves. */
  z.strictObject({
    cards: z.union([relativePath, z.array(z.json()).min(1)]),
    pairs: z.number().min(0).max(1).optional(),
  }),
])

/** What `{…}` may stand for in the command of a run, and in a program that prints candidates. */
export const commandPlaceholders = ['seed', 'config', 'out', 'slot', 'root', 'node'] as const
export const programPlaceholders = ['round', 'seed', 'records', 'root', 'node'] as const

const schema = z
  .strictObject({
    name: name.optional(),
    description: z.string().default(''),
    command: z.union([name, z.array(name).min(1)]),
    reference: z
      .strictObject({
        configuration: z.union([relativePath, z.record(z.string(), json)]).optional(),
        commit: name.optional(),
        /** Only read, to know when the program has changed; it may stand elsewhere. */
        code: z.array(name).optional(),
      })
      .default({}),
    metrics: z.array(metric).min(1),
    constraints: z.array(constraint).default([]),
    budget: z.strictObject({ seconds: positive.optional(), memoryMegabytes: positive.optional() }).default({}),
    seeds: seeds.default(2),
    referenceSeeds: seeds.default(3),
    concurrency: count.default(1),
    devices: z.array(z.string()).optional(),
    variables: z.array(name).default([]),
    link: z.array(relativePath).default([]),
    ignore: z.array(relativePath).default([]),
    evaluator: z.array(relativePath).default([]),
    data: z.array(name).default([]),
    hardware: z.string().optional(),
    results: relativePath.optional(),
    costPerHour: positive.optional(),
    candidates: candidates.optional(),
    forecaster: z.enum(forecasterChoices).default('stack'),
    language: languageSettings.optional(),
    gate: gateSchema.default({}),
    campaign: z
      .strictObject({
        rounds: count.optional(),
        pool: count.optional(),
        choose: count.optional(),
        exploration: z.number().min(0).max(1).optional(),
        confirm: z.number().int().nonnegative().optional(),
        runs: count.optional(),
        hours: positive.optional(),
        cost: positive.optional(),
      })
      .default({}),
  })
  .superRefine((file, context) => {
    const metrics = file.metrics.map(each => each.name)
    metrics.forEach((each, index) => {
      if (metrics.indexOf(each) !== index) {
        context.addIssue({
          code: 'custom',
          path: ['metrics', index, 'name'],
          message: 'a name that no other metric has',
        })
      }
    })
    file.constraints.forEach((each, index) => {
      if (!metrics.includes(each.metric)) {
        const message = `one of the metrics (${metrics.join(', ')})`
        context.addIssue({ code: 'custom', path: ['constraints', index, 'metric'], message })
      }
    })
    const unknown = (command: string | readonly string[], known: readonly string[], path: string[]) => {
      // Found here, before anything is paid for, and not when the first run starts.
      if (placeholders(command).every(each => known.includes(each))) return
      const message = `no other placeholders than ${known.map(each => `{${each}}`).join(', ')} (write {{name}} to keep the braces)`
      context.addIssue({ code: 'custom', path, message })
    }
    const hasConfiguration = file.reference.configuration !== undefined
    unknown(
      file.command,
      commandPlaceholders.filter(each => each !== 'config' || hasConfiguration),
      ['command'],
    )
    if (file.candidates && 'program' in file.candidates) {
      unknown(file.candidates.program, programPlaceholders, ['candidates', 'program'])
    }
    if (file.forecaster === 'language' && file.language === undefined) {
      const message = 'used together with "language", which names the model'
      context.addIssue({ code: 'custom', path: ['forecaster'], message })
    }
    if (file.campaign.cost !== undefined && file.costPerHour === undefined && file.language?.price === undefined) {
      const message =
        'used together with "costPerHour", what an hour of a run costs, or the price of the language model'
      context.addIssue({ code: 'custom', path: ['campaign', 'cost'], message })
    }
  })

/** What a user may write. */
export type EnvironmentInput = z.input<typeof schema>
/** The same, checked and with its defaults. */
export type EnvironmentFile = z.output<typeof schema>
export type CandidateSource = z.output<typeof candidates>

/** Gives an `almanac.config.ts` its types: `export default environment({ … })`. */
export function environment(input: EnvironmentInput): EnvironmentInput {
  return input
}

/** Checks what a configuration file holds. Throws one error that names each wrong field, its value and what was expected. */
export function parseEnvironmentFile(value: unknown, where: string): EnvironmentFile {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new Error(fieldProblems(value, parsed.error.issues, where).join('\n'))
}

/** `3` means seeds 1, 2 and 3. */
export function seedList(seeds: number | readonly number[]): readonly number[] {
  return typeof seeds === 'number' ? Array.from({ length: seeds }, (_, index) => index + 1) : [...new Set(seeds)]
}

/** As many seeds as asked for: those of the environment file first, and then the next free ones. */
export function firstSeeds(count: number, configured: number | readonly number[]): readonly number[] {
  const seeds = [...seedList(configured)]
  for (let seed = Math.max(...seeds) + 1; seeds.length < count; seed++) seeds.push(seed)
  return seeds.slice(0, count)
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(`${pattern}|`, 'm').exec('')!.length === 2
  } catch {
    return false
  }
}
