/** For tests: the command line as a user calls it, by the program that stands on the path, in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../bin/almanac', import.meta.url))

/** Variables for other programs of ours: like that one, they keep their source without its types for the next start. */
export const quickStart: NodeJS.ProcessEnv = {
  ...process.env,
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/almanac', import.meta.url)),
}

export interface Called {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly output: string
  readonly errors: string
}

/** Starts `almanac` with these arguments in a folder. `told` is what it wrote to standard error so far. */
export function startAlmanac(
  folder: string,
  ...parameters: string[]
): { process: ChildProcess; ended: Promise<Called>; told: () => string } {
  const child = spawn(program, parameters, {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', text => (output += text))
  child.stderr.setEncoding('utf8').on('data', text => (errors += text))
  const { promise, resolve, reject } = Promise.withResolvers<Called>()
  child.on('error', reject).on('close', (code, signal) => resolve({ code, signal, output, errors }))
  return { process: child, ended: promise, told: () => errors }
}

/** Runs `almanac` to its end. */
export function almanac(folder: string, ...parameters: string[]): Promise<Called> {
  return startAlmanac(folder, ...parameters).ended
}

/** The same with `--json`, its output parsed. Throws with what it said when it fails. */
export async function almanacJson<T>(folder: string, ...parameters: string[]): Promise<T> {
  const { code, output, errors } = await almanac(folder, ...parameters, '--json')
  if (code !== 0) throw new Error(`almanac ${parameters.join(' ')} ended with ${code}: ${errors}`)
  return JSON.parse(output) as T
}
