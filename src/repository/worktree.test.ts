import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { linkInto } from './link-into.ts'
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

const deeper = '--- a/train.py\n+++ b/train.py\n@@ -1,2 +1,2 @@\n-DEPTH = 8\n+DEPTH = 9\n RATE = 0.01\n'

/** Names of git's records of worktrees. */
const records = (root: string) => gitIn(root, 'worktree', 'list', '--porcelain').match(/^worktree /gm)!.length

describe('a worktree', () => {
  test('is detached at the commit, has the tree of the diff in its index and files, and goes without a trace', async () => {
    const root = scratchRepository()
    write(root, { 'train.py': 'dirty\n', 'results.tsv': 'kept\n' })
    const before = fingerprint(root)
    const repository = await openRepository(join(root, 'lib'))
    const path = join(scratchFolder(), 'deep', 'er', 'tree')
    await repository.addWorktree(path, 'HEAD', deeper)
    expect(readFileSync(join(path, 'train.py'), 'utf8')).toBe(program.replace('8', '9'))
    expect(existsSync(join(path, 'results.tsv'))).toBe(false)
    expect(gitIn(path, 'write-tree')).toBe(await repository.treeAfter('HEAD', deeper))
    expect(gitIn(path, 'diff', '--name-only')).toBe('')
    expect(gitIn(path, 'rev-parse', 'HEAD')).toBe(gitIn(root, 'rev-parse', 'HEAD'))
    expect(() => gitIn(path, 'symbolic-ref', 'HEAD')).toThrow()
    // What a run leaves behind goes too.
    write(path, { '__pycache__/x.pyc': 'x', 'train.py': 'changed' })
    await repository.removeWorktree(path)
    expect(existsSync(path)).toBe(false)
    expect(fingerprint(root)).toBe(before)
    await repository.removeWorktree(path)
  })

  test('without a diff has the commit’s tree; a detached head will do', async () => {
    const root = scratchRepository()
    gitIn(root, 'checkout', '--quiet', '--detach')
    const repository = await openRepository(root)
    const path = join(scratchFolder(), 'tree')
    await repository.addWorktree(path, await repository.head(), null)
    expect(gitIn(path, 'status', '--porcelain')).toBe('')
    await expect(repository.addWorktree(path, 'HEAD', null)).rejects.toThrow(/exists already/)
    expect(existsSync(join(path, 'train.py'))).toBe(true)
    await expect(repository.addWorktree(join(path, '..', 'other'), 'nothing', null)).rejects.toThrow(/names no commit/)
  })

  test('of a repository with submodules leaves them empty, and goes', async () => {
    const root = scratchRepository()
    gitIn(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', scratchRepository(), 'inner')
    commitAll(root, 'submodule')
    gitIn(root, 'config', 'submodule.recurse', 'true')
    const repository = await openRepository(root)
    const path = join(scratchFolder(), 'tree')
    await repository.addWorktree(path, 'HEAD', deeper)
    expect(gitIn(path, 'ls-files', 'inner')).toBe('inner')
    expect(existsSync(join(path, 'inner', 'train.py'))).toBe(false)
    await repository.removeWorktree(path)
    expect(records(root)).toBe(1)
  })

  test('runs no hooks and no monitor of the repository', async () => {
    const root = scratchRepository()
    const mark = join(scratchFolder(), 'ran')
    const hook = `#!/bin/sh\necho $0 >> '${mark}'\n`
    for (const name of ['post-checkout', 'post-index-change', 'reference-transaction', 'fsmonitor']) {
      const path = join(root, '.git', 'hooks', name)
      writeFileSync(path, hook)
      chmodSync(path, 0o755)
    }
    gitIn(root, 'config', 'core.fsmonitor', '.git/hooks/fsmonitor')
    write(root, { 'train.py': 'x\n' })
    rmSync(mark, { force: true })
    const repository = await openRepository(root)
    await repository.state()
    const { tree } = await repository.diffOfWorkingTree('HEAD')
    const path = join(scratchFolder(), 'tree')
    await repository.addWorktree(path, 'HEAD', deeper)
    await repository.commitTree(tree, await repository.head(), 'm', 'refs/heads/x')
    await repository.removeWorktree(path)
    expect(existsSync(mark)).toBe(false)
  })

  test('that is half gone can be removed and made again', async () => {
    const root = scratchRepository()
    const repository = await openRepository(root)
    const path = join(scratchFolder(), 'tree')
    const damages = [
      () => rmSync(path, { recursive: true }),
      () => rmSync(join(path, '.git')),
      () => writeFileSync(join(path, '.git'), 'garbage'),
      () => rmSync(join(root, '.git', 'worktrees'), { recursive: true }),
      () => gitIn(root, 'worktree', 'lock', path),
    ]
    for (const damage of damages) {
      await repository.addWorktree(path, 'HEAD', deeper)
      damage()
      await repository.removeWorktree(path)
      expect(existsSync(path)).toBe(false)
      expect(records(root)).toBe(1)
    }
    await repository.addWorktree(path, 'HEAD', deeper)
    rmSync(path, { recursive: true })
    await repository.addWorktree(path, 'HEAD', null)
    expect(records(root)).toBe(2)
    expect(readFileSync(join(path, 'train.py'), 'utf8')).toBe(program)
  })

  test('is removed only where it is one', async () => {
    const root = scratchRepository()
    const repository = await openRepository(root)
    const folder = scratchFolder()
    write(folder, { precious: 'x' })
    const other = scratchRepository()
    gitIn(other, 'worktree', 'add', '--quiet', '--detach', join(folder, 'theirs'))
    for (const path of [folder, join(folder, 'precious'), join(folder, 'theirs'), other]) {
      await expect(repository.removeWorktree(path)).rejects.toThrow(/is no worktree of/)
    }
    for (const path of [root, join(root, '..')]) {
      await expect(repository.removeWorktree(path)).rejects.toThrow(/holds the repository itself/)
    }
    expect(existsSync(join(folder, 'precious'))).toBe(true)
    expect(existsSync(join(root, 'train.py'))).toBe(true)
  })

  test('may be made and removed by several processes at once', async () => {
    const root = scratchRepository()
    const folder = scratchFolder()
    const program = `
      import { openRepository } from ${JSON.stringify(join(import.meta.dirname, 'repository.ts'))}
      const [root, folder, diff] = process.argv.slice(1)
      const repository = await openRepository(root)
      const round = async index => {
        const path = folder + '/' + process.pid + '-' + index
        await repository.addWorktree(path, 'HEAD', diff)
        await repository.removeWorktree(path)
      }
      for (let index = 0; index < 12; index += 3) await Promise.all([0, 1, 2].map(next => round(index + next)))`
    const codes = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const child = spawn(process.execPath, ['--input-type=module', '-e', program, root, folder, deeper], {
          stdio: 'inherit',
        })
        return (await once(child, 'exit'))[0]
      }),
    )
    expect(codes).toEqual([0, 0, 0, 0])
    expect(records(root)).toBe(1)
    expect(gitIn(root, 'worktree', 'prune', '--dry-run', '--verbose')).toBe('')
  })
})

