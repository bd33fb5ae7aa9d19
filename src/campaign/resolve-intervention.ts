/**
 * From an intervention as it is proposed to what would run: the merged configuration, the tree after the diff, the hash
 * that says whether it was run before. Refuses, with a sentence, what cannot run or changes nothing.
 */
import { join } from 'node:path'
import { mergePatch } from '../experiment/configuration.ts'
import { changedOptions } from '../experiment/diff-options.ts'
import type { Version } from '../experiment/environment.ts'
import { interventionHash } from '../experiment/identity.ts'
import type { ChangedOption, Intervention } from '../experiment/intervention.ts'
import { canonicalJson, type Json } from '../experiment/json.ts'
import type { OpenEnvironment } from './open-environment.ts'

export interface ResolvedIntervention {
  readonly intervention: Intervention
  readonly changes: readonly ChangedOption[]
  readonly hash: string
  readonly configuration: Json
  readonly tree: string | null
}

export async function resolveIntervention(
  { repository, file }: OpenEnvironment,
  version: Version,
  intervention: Intervention,
): Promise<ResolvedIntervention> {
  const { configuration, commit, tree } = version.reference
  const { overrides, diff } = intervention
  if (overrides === null && diff === null) {
    throw new Error('It says nothing to run: neither overrides nor a diff.')
  }
  if (overrides !== null && configuration === null) {
    throw new Error(
      'It sets options, but the environment has no reference configuration whose options they are; name one (reference.configuration), or give a diff.',
    )
  }
  if (diff !== null && (repository === null || commit === null)) {
    throw new Error('It has a diff, but the environment has no commit for it; set reference.commit, or give overrides.')
  }
  const merged = overrides === null ? configuration : mergePatch(configuration, overrides)
  const after = diff === null ? tree : await repository!.treeAfter(commit!, diff)
  if (diff !== null && after !== null && tree !== null) {
    // Asked of git, not of the diff's text: a rename without a hunk changes the evaluator too.
    const changed = await repository!.changedPaths(tree, after)
    const evaluator = file.evaluator.map(name => join(repository!.prefix, name))
    const touched = changed.find(path => evaluator.some(each => path === each || path.startsWith(`${each}/`)))
    if (touched)
      throw new Error(`It changes ${touched}, which decides the metric (evaluator); a gain would mean nothing.`)
  }
  if (canonicalJson(merged) === canonicalJson(configuration) && after === tree) {
    throw new Error('It changes nothing: the result equals the reference.')
  }
  return {
    intervention,
    changes: changedOptions(version.reference, intervention),
    hash: interventionHash({ configuration: merged, tree: after }),
    configuration: merged,
    tree: after,
  }
}
