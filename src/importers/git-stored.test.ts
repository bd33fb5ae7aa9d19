/** What a git history becomes in a ledger, and what a longer one adds. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openLedger } from '../ledger/ledger.ts'
import { gitIn, scratchFolder } from '../repository/scratch-repository.ts'
import { importedFamily } from './imported-family.ts'
import { readSource } from './read-source.ts'
import { code, results, type ScratchCommit, scratchCommits } from './scratch-commits.ts'
import { storeHistory } from './store-history.ts'

const commits: readonly ScratchCommit[] = [
  { message: 'begin', files: { ...code('0.1'), ...results(1) } },
  { message: 'Raise the rate', files: { ...code('0.2'), ...results(0.5) } },
  { message: 'measured again', files: results(0.75) },
  { message: 'Deeper (mail ada@example.org)', files: { ...code('0.2', 8), ...results(0.25) } },
  { message: 'Lower the rate', files: code('0.1', 8) },
  // From here on it is new to the second import.
  { message: 'results', files: results(0.5) },
  { message: 'Revert "Lower the rate"', files: code('0.2', 8) },
  { message: 'Raise the rate', files: { ...code('0.3', 8), ...results(0.125) } },
]

test('gains are against the commit before, repeats are runs of it, and importing again adds what is new', async () => {
  const { root, hashes } = scratchCommits(commits)
  await using ledger = await openLedger(join(scratchFolder(), 'ledger.db'))
  const importUpTo = async (step: number) => {
    const options = { revisions: hashes[step]! }
    const { importer, histories } = await readSource({ kind: 'folder', path: root, name: 'trials' }, options)
    expect(importer.name).toBe('git')
    const family = await importedFamily(ledger, histories[0]!, 'minimize', [])
    return storeHistory(ledger, family, histories[0]!)
  }
  expect(await importUpTo(4)).toMatchObject({ added: { references: 2, kept: 2, tried: 0 }, known: 0, isCurrent: true })
  expect(await importUpTo(4)).toMatchObject({ added: { references: 0, kept: 0, tried: 0 }, known: 4 })
  const grown = await importUpTo(7)
  expect(grown).toMatchObject({ added: { references: 0, kept: 1, tried: 1 }, known: 4, isCurrent: true })
  const records = await ledger.recordsOf({})
  expect(records.map(({ intervention, measured }) => [intervention.sentence, measured?.gain])).toEqual([
    ['Raise the rate', 0.5],
    ['Deeper (mail (mail address))', 0.375],
    ['Lower the rate', -0.25],
    ['Raise the rate', 0.125],
  ])
  // Of the same words, but another change: the trees decide.
  expect(new Set(records.map(({ id }) => id)).size).toBe(4)
  expect(records[3]!.changes).toEqual([{ option: 'train.py:RATE', from: 0.2, to: 0.3 }])
  const current = await ledger.currentVersion(grown.familyId)
  expect(current!.version.reference).toMatchObject({
    commit: hashes[7],
    tree: gitIn(root, 'rev-parse', `${hashes[7]}^{tree}`),
  })
  expect(await ledger.lineage(current!.version.id)).toHaveLength(4)
  expect(JSON.stringify(records)).not.toContain('ada@')
})
