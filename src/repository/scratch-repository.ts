/**
 * A small real repository in a folder of its own under the system's temporary folder, for tests.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

export function scratchFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'almanac-git-')))
  folders.push(folder)
  return folder
}

// The settings of whoever runs the tests must not decide them.
process.env['HOME'] = scratchFolder()
delete process.env['XDG_CONFIG_HOME']

export function gitIn(directory: string, ...parameters: string[]): string {
  const variables = { PATH: process.env['PATH'], HOME: process.env['HOME'], LC_ALL: 'C' }
  return execFileSync('git', parameters, { cwd: directory, encoding: 'utf8', env: variables, stdio: 'pipe' }).trim()
}

export function write(root: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
}

export const program = 'DEPTH = 8\nRATE = 0.01\n\n\ndef train():\n    return DEPTH * RATE\n\n\nprint(train())\n'

/** One commit with `train.py`, `lib/model.py` and a `.gitignore` of `ignored/`; or with other files. */
export function scratchRepository(
  files: Readonly<Record<string, string | Buffer>> = { 'train.py': program, 'lib/model.py': 'x = 1\n' },
): string {
  const root = join(scratchFolder(), 'my project')
  mkdirSync(root)
  gitIn(root, 'init', '--quiet', '--initial-branch=main')
  gitIn(root, 'config', 'user.name', 'Ada')
  gitIn(root, 'config', 'user.email', 'ada@example.org')
  write(root, { '.gitignore': 'ignored/\n', ...files })
  commitAll(root, 'begin')
  return root
}

export function commitAll(root: string, message: string): string {
  gitIn(root, 'add', '--all')
  gitIn(root, 'commit', '--quiet', '--message', message)
  return gitIn(root, 'rev-parse', 'HEAD')
}

/**
 * Everything that a user could notice: the status, the index byte by byte, all files outside `.git`, refs and
 * worktrees.
 */
export function fingerprint(root: string): string {
  const index = createHash('sha256')
    .update(readFileSync(join(root, '.git', 'index')))
    .digest('hex')
  const status = gitIn(root, '--no-optional-locks', 'status', '--porcelain', '--branch', '--ignored')
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .map(entry => [join(entry.parentPath, entry.name), entry] as const)
    .filter(([path]) => !path.startsWith(join(root, '.git')))
    .map(([path, entry]) => {
      if (entry.isDirectory()) return `${path}/`
      return entry.isSymbolicLink() ? `${path} -> ${readlinkSync(path)}` : `${path}: ${readFileSync(path, 'latin1')}`
    })
    .sort()
  const records = [
    gitIn(root, 'for-each-ref'),
    gitIn(root, 'worktree', 'list'),
    readFileSync(join(root, '.git', 'HEAD'), 'utf8'),
  ]
  return [index, status, ...files, ...records].join('\n')
}
