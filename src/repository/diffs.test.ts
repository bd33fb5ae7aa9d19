import { chmodSync, readFileSync, rmSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
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

/** What `git write-tree` would give if the user had staged everything, in a repository that may be changed. */
function treeOfEverything(root: string): string {
  gitIn(root, 'add', '--all')
  return gitIn(root, 'write-tree')
}

describe('the diff of the working tree', () => {
  test('has what is changed, staged, deleted, new and executable, applies again, and touches nothing of the user', async () => {
    const root = scratchRepository({
      'train.py': program,
      'a b/é.py': '1\n',
      gone: '1\n',
      moved: 'some\ncontent\n',
      run: '#!\n',
    })
    write(root, {
      'train.py': program.replace('8', '12'),
      'a b/é.py': 'no end of line',
      'new/file.py': 'y\n',
      'ignored/x': 'z',
    })
    gitIn(root, 'add', 'train.py')
    write(root, { 'train.py': program.replace('8', '16') })
    rmSync(join(root, 'gone'))
    gitIn(root, 'mv', 'moved', 'away')
    chmodSync(join(root, 'run'), 0o755)
    symlinkSync('train.py', join(root, 'link'))
    write(root, { staged: 'only\n' })
    gitIn(root, 'add', 'staged')
    const before = fingerprint(root)
    const repository = await openRepository(join(root, 'a b'))
    const { diff, tree, untracked, skipped } = await repository.diffOfWorkingTree('HEAD')
    expect(fingerprint(root)).toBe(before)
    expect(diff).toContain('-DEPTH = 8\n+DEPTH = 16\n')
    expect(untracked).toEqual(['link', 'new/file.py'])
    expect(skipped).toEqual([])
    expect(await repository.treeAfter('HEAD', diff)).toBe(tree)
    expect(fingerprint(root)).toBe(before)
    expect(tree).toBe(treeOfEverything(root))
  })

  test('of a clean tree is empty and the tree is the commit’s', async () => {
    const root = scratchRepository()
    const repository = await openRepository(root)
    const diff = await repository.diffOfWorkingTree('HEAD')
    expect(diff).toEqual({ diff: '', tree: gitIn(root, 'rev-parse', 'HEAD^{tree}'), untracked: [], skipped: [] })
    expect(await repository.treeAfter('HEAD', '')).toBe(diff.tree)
  })

  test('may be against another commit than the head', async () => {
    const root = scratchRepository()
    const first = gitIn(root, 'rev-parse', 'HEAD')
    write(root, { 'train.py': program.replace('0.01', '0.02') })
    commitAll(root, 'second')
    write(root, { 'lib/model.py': 'x = 2\n' })
    const repository = await openRepository(root)
    const { diff, tree } = await repository.diffOfWorkingTree(first)
    expect(diff).toContain('+RATE = 0.02')
    expect(diff).toContain('+x = 2')
    expect(await repository.treeAfter(first, diff)).toBe(tree)
    await expect(repository.diffOfWorkingTree('nothing')).rejects.toThrow(/names no commit/)
  })

  test('leaves out what is excluded, tracked or not', async () => {
    const root = scratchRepository({ 'train.py': program, 'results.tsv': 'a\n', 'logs/kept.txt': '1\n' })
    write(root, {
      'train.py': 'x\n',
      'results.tsv': 'a\nb\n',
      'logs/kept.txt': '2\n',
      'logs/new.txt': '',
      'notes.md': '',
    })
    gitIn(root, 'add', 'logs/new.txt')
    const repository = await openRepository(root)
    const exclude = ['results.tsv', './logs/', 'notes.md', 'train']
    const { diff, untracked } = await repository.diffOfWorkingTree('HEAD', { exclude })
    expect(diff.match(/^diff --git .*$/gm)).toEqual(['diff --git a/train.py b/train.py'])
    expect(untracked).toEqual([])
  })

  test('skips untracked files that are large, binary, or lead outside, and says so', async () => {
    const root = scratchRepository()
    write(root, { 'big.txt': 'x'.repeat(2 ** 20 + 1), 'model.bin': Buffer.from([1, 0, 2]), 'small.txt': 'x' })
    symlinkSync('/etc', join(root, 'etc'))
    gitIn(root, 'init', '--quiet', 'nested')
    write(root, { 'nested/a': '1' })
    gitIn(
      join(root, 'nested'),
      '-c',
      'user.name=a',
      '-c',
      'user.email=a@b',
      'commit',
      '--quiet',
      '--allow-empty',
      '-m',
      'x',
    )
    const { untracked, skipped } = await (await openRepository(root)).diffOfWorkingTree('HEAD')
    expect(untracked).toEqual(['small.txt'])
    expect(skipped).toEqual([
      'big.txt (untracked, over 1 MB)',
      'etc (untracked, a link that leads outside)',
      'model.bin (untracked, binary)',
      'nested/ (untracked, a repository of its own)',
    ])
  })

  test('refuses a folder of thousands of untracked files with a sentence', async () => {
    const root = scratchRepository()
    write(root, Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`venv/${index}.py`, ''])))
    await expect((await openRepository(root)).diffOfWorkingTree('HEAD')).rejects.toThrow(
      /1001 untracked files .*\.gitignore/,
    )
  })

  test('leaves a submodule that has moved as the commit has it, and says so', async () => {
    const root = scratchRepository()
    const other = scratchRepository({ inner: '1\n' })
    gitIn(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'inner')
    commitAll(root, 'submodule')
    write(root, { 'inner/inner': '2\n', 'train.py': 'x\n' })
    gitIn(join(root, 'inner'), '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--all', '-m', 'x')
    const repository = await openRepository(root)
    const { diff, tree, skipped } = await repository.diffOfWorkingTree('HEAD')
    expect(skipped).toEqual(['inner (a submodule)'])
    expect(await repository.treeAfter('HEAD', diff)).toBe(tree)
    expect(diff).not.toContain('inner')
  })

  test('takes a tracked binary, and text that is not UTF-8', async () => {
    const latin = (letter: number) =>
      Buffer.concat([Buffer.from('# caf'), Buffer.from([letter]), Buffer.from('\nx = 1\n')])
    const root = scratchRepository({ 'old.py': latin(0xe9), data: Buffer.from([0, 1, 2]), 'train.py': program })
    write(root, { 'old.py': latin(0xe8), data: Buffer.from([0, 1, 3]), 'train.py': 'x\n' })
    const repository = await openRepository(root)
    const { diff, tree } = await repository.diffOfWorkingTree('HEAD')
    expect(diff).toContain('-DEPTH = 8\n')
    expect(await repository.treeAfter('HEAD', diff)).toBe(tree)
    expect(tree).toBe(treeOfEverything(root))
  })

  test('does not depend on the user’s settings', async () => {
    const root = scratchRepository()
    write(root, { 'train.py': program.replace('8', '9'), 'lib/new.py': program })
    const repository = await openRepository(root)
    const before = await repository.diffOfWorkingTree('HEAD')
    for (const [name, value] of Object.entries({
      'diff.noprefix': 'true',
      'diff.mnemonicPrefix': 'true',
      'diff.external': '/bin/false',
      'diff.context': '0',
      'diff.algorithm': 'patience',
      'diff.orderFile': 'order',
      'color.ui': 'always',
      'core.quotePath': 'true',
      'core.pager': '/bin/false',
      'diff.suppressBlankEmpty': 'true',
    })) {
      gitIn(root, 'config', name, value)
    }
    write(root, { 'ignored/.gitkeep': '' })
    expect((await repository.diffOfWorkingTree('HEAD')).diff).toBe(before.diff)
    expect(await repository.treeAfter('HEAD', before.diff)).toBe(before.tree)
  })

  test('sees a change of the same size that was made in the instant in which the index was written', async () => {
    const root = scratchRepository()
    // File systems with coarse times do by themselves what is forced here: both contents have one time, not before the
    // index's.
    gitIn(root, 'config', 'core.trustctime', 'false')
    const instant = Date.now() / 1000 + 0.3
    const writeAt = (content: string) => {
      write(root, { 'train.py': content })
      utimesSync(join(root, 'train.py'), instant, instant)
    }
    writeAt('value = 10\n')
    gitIn(root, 'add', 'train.py')
    writeAt('value = 11\n')
    // Git may look at whole seconds only.
    await new Promise(resolve => setTimeout(resolve, 1300))
    expect((await (await openRepository(root)).diffOfWorkingTree('HEAD')).diff).toContain('+value = 11\n')
  })
})

