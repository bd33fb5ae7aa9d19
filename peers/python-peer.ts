/** A Python program that is a peer: it writes its files by its own API, in a virtual environment, and says what it reads back. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installPython } from './install.ts'

const run = promisify(execFile)

export interface PythonPeer {
  /** The peer with its version; why it is missing where it is. For the report of the tests. */
  readonly title: string
  readonly isMissing: boolean
  /** The interpreter that has the peer. */
  readonly python: string
  /** Runs a program of this folder in that interpreter, and reads the JSON value in the last line that it prints. */
  write<T>(program: string, parameters: readonly string[], variables?: NodeJS.ProcessEnv): Promise<T>
}

/** The first package is the peer itself. */
export async function pythonPeer(name: string, packages: readonly string[]): Promise<PythonPeer> {
  const { folder, obstacle } = await installPython(name, packages)
  const python = join(folder, 'bin', 'python')
  return {
    title: obstacle === null ? packages[0]! : `${name} is skipped: ${obstacle}`,
    isMissing: obstacle !== null,
    python,
    async write(program, parameters, variables = {}) {
      const { stdout } = await run(python, [join(import.meta.dirname, program), ...parameters], {
        env: { ...process.env, ...variables },
        timeout: 300_000,
        maxBuffer: 2 ** 26,
      })
      return JSON.parse(stdout.trimEnd().split('\n').at(-1)!)
    },
  }
}
