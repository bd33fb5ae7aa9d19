import { expect, test } from 'vitest'
import { interventionHash, referenceHash } from '../experiment/identity.ts'
import { tiny } from '../ledger/fixtures/tiny.ts'
import { promotedRecords } from './promoted-records.ts'

const intervention = { sentence: 'Faster.', overrides: { rate: 0.1 }, diff: null, tags: [], origin: null }

test('what came to the content of a version that was known before it counts as kept, and going back to an ancestor does not', async () => {
  await using place = await tiny()
  const { ledger, familyId, version } = place
  const hash = referenceHash(version.reference)
  // As a folder's HEAD is known before its log, with the row that was kept as it, is imported.
  const { commit, tree, code } = version.reference
  const slower = { configuration: { rate: 0.05 }, commit, tree, code }
  const start = await ledger.ensureVersion(familyId, slower)
  const kept = await ledger.ensureIntervention(start.id, hash, intervention)
  const same = await ledger.ensureVersion(familyId, version.reference, { versionId: start.id, interventionId: kept.id })
  expect(same.parent).toBeNull()
  expect(await promotedRecords([], same, ledger)).toEqual(new Set([kept.id]))

  const change = { ...intervention, overrides: { rate: 0.2 } }
  const next = interventionHash({ configuration: { rate: 0.2 }, tree })
  const better = await ledger.ensureIntervention(version.id, next, change)
  const reference = { configuration: { rate: 0.2 }, commit, tree, code }
  const child = await ledger.ensureVersion(familyId, reference, { versionId: version.id, interventionId: better.id })
  const back = await ledger.ensureIntervention(child.id, hash, intervention)
  const promoted = await promotedRecords([], child, ledger)
  expect(promoted).toEqual(new Set([better.id, kept.id]))
  expect(promoted).not.toContain(back.id)
})