test('any change of the files becomes a diff that gives the same tree again', async () => {
  const root = scratchRepository({ a: '1\n2\n3\n', 'd/b': '1\n' })
  const repository = await openRepository(root)
  const content = fc.array(fc.constantFrom('1', '2', '', '--- a/x', '+++ b/../x', '@@ -1 +1 @@', '\t', '\\'), {
    maxLength: 6,
  })
  const files = fc.dictionary(
    fc.constantFrom('a', 'd/b', 'new', 'e f/g', '"q"'),
    fc.tuple(content, fc.boolean()).map(([lines, ended]) => lines.join('\n') + (ended ? '\n' : '')),
  )
  await fc.assert(
    fc.asyncProperty(files, async changed => {
      gitIn(root, 'clean', '--quiet', '-fd')
      gitIn(root, 'checkout', '--quiet', '--force', 'HEAD')
      write(root, changed)
      const { diff, tree } = await repository.diffOfWorkingTree('HEAD')
      expect(await repository.treeAfter('HEAD', diff)).toBe(tree)
      expect(await repository.diffBetween('HEAD', tree)).toBe(diff)
    }),
    { numRuns: 15 },
  )
})

describe('a diff that cannot be used', () => {
  const newFile = (path: string, mode = '100644', content = 'x', end = '\n') =>
    `diff --git a/${path} b/${path}\nnew file mode ${mode}\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${content}\n${
      end === '' ? '\\ No newline at end of file\n' : ''
    }`

  test.each([
    [
      'does not apply',
      '--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-DEPTH = 9\n+DEPTH = 10\n',
      /does not apply to [0-9a-f]{12}: patch failed: train\.py:1/,
    ],
    [
      'of a missing file',
      '--- a/none.py\n+++ b/none.py\n@@ -1 +1 @@\n-a\n+b\n',
      /does not apply to .*: none\.py: does not exist in index/,
    ],
    ['that is no diff', 'please make it deeper\n', /does not apply to .*: No valid patches in input/],
    [
      'that is cut off',
      '--- a/train.py\n+++ b/train.py\n@@ -1,3 +1,3 @@\n-DEPTH = 8\n',
      /does not apply to .*: corrupt patch/,
    ],
    ['with a ..', newFile('../evil'), /names the path b\/\.\.\/evil, which leaves the repository/],
    ['with a .. further down', newFile('lib/../../evil'), /which leaves the repository/],
    ['with an absolute path', '--- /dev/null\n+++ /tmp/evil\n@@ -0,0 +1 @@\n+x\n', /absolute path \/tmp\/evil/],
    ['with an absolute path after the prefix', newFile('/tmp/evil'), /does not apply|absolute/],
    [
      'renaming out',
      'diff --git a/train.py b/../t\nsimilarity index 100%\nrename from train.py\nrename to ../t\n',
      /leaves the repository/,
    ],
    ['inside .git', newFile('.git/hooks/post-checkout', '100755'), /does not apply to .*: invalid path/],
    ['inside .GIT', newFile('lib/.GIT/config'), /is git's own|invalid path/],
    [
      'a link to an absolute path',
      newFile('link', '120000', '/etc/passwd', ''),
      /link a symbolic link to \/etc\/passwd/,
    ],
    [
      'a link that climbs out',
      newFile('lib/link', '120000', '../../x', ''),
      /lib\/link a symbolic link to \.\.\/\.\.\/x, which is outside/,
    ],
    ['a link into .git', newFile('link', '120000', '.git/config', ''), /which is outside/],
    ['a submodule', newFile('sub', '160000', `Subproject commit ${'1'.repeat(40)}`), /changes the submodule sub/],
  ])('%s', async (_, diff, sentence) => {
    const root = scratchRepository()
    const before = fingerprint(root)
    const repository = await openRepository(root)
    await expect(repository.treeAfter('HEAD', diff)).rejects.toThrow(sentence)
    const path = join(scratchFolder(), 'tree')
    await expect(repository.addWorktree(path, 'HEAD', diff)).rejects.toThrow(sentence)
    expect(fingerprint(root)).toBe(before)
  })

  test('a link that stays inside, and text that looks like a header, are fine', async () => {
    const repository = await openRepository(scratchRepository())
    await repository.treeAfter('HEAD', newFile('lib/link', '120000', '../train.py', ''))
    await repository.treeAfter('HEAD', newFile('notes', '100644', '++ /etc/passwd'))
  })

  test('a file behind a symbolic link of the repository is refused', async () => {
    const outside = scratchFolder()
    const root = scratchRepository()
    symlinkSync(outside, join(root, 'out'))
    commitAll(root, 'link')
    await expect((await openRepository(root)).treeAfter('HEAD', newFile('out/evil'))).rejects.toThrow(/does not apply/)
  })

  test('a patch without its last end of line, and with a letter before it, applies', async () => {
    const root = scratchRepository()
    const diff = `Subject: deeper\n\nBecause.\n---\n--- a/train.py\n+++ b/train.py\n@@ -1,2 +1,2 @@\n-DEPTH = 8\n+DEPTH = 9\n RATE = 0.01`
    const tree = await (await openRepository(join(root, 'lib'))).treeAfter('HEAD', diff)
    expect(gitIn(root, 'show', `${tree}:train.py`)).toBe(program.replace('8', '9').trim())
  })
})

test('the diff between two commits leads from one to the other', async () => {
  const root = scratchRepository()
  write(root, { 'train.py': program.replace('8', '9'), 'lib/model.py': '' })
  commitAll(root, 'second')
  const repository = await openRepository(root)
  const diff = await repository.diffBetween('HEAD~', 'HEAD')
  expect(await repository.treeAfter('HEAD~', diff)).toBe(await repository.treeOf('HEAD'))
  expect(await repository.diffBetween('HEAD', 'HEAD')).toBe('')
  await expect(repository.diffBetween('HEAD', 'nothing')).rejects.toThrow(/names no commit/)
  expect(readFileSync(join(root, 'train.py'), 'utf8')).toContain('DEPTH = 9')
})
