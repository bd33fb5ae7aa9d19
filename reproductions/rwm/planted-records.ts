/**
 * For tests: record files of two recipes on a made-up response surface, two seeds each, the reference five. They look like
 * real ones and are no evidence about anything.
 */
import { mergePatch } from '../../src/experiment/configuration.ts'
import { familyId, type Reference, versionId } from '../../src/experiment/environment.ts'
import { interventionHash, referenceHash } from '../../src/experiment/identity.ts'
import type { JsonObject } from '../../src/experiment/json.ts'
import {
  plantedRecords,
  type RecipeName,
  recipeEnvironment,
  recipes,
  seedNoise,
  surface,
} from '../../src/forecast/planted/response-surface.ts'
import { seededRandom } from '../../src/statistics/random.ts'

export function plantedRecordFile(recipe: RecipeName, count: number, seed: number): string {
  const { family } = recipeEnvironment(recipe)
  const reference: Reference = { configuration: recipes[recipe], commit: null, tree: null, code: null }
  const version = versionId(familyId(family), reference)
  const random = seededRandom(seed).fork(recipe)
  const runsOf = (configuration: JsonObject, seeds: number, violated: boolean) =>
    Array.from({ length: seeds }, (_, index) => {
      const metric = surface(configuration) + seedNoise * random.normal()
      const kind = violated ? 'violated' : Number.isFinite(metric) ? 'finished' : 'diverged'
      const outcome = {
        kind,
        reason: kind === 'finished' ? null : `made up: ${kind}`,
        metrics: kind === 'diverged' ? {} : { val_bpb: metric },
        exitCode: 0,
        startedAt: '2026-01-01T00:00:00.000Z',
        finishedAt: '2026-01-02T00:00:00.000Z',
        seconds: 10,
        cost: null,
      }
      return { seed: index + 1, attempt: 1, outcome }
    })
  const seen = new Set([referenceHash(reference)])
  const lines = plantedRecords(recipe, count, random).flatMap(({ intervention, outcome }) => {
    const configuration = mergePatch(reference.configuration, intervention.overrides!) as JsonObject
    const hash = interventionHash({ configuration, tree: null })
    if (seen.has(hash)) return []
    seen.add(hash)
    const runs = runsOf(configuration, 2, outcome === 'violated')
    return [{ version, kind: 'candidate', hash, ...intervention, runs }]
  })
  const header = { format: 'almanac-records', version: 1, family, versions: [{ id: version, reference, parent: null }] }
  const measured = {
    version,
    kind: 'reference',
    hash: referenceHash(reference),
    sentence: 'the reference',
    overrides: null,
    diff: null,
    tags: [],
    origin: null,
    runs: runsOf(recipes[recipe], 5, false),
  }
  return [header, measured, ...lines].map(line => `${JSON.stringify(line)}\n`).join('')
}
