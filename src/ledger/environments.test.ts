import { expect, test } from 'vitest'
import { referenceHash } from '../experiment/identity.ts'
import { family, intervention, reference, tiny } from './fixtures/tiny.ts'

test('a family is stored once; its description follows the latest words', async () => {
  await using given = await tiny()
  const { ledger, familyId } = given
  expect(await ledger.ensureFamily({ ...family, description: 'better words' })).toBe(familyId)
  expect(await ledger.families('tiny')).toEqual([{ id: familyId, family: { ...family, description: 'better words' } }])
})

test('measuring something else under the same name is another family', async () => {
  await using given = await tiny()
  const { ledger, familyId } = given
  const other = await ledger.ensureFamily({ ...family, data: ['moby dick'] })
  expect((await ledger.families('tiny')).map(({ id }) => id)).toEqual([familyId, other])
  expect(await ledger.families('another')).toEqual([])
  expect(await ledger.family('unknown')).toBeNull()
})

test('versions descend from each other; the first parent stays', async () => {
  await using given = await tiny()
  const { ledger, familyId, version } = given
  const { id } = await ledger.ensureIntervention(version.id, 'h', intervention(0.2))
  const parent = { versionId: version.id, interventionId: id }
  const child = await ledger.ensureVersion(familyId, reference(0.2), parent)
  expect(child.parent).toEqual(parent)
  expect((await ledger.ensureVersion(familyId, reference(0.2), null)).parent).toEqual(parent)
  expect((await ledger.lineage(child.id)).map(({ id }) => id)).toEqual([child.id, version.id])
  expect(await ledger.lineage('unknown')).toEqual([])
})

test('the current version is the one set last, and one can see since when and why', async () => {
  await using given = await tiny()
  const { ledger, familyId, version } = given
  expect(await ledger.currentVersion(familyId)).toBeNull()
  await ledger.setCurrentVersion(familyId, version.id, 'configured')
  const first = await ledger.currentVersion(familyId)
  await ledger.setCurrentVersion(familyId, version.id, 'configured')
  expect(await ledger.currentVersion(familyId)).toEqual(first)
  const next = await ledger.ensureVersion(familyId, reference(0.3))
  await ledger.setCurrentVersion(familyId, next.id, 'promoted')
  expect(await ledger.currentVersion(familyId)).toMatchObject({ version: next, why: 'promoted' })
  await ledger.setCurrentVersion(familyId, version.id, 'configured')
  expect(await ledger.currentVersion(familyId)).toMatchObject({ version, why: 'configured' })
})

test('a version brings its reference as an intervention; a candidate that changes nothing meets it', async () => {
  await using given = await tiny()
  const { ledger, version } = given
  const id = await ledger.ensureReference(version.id)
  expect(await ledger.intervention(id)).toMatchObject({
    kind: 'reference',
    intervention: { overrides: null, diff: null },
  })
  const same = await ledger.ensureIntervention(version.id, referenceHash(version.reference), intervention(0.1))
  expect(same).toEqual({ id, created: false })
  await expect(ledger.ensureReference('unknown')).rejects.toThrow('the ledger has no version unknown')
})

test('many interventions at once are as many one by one: known ones, the reference, and one that comes twice', async () => {
  await using given = await tiny()
  const { ledger, familyId, version } = given
  const other = await ledger.ensureVersion(familyId, reference(0.5))
  const { id: known } = await ledger.ensureIntervention(version.id, 'h1', intervention(0.2))
  const hashes = ['h0', 'h1', 'h2', 'h2', referenceHash(version.reference)]
  const ensured = await ledger.ensureInterventions([
    ...hashes.map(hash => ({ versionId: version.id, hash, intervention: intervention(0.3) })),
    { versionId: other.id, hash: 'h1', intervention: intervention(0.3) },
  ])
  expect(ensured.map(({ created }) => created)).toEqual([true, false, true, false, false, true])
  expect([ensured[1]!.id, ensured[4]!.id]).toEqual([known, await ledger.ensureReference(version.id)])
  expect(ensured[2]!.id).toBe(ensured[3]!.id)
  expect(ensured[5]!.id).not.toBe(known)
  expect((await ledger.interventionByHash(version.id, 'h1'))!.intervention).toEqual(intervention(0.2))
  const many = Array.from({ length: 2500 }, (_, i) => ({
    versionId: version.id,
    hash: `m${i}`,
    intervention: intervention(i),
  }))
  const ids = (await ledger.ensureInterventions(many)).map(({ id }) => id)
  expect(ids).toEqual([...ids].sort((a, b) => a - b))
  expect(await ledger.ensureInterventions(many)).toEqual(ids.map(id => ({ id, created: false })))
})

test('an intervention is stored once a version, with its first sentence', async () => {
  await using given = await tiny()
  const { ledger, familyId, version } = given
  const { id, created } = await ledger.ensureIntervention(version.id, 'h', intervention(0.2))
  expect(created).toBe(true)
  const again = await ledger.ensureIntervention(version.id, 'h', { ...intervention(0.2), sentence: 'other words' })
  expect(again).toEqual({ id, created: false })
  expect((await ledger.interventionByHash(version.id, 'h'))!.intervention).toEqual(intervention(0.2))
  const other = await ledger.ensureVersion(familyId, reference(0.5))
  expect((await ledger.ensureIntervention(other.id, 'h', intervention(0.2))).created).toBe(true)
  expect(await ledger.interventionByHash(other.id, 'unknown')).toBeNull()
  expect((await ledger.interventionsOf(version.id)).map(({ kind, hash }) => `${kind} ${hash}`)).toEqual([
    `reference ${referenceHash(version.reference)}`,
    'candidate h',
  ])
})