describe('linking into a worktree', () => {
  async function worktree() {
    const root = scratchRepository({ 'train.py': program, 'data/.gitkeep': '', 'assets/a': '1\n' })
    write(root, { 'data/train.bin': 'tokens', '.venv/bin/python': '', 'deep/down/file': 'x' })
    const path = join(scratchFolder(), 'tree')
    const repository = await openRepository(root)
    await repository.addWorktree(path, 'HEAD', null)
    return { root, path, repository }
  }

  test('brings files and folders, makes what is above them, and may be done twice', async () => {
    const { root, path, repository } = await worktree()
    const elsewhere = scratchFolder()
    symlinkSync(elsewhere, join(root, 'big'))
    const paths = ['data/train.bin', '.venv/', './deep/down/file', 'big']
    await linkInto(path, root, paths)
    await linkInto(path, root, paths)
    expect(readFileSync(join(path, 'data', 'train.bin'), 'utf8')).toBe('tokens')
    expect(readlinkSync(join(path, '.venv'))).toBe(join(root, '.venv'))
    expect(existsSync(join(path, 'deep', 'down', 'file'))).toBe(true)
    // The links go with the worktree, and what they lead to stays.
    await repository.removeWorktree(path)
    expect(existsSync(join(root, '.venv', 'bin', 'python'))).toBe(true)
    expect(existsSync(elsewhere)).toBe(true)
  })

  test('refuses what leaves the root, is missing, or is there already', async () => {
    const { root, path } = await worktree()
    mkdirSync(join(path, 'deep'))
    symlinkSync(scratchFolder(), join(root, 'door'))
    write(root, { 'door/room': '' })
    for (const [place, sentence] of [
      ['../x', /has a "\.\."/],
      ['..', /name a file or folder below/],
      ['.', /name a file or folder below/],
      ['/etc', /is absolute|name a file/],
      ['/etc/passwd', /is absolute/],
      ['door/room', /leaves .* through a symbolic link/],
      ['.git/config', /name a file or folder below/],
      ['nothing', /there is no .*nothing/],
      ['train.py', /git carries it/],
      ['data', /git carries it, or files in it/],
      ['assets/', /git carries it, or files in it/],
      ['deep', /deep exists already/],
    ] as const) {
      await expect(linkInto(path, root, [place])).rejects.toThrow(sentence)
    }
    expect(gitIn(path, 'status', '--porcelain')).toBe('')
  })
})
