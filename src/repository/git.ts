/**
 * Runs git, without a shell, the same way whatever the caller's environment and the user's settings: no hooks, no
 * file-system monitor, no pager, no prompts, no locks for convenience, English messages.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'

export interface GitOptions {
  readonly input?: string
  /** A file to use instead of the user's index. */
  readonly index?: string
  readonly variables?: Readonly<Record<string, string>>
}

export interface GitResult {
  readonly code: number
  readonly stdout: Buffer
  readonly stderr: string
}

/** Repositories may come from strangers: what they configure is not run where git lets us choose. */
const settings = [
  'core.quotePath=off',
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.safecrlf=false',
  'core.untrackedCache=keep',
  'submodule.recurse=false',
  'diff.suppressBlankEmpty=false',
  'advice.detachedHead=false',
  'gc.auto=0',
].flatMap(setting => ['-c', setting])

/**
 * For reading what a stranger wrote: git fetches nothing, also where the repository's settings name a server for the
 * objects that it lacks, or a program that would get them. No setting can allow what this variable does not.
 */
export const offline = { GIT_ALLOW_PROTOCOL: 'none', GIT_NO_LAZY_FETCH: '1' }

/** For those who write to it and read from it as it goes. */
export function startGit(
  directory: string,
  parameters: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): ChildProcessWithoutNullStreams {
  return spawn('git', ['--no-pager', ...settings, ...parameters], {
    cwd: directory,
    env: { ...gitVariables(), ...variables },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

/** Whatever git answers. Throws only when git cannot be started. */
export async function runGit(
  directory: string,
  parameters: readonly string[],
  { input = '', index, variables = {} }: GitOptions = {},
): Promise<GitResult> {
  const child = startGit(
    directory,
    parameters,
    index === undefined ? variables : { GIT_INDEX_FILE: index, ...variables },
  )
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout.on('data', (piece: Buffer) => stdout.push(piece))
  child.stderr.on('data', (piece: Buffer) => stderr.push(piece))
  // When git stops reading early, its exit says why.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', error => reject(startError(directory, error)))
    child.on('close', exitCode => resolve(exitCode ?? 128))
  })
  return { code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString('utf8').trim() }
}

/** Its output without the last line's end. Throws a sentence with git's own words when it fails. */
export async function git(directory: string, parameters: readonly string[], options?: GitOptions): Promise<string> {
  const { code, stdout, stderr } = await runGit(directory, parameters, options)
  if (code !== 0) throw new Error(`git ${parameters[0]} failed in ${directory}: ${wordsOf(stderr) || `code ${code}`}`)
  return stdout.toString('utf8').replace(/\n$/, '')
}

/** The fields of an output that was asked for with `-z`. */
export function fieldsOf(output: string): string[] {
  return output.split('\0').filter(field => field !== '')
}

/** Git's complaint in one line, without its `error:` and `fatal:`. */
export function wordsOf(stderr: string): string {
  const lines = stderr.split('\n').map(line => line.replace(/^(error|fatal|warning): /, '').trim())
  return lines
    .filter(line => line !== '')
    .slice(0, 4)
    .join('; ')
}

/**
 * A caller may itself run inside git (a hook, a rebase): its GIT_* variables would send us to another repository or
 * index.
 */
function gitVariables(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))
  return { ...Object.fromEntries(inherited), GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' }
}

export function startError(directory: string, error: Error): Error {
  const reason = existsSync(directory)
    ? 'git cannot be started: install git, or add it to PATH'
    : `the directory ${directory} does not exist`
  return new Error(reason, { cause: error })
}
