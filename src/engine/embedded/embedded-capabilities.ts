/**
 * What the embedded engine can do: everything that the verbs know.
 */
import type { Capabilities } from '../engine.ts'

export const embeddedCapabilities: Capabilities = {
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
