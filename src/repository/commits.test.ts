import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openRepository } from './repository.ts'
import {
  commitAll,
  fingerprint,
  gitIn,
  program,
  scratchFolder,
  scratchRepository,
  write,
} from './scratch-repository.ts'

test('a tree becomes a commit on a ref that moves forward, and the user’s branch, index and files stay', async () => {
  const root = scratchRepository()
  write(root, { 'train.py': program.replace('8', '9') })
  const repository = await openRepository(root)
  const head = await repository.head()
  const { tree } = await repository.diffOfWorkingTree(head)
  const before = fingerprint(root)
  const ref = 'refs/heads/almanac/best'
  const first = await repository.commitTree(tree, head, 'deeper: 9\n\n-- "quoted" é', ref)
  expect(fingerprint(root).replaceAll(`${first} commit\t${ref}\n`, '')).toBe(before)
  expect(gitIn(root, 'rev-parse', ref, `${ref}^{tree}`, `${ref}^`)).toBe(`${first}\n${tree}\n${head}`)
  expect(gitIn(root, 'log', '-1', '--format=%an %B', ref)).toBe('Ada deeper: 9\n\n-- "quoted" é')
  const second = await repository.commitTree(await repository.treeOf(head), first, 'back', ref)
  expect(await repository.commitInfo(ref)).toMatchObject({ commit: second, parent: first, subject: 'back' })
})

test('a ref that would lose commits, is checked out, or is no ref stays as it is', async () => {
  const root = scratchRepository()
  const repository = await openRepository(root)
  const first = await repository.head()
  const tree = await repository.treeOf(first)
  write(root, { 'train.py': 'x\n' })
  commitAll(root, 'second')
  gitIn(root, 'branch', 'ahead')
  await expect(repository.commitTree(tree, first, 'm', 'refs/heads/ahead')).rejects.toThrow(
    /is not before the new commit/,
  )
  await expect(repository.commitTree(tree, 'HEAD', 'm', 'refs/heads/main')).rejects.toThrow(/is checked out/)
  gitIn(root, 'worktree', 'add', '--quiet', join(scratchFolder(), 'tree'), 'ahead')
  await expect(repository.commitTree(tree, 'HEAD', 'm', 'refs/heads/ahead')).rejects.toThrow(/is checked out/)
  for (const ref of ['main', '-d', 'refs/heads/a..b', 'refs/heads/', 'HEAD']) {
    await expect(repository.commitTree(tree, 'HEAD', 'm', ref)).rejects.toThrow(/not a full name of a ref/)
  }
  expect(gitIn(root, 'rev-parse', 'ahead')).toBe(gitIn(root, 'rev-parse', 'main'))
})

test('where git has no name for the user, the commit has ours', async () => {
  const root = scratchRepository()
  gitIn(root, 'config', '--unset', 'user.name')
  gitIn(root, 'config', '--unset', 'user.email')
  gitIn(root, 'config', 'user.useConfigOnly', 'true')
  const repository = await openRepository(root)
  const commit = await repository.commitTree(await repository.treeOf('HEAD'), 'HEAD', 'm', 'refs/almanac/a')
  expect(gitIn(root, 'log', '-1', '--format=%an <%ce>', commit)).toBe('Almanac <almanac@localhost>')
})
