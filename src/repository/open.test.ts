import { mkdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openRepository } from './repository.ts'
import { commitAll, fingerprint, gitIn, scratchFolder, scratchRepository, write } from './scratch-repository.ts'

describe('opening', () => {
  test('finds the root, and the directory in it', async () => {
    const root = scratchRepository()
    expect(await openRepository(root)).toMatchObject({ root, prefix: '' })
    expect(await openRepository(join(root, 'lib'))).toMatchObject({ root, prefix: 'lib' })
  })

  test('what is no repository with a working tree gets a sentence', async () => {
    const folder = scratchFolder()
    await expect(openRepository(folder)).rejects.toThrow(`${folder} is not in a git repository`)
    await expect(openRepository(join(folder, 'missing'))).rejects.toThrow(/does not exist/)
    gitIn(folder, 'init', '--quiet', '--bare', 'bare.git')
    await expect(openRepository(join(folder, 'bare.git'))).rejects.toThrow(/is a bare repository/)
    await expect(openRepository(join(scratchRepository(), '.git'))).rejects.toThrow(/inside git's own folder/)
  })

  test('without git gets a sentence', async () => {
    const path = process.env['PATH']
    process.env['PATH'] = scratchFolder()
    try {
      await expect(openRepository(scratchFolder())).rejects.toThrow(/install git/)
    } finally {
      process.env['PATH'] = path
    }
  })

  test('is not led elsewhere by the variables of a git that called us', async () => {
    const root = scratchRepository()
    const other = scratchRepository({ a: '1' })
    process.env['GIT_DIR'] = join(other, '.git')
    process.env['GIT_INDEX_FILE'] = join(other, '.git', 'index')
    try {
      const repository = await openRepository(root)
      expect(repository.root).toBe(root)
      expect(await repository.head()).toBe(gitIn(root, 'rev-parse', 'HEAD'))
    } finally {
      delete process.env['GIT_DIR']
      delete process.env['GIT_INDEX_FILE']
    }
  })

  test('a repository without a commit has no head', async () => {
    const root = join(scratchFolder(), 'new')
    mkdirSync(root)
    gitIn(root, 'init', '--quiet', '--initial-branch=main')
    const repository = await openRepository(root)
    await expect(repository.head()).rejects.toThrow(/has no commit yet/)
    expect(await repository.resolveCommit('HEAD')).toBe(null)
    write(root, { a: '' })
    expect(await repository.state()).toMatchObject({ branch: 'main', head: null, dirty: [], untracked: ['a'] })
  })
})

describe('revisions', () => {
  test('are resolved to commits, and to nothing when they name none', async () => {
    const root = scratchRepository()
    const first = gitIn(root, 'rev-parse', 'HEAD')
    write(root, { 'train.py': 'changed\n' })
    const second = commitAll(root, 'second: "é" | x')
    gitIn(root, 'tag', '--annotate', '--message', 'm', 'v1')
    const repository = await openRepository(root)
    expect(await repository.head()).toBe(second)
    for (const revision of ['main', 'v1', second.slice(0, 9), 'HEAD~0']) {
      expect(await repository.resolveCommit(revision)).toBe(second)
    }
    const bad = ['', 'nothing', '--all', '-h', 'HEAD:train.py', 'HEAD~9', 'deadbeef', 'a b', 'main\n']
    for (const revision of bad) expect(await repository.resolveCommit(revision)).toBe(null)
    expect(await repository.treeOf(first)).toBe(gitIn(root, 'rev-parse', `${first}^{tree}`))
    await expect(repository.treeOf('nothing')).rejects.toThrow(/nothing names no commit/)
    const info = await repository.commitInfo('main')
    expect(info).toMatchObject({ commit: second, parent: first, subject: 'second: "é" | x' })
    expect(Math.abs(Date.parse(info!.date) - Date.now())).toBeLessThan(3_600_000)
    expect(await repository.commitInfo(first)).toMatchObject({ parent: null, subject: 'begin' })
    expect(await repository.commitInfo('nothing')).toBe(null)
  })
})

describe('the state', () => {
  test('of a clean tree is empty, and looking leaves the index as it is', async () => {
    const root = scratchRepository()
    // A file with a new time and its old content makes `git status` rewrite the index, unless it is asked not to.
    utimesSync(join(root, 'train.py'), 1e9, 1e9)
    const before = fingerprint(root)
    const repository = await openRepository(join(root, 'lib'))
    expect(await repository.state()).toEqual({
      branch: 'main',
      head: gitIn(root, 'rev-parse', 'HEAD'),
      dirty: [],
      untracked: [],
      unmerged: [],
      submodules: [],
    })
    expect(fingerprint(root)).toBe(before)
  })

  test('names what is dirty, staged, untracked, and a detached head', async () => {
    const root = scratchRepository({ 'a file': '1\n', b: '2\n', c: '3\n' })
    write(root, { 'a file': 'x', b: 'x', 'new file': '', 'folder/x': '', 'ignored/y': '' })
    gitIn(root, 'add', 'b')
    gitIn(root, 'mv', 'c', 'd')
    gitIn(root, 'checkout', '--quiet', '--detach')
    expect(await (await openRepository(root)).state()).toMatchObject({
      branch: null,
      dirty: ['a file', 'b', 'c', 'd'],
      untracked: ['folder/', 'new file'],
    })
  })

  test('names submodules and unmerged files', async () => {
    const root = scratchRepository({ a: '1\n' })
    const other = scratchRepository({ inner: '1\n' })
    gitIn(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'parts/inner')
    commitAll(root, 'submodule')
    gitIn(root, 'checkout', '--quiet', '-b', 'side')
    write(root, { a: 'side\n' })
    commitAll(root, 'side')
    gitIn(root, 'checkout', '--quiet', 'main')
    write(root, { a: 'main\n' })
    commitAll(root, 'main')
    expect(() => gitIn(root, 'merge', 'side')).toThrow()
    const repository = await openRepository(root)
    expect(await repository.state()).toMatchObject({ unmerged: ['a'], dirty: ['a'], submodules: ['parts/inner'] })
    await expect(repository.diffOfWorkingTree('HEAD')).rejects.toThrow(/merge is not finished: resolve a first/)
  })
})
