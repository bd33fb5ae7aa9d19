/**
 * Records written by hand for tests: an environment by name and reference, an intervention by its changes.
 */
import { diffConfigurations } from '../../experiment/configuration.ts'
import type { Environment } from '../../experiment/environment.ts'
import type { ChangedOption } from '../../experiment/intervention.ts'
import type { JsonObject } from '../../experiment/json.ts'
import type { Candidate, ExperimentRecord } from '../../experiment/record.ts'

export function environmentOf(name: string, configuration: JsonObject | null, label = 'reference'): Environment {
  return {
    familyId: name,
    family: {
      name,
      description: 'Pre-training of a small language model.',
      metrics: [{ name: 'val_bpb', direction: 'minimize', unit: 'bits per byte' }],
      constraints: [],
      command: null,
      budget: {},
      evaluator: {},
      data: [],
    },
    version: {
      id: `${name}@${configuration === null ? label : JSON.stringify(configuration)}`,
      familyId: name,
      reference: { configuration, commit: null, tree: null, code: null, label },
      parent: null,
    },
  }
}

/** What the overrides change in a configuration. */
export function candidateOf(
  environment: Environment,
  sentence: string,
  overrides: JsonObject,
  tags: string[] = [],
): Candidate {
  const { configuration } = environment.version.reference
  const reference = configuration as JsonObject
  return {
    intervention: { sentence, overrides, diff: null, tags, origin: null },
    changes: diffConfigurations(reference, { ...reference, ...overrides }),
  }
}

/** A candidate known by literals of a diff. */
export function literalsOf(sentence: string, changes: ChangedOption[]): Candidate {
  return { intervention: { sentence, overrides: null, diff: null, tags: [], origin: null }, changes }
}

/** A null gain is a crash. */
export function recordWith(
  id: number,
  environment: Environment,
  candidate: Candidate,
  gain: number | null,
  standardError: number | null = null,
): ExperimentRecord {
  return {
    id,
    environment,
    ...candidate,
    runs: [],
    outcome: gain === null ? 'crashed' : 'finished',
    measured: gain === null ? null : { gain, standardError, degreesOfFreedom: 4, probabilityBetter: null },
    verdict: null,
  }
}
