/**
 * What an experiment runs in. A *family* is what is measured and how; a *version* is a family with a reference:
 * the configuration and code that gains are measured against.
 */
import { contentHash, type Json, type JsonObject } from './json.ts'

export type Direction = 'minimize' | 'maximize'

/** Where a run leaves a metric: a path in a JSON file of the run's folder, or a pattern (first group, last match) in its output. */
export type MetricSource = { readonly file: string; readonly path: string } | { readonly pattern: string }

export interface Metric {
  readonly name: string
  readonly direction: Direction
  readonly unit?: string
  /** Absent for a metric that was only ever imported. */
  readonly read?: MetricSource
}

/** A predicate on one metric: within bounds that are absolute, or relative to the reference's value (`atMost: 1.25` times it). */
export interface Constraint {
  readonly metric: string
  readonly atMost?: number
  readonly atLeast?: number
  readonly relativeTo?: 'reference'
}

/** What one run may use. `seconds` is wall clock. */
export interface RunBudget {
  readonly seconds?: number
  readonly memoryMegabytes?: number
}

export interface Family {
  readonly name: string
  readonly description: string
  /** The first is the objective; the others are kept, and constraints may name them. */
  readonly metrics: readonly [Metric, ...Metric[]]
  readonly constraints: readonly Constraint[]
  /** The command with its placeholders, as written; null for what was only imported. */
  readonly command: string | readonly string[] | null
  readonly budget: RunBudget
  /** Files that decide the metric, by content hash: an intervention may not change them. */
  readonly evaluator: Readonly<Record<string, string>>
  /** Names (and hashes, where known) of the data. */
  readonly data: readonly string[]
  /** Only where the budget or a metric is time. */
  readonly hardware?: string
}

export interface Reference {
  /** The full configuration that overrides are merged into; null where the environment has none. */
  readonly configuration: Json
  /** The git commit that diffs apply to, and the hash of its tree; null outside git. */
  readonly commit: string | null
  readonly tree: string | null
  /** Hash of the code outside git's care, where the environment names some; null otherwise. */
  readonly code: string | null
  /** What the reference is called when all that is known is a name (imported logs: the row that was kept). */
  readonly label?: string
}

export interface Version {
  readonly id: string
  readonly familyId: string
  readonly reference: Reference
  /** The record that was promoted to make this version. */
  readonly parent: { readonly versionId: string; readonly interventionId: number } | null
}

/** An environment as forecasts see it: a family at one version. */
export interface Environment {
  readonly family: Family
  readonly familyId: string
  readonly version: Version
}

/** Two families are one when they measure the same thing the same way; the description and where metrics are read do not count. */
export function familyId(family: Family): string {
  return contentHash({
    name: family.name,
    metrics: family.metrics.map(({ name, direction, unit }) => ({ name, direction, unit: unit ?? null })),
    constraints: family.constraints.map(constraint => ({ ...constraint }) as JsonObject),
    command: family.command,
    budget: { ...family.budget } as JsonObject,
    evaluator: family.evaluator,
    data: family.data,
    hardware: family.hardware ?? null,
  })
}

/** Configuration, code and (where there is neither) label decide the version; the commit that carries the tree does not. */
export function versionId(family: string, reference: Reference): string {
  const { configuration, tree, code, label } = reference
  const named = configuration === null && tree === null && code === null
  return contentHash({ family, configuration, tree, code, label: named ? (label ?? null) : null })
}

export function objectiveOf(family: Family): Metric {
  return family.metrics[0]
}
