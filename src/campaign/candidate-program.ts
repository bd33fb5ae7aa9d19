/**
 * Runs a program that prints candidates, as a run is run: in a process group of its own, with a time limit, its output in
 * a folder, and ended with everything it started when the user stops.
 */
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { launch } from '../execute/launch.ts'
import { lastComplaint } from '../execute/log-lines.ts'
import { fileNames } from '../execute/run-folder.ts'
import { runVariables } from '../execute/run-variables.ts'
import { substitute } from '../execute/substitute.ts'
import { cancel, waitForExit } from '../execute/wait-for-exit.ts'
import type { CandidateRequest } from './candidates.ts'

const secondsAllowed = 600
const megabytesAllowed = 64

/** What the program printed. Throws a sentence when it fails, and the signal's reason when the user stops. */
export async function outputOfProgram(
  program: string | readonly string[],
  { directory, folder, round, seed, records, variables, pass, stop }: CandidateRequest,
): Promise<string> {
  stop.throwIfAborted()
  await clear(folder)
  const values = { round: String(round), seed: String(seed), records, root: directory, node: process.execPath }
  await launch({
    folder,
    command: typeof program === 'string' ? substitute(program, values) : substitute(program, values),
    workingDirectory: directory,
    variables: runVariables({ inherit: variables, pass, slot: 0 }),
    seconds: secondsAllowed,
    memoryMegabytes: null,
    logMegabytes: megabytesAllowed,
  })
  const end = () => cancel(folder)
  stop.addEventListener('abort', end)
  const exit = await waitForExit(folder).finally(() => stop.removeEventListener('abort', end))
  stop.throwIfAborted()
  const complaint = lastComplaint(join(folder, fileNames.stderr))
  if (exit === 'lost' || exit.kind !== 'exited' || exit.exitCode !== 0) {
    const how =
      exit === 'lost' ? 'was lost' : (exit.reason ?? `ended with ${exit.signal ?? `exit code ${exit.exitCode}`}`)
    throw new Error(
      `candidates: the program ${how}${complaint ? `: ${complaint.slice(-300)}` : ''}; its output is in ${folder}.`,
    )
  }
  const output = join(folder, fileNames.stdout)
  if (statSync(output).size >= megabytesAllowed * 2 ** 20)
    throw new Error(`candidates: the program printed more than ${megabytesAllowed} MB; let it print fewer.`)
  return readFile(output, 'utf8')
}

/** An empty folder: what an earlier attempt at this round left is ended and removed. */
async function clear(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  cancel(folder)
  await waitForExit(folder)
  rmSync(folder, { recursive: true })
  mkdirSync(folder)
}
