/** Makes a record the new reference: a new version whose parent is kept, measured again with seeds of its own. */
import { z } from 'zod'
import { whyReferenceFailed } from '../campaign/campaign.ts'
import { bestOf, referenceValues } from '../campaign/conclude.ts'
import { seedList } from '../campaign/environment-file.ts'
import { measure } from '../campaign/measure.ts'
import { resolveIntervention } from '../campaign/resolve-intervention.ts'
import { referenceTasks } from '../campaign/tasks.ts'
import type { Environment, Reference } from '../experiment/environment.ts'
import { objectiveOf } from '../experiment/environment.ts'
import type { ExperimentRecord } from '../experiment/record.ts'
import { gainText, plainNumber } from '../report/numbers.ts'
import { singleLine } from '../report/outside-text.ts'
import type { Repository } from '../repository/repository.ts'
import { median } from '../statistics/summary.ts'
import { InputError, operation } from './operation.ts'
import { asInput, inPlace, type Place } from './surroundings.ts'

interface Promoted {
  readonly record: number
  readonly sentence: string
  readonly version: string
  readonly objective: string
  /** Of the old reference's runs of our own; null where only a log measured it. */
  readonly before: number | null
  /** Median of the new reference's own seeds; null when it was stopped before there was one. */
  readonly after: number | null
  readonly commit: string | null
  readonly ref: string | null
}

export const promote = operation({
  name: 'promote',
  summary: 'make a better record the reference that later gains are against',
  example: 'almanac promote 12',
  positional: ['record'],
  input: z.strictObject({
    record: z.coerce
      .number()
      .int()
      .positive()
      .optional()
      .describe('its number (default: the best of the verdict "better")'),
    anyway: z.boolean().default(false).describe('also when its verdict is not "better"'),
    concurrency: z.number().int().positive().optional().describe('runs at once (default: as the environment says)'),
  }),
  paysForRuns: true,
  run: ({ record: id, anyway, concurrency }, context) =>
    inPlace(context, async (place): Promise<Promoted> => {
      const { opened, ledger, environment } = place
      const record = await findRecord(id, place)
      if (record.measured === null)
        throw new InputError(
          `Record ${record.id} has no gain (${record.outcome ?? 'it was never run'}); it cannot be a reference.`,
        )
      if (record.verdict !== 'better' && !anyway) {
        throw new InputError(
          `Record ${record.id} is ${record.verdict} (${gainText(record.measured)}); run more seeds of it, or promote it all the same with --anyway.`,
        )
      }
      const old = await referenceValues(environment.version.id, ledger)
      const before = old.length === 0 ? null : median(old)
      const { reference, ref } = await promotedReference(record, place)
      const version = await ledger.ensureVersion(environment.familyId, reference, {
        versionId: environment.version.id,
        interventionId: record.id,
      })
      const tasks = await referenceTasks(version, seedList(opened.file.referenceSeeds), ledger)
      await measure(tasks, { ...place, environment: opened, concurrency: concurrency ?? opened.file.concurrency })
      const values = await referenceValues(version.id, ledger)
      // Only what can be measured against becomes current; until then the old reference stays.
      if (values.length > 0) await ledger.setCurrentVersion(environment.familyId, version.id, 'promoted')
      else if (!place.stop.aborted) throw new Error(await whyReferenceFailed(version.id, ledger))
      return {
        record: record.id,
        sentence: record.intervention.sentence,
        version: version.id.slice(0, 12),
        objective: objectiveOf(environment.family).name,
        before,
        after: values.length === 0 ? null : median(values),
        commit: reference.commit,
        ref,
      }
    }),
  text: ({ record, sentence, version, objective, before, after, ref }, { styling, sameFlags = '' }) => {
    if (after === null) {
      return `Stopped before the new reference was measured: the old one stays. Go on with: almanac promote ${record}${sameFlags}`
    }
    const lines = [
      styling('heading', `Record ${record} is the reference now (version ${version}): ${singleLine(sentence)}`),
      `${objective}: ${before === null ? 'not measured here' : plainNumber(before)} before, ${plainNumber(after)} with seeds of its own`,
    ]
    if (ref) lines.push(`Its commit is ${ref}. To bring your branch there: git stash && git merge --ff-only ${ref}`)
    return lines.join('\n')
  },
})

async function findRecord(id: number | undefined, { ledger, environment }: Place): Promise<ExperimentRecord> {
  const records = await ledger.recordsOf({ versionIds: [environment.version.id] })
  if (id === undefined) {
    const best = bestOf(records.filter(({ verdict }) => verdict === 'better'))
    if (best) return best
    throw new InputError(noneBetter(records))
  }
  const record = records.find(each => each.id === id)
  if (record) return record
  throw new InputError(
    `There is no record ${id} against the current reference (version ${environment.version.id.slice(0, 12)}); "almanac records" lists them.`,
  )
}

/** Names the best there is, so that nobody has to guess a number. */
function noneBetter(records: readonly ExperimentRecord[]): string {
  const best = bestOf(records.filter(({ measured }) => measured !== null && measured.gain > 0))
  if (best === null)
    return 'No record gains anything over the current reference yet: there is nothing to promote. "almanac records" lists them.'
  return `No record is "better" than the current reference yet. The best is record ${best.id} (${gainText(best.measured)}, ${best.verdict}): run it again with more --seeds, or take it all the same: almanac promote ${best.id} --anyway`
}

/** What the record's configuration and tree become as a reference. In git a commit carries the tree, under a ref of ours. */
async function promotedReference(
  record: ExperimentRecord,
  { opened, environment }: Place,
): Promise<{ reference: Reference; ref: string | null }> {
  const resolved = await asInput(resolveIntervention(opened, environment.version, record.intervention))
  const { reference } = environment.version
  if (
    opened.repository === null ||
    reference.commit === null ||
    resolved.tree === null ||
    resolved.tree === reference.tree
  ) {
    return { reference: { ...reference, configuration: resolved.configuration }, ref: null }
  }
  const commit = await commitOf(record, resolved.tree, reference.commit, environment, opened.repository)
  return {
    reference: { ...reference, configuration: resolved.configuration, commit: commit.hash, tree: resolved.tree },
    ref: commit.ref,
  }
}

/**
 * The commit of the tree. One that was made before is taken again: the version that names it must not lose it, and a
 * promotion that was cut short is repeated. A ref of that name with other content is left from a ledger that is gone.
 */
async function commitOf(
  record: ExperimentRecord,
  tree: string,
  parent: string,
  environment: Environment,
  repository: Repository,
): Promise<{ hash: string; ref: string }> {
  const usual = `refs/almanac/${slug(environment)}/record-${record.id}`
  for (const ref of [usual, `${usual}-${tree.slice(0, 12)}`]) {
    const before = await repository.resolveCommit(ref)
    if (before !== null && (await repository.treeOf(before)) === tree) return { hash: before, ref }
    if (before !== null) continue
    const message = `${record.intervention.sentence}\n\nPromoted by Almanac: record ${record.id}, gain ${gainText(record.measured)}.`
    return { hash: await repository.commitTree(tree, parent, message, ref), ref }
  }
  throw new Error(`${usual} names another commit; remove it with "git update-ref -d ${usual}" and promote again.`)
}

/** A name that git takes as part of a ref. */
function slug({ family }: Environment): string {
  return (
    family.name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '') || 'environment'
  )
}
