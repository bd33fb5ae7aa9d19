/**
 * A run in a folder of its own under the system's temporary folder, for tests.
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { type Launch, launch } from './launch.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

export function scratchFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'almanac-run-')))
  folders.push(folder)
  return folder
}

export function scratchLaunch(command: Launch['command'], rest: Partial<Launch> = {}): Launch {
  const folder = rest.folder ?? scratchFolder()
  const variables = { PATH: process.env['PATH'] ?? '' }
  return { folder, command, workingDirectory: folder, variables, seconds: 60, memoryMegabytes: null, ...rest }
}

/** Launches it and returns its folder. */
export async function startScratchRun(command: Launch['command'], rest: Partial<Launch> = {}): Promise<string> {
  const description = scratchLaunch(command, rest)
  await launch(description)
  return description.folder
}

export function outputOf(folder: string): string {
  return readFileSync(join(folder, 'stdout.log'), 'utf8')
}

/** Looks until the answer is there; throws after a minute. */
export async function eventually<Answer>(look: () => Answer | null | undefined | false): Promise<Answer> {
  for (const until = performance.now() + 60_000; performance.now() < until; ) {
    const answer = look()
    if (answer) return answer
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  throw new Error('it did not happen within a minute')
}
