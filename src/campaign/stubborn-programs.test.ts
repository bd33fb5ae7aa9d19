/**
 * Programs that ignore SIGTERM, and what they started: ended all the same. Most of the time here is the grace that they are given,
 * so they are given it together.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { campaignStart } from '../operations/campaign-start.ts'
import { inProcess } from '../operations/in-process.ts'
import { run } from '../operations/run.ts'
import type { EnvironmentInput } from './environment-file.ts'
import { startsOf, toyEnvironment } from './toy-environment.ts'

test.concurrent('a candidate program that hangs is ended with all it started when the user stops', async ({
  onTestFinished,
}) => {
  const program = "trap '' TERM; echo $$ > pid; sleep 61 & sleep 61"
  const folder = toyEnvironment({ seeds: 1, referenceSeeds: 1, candidates: { program } })
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const stop = new AbortController()
  const running = campaignStart.run({ forecaster: 'constant' }, inProcess(folder, { stop: stop.signal }))
  const pid = await writtenNumber(join(folder, 'pid'))
  stop.abort()
  const { state, runs } = await running
  expect({ state, runs }).toEqual({ state: 'stopped', runs: 0 })
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  expect(startsOf(folder)).toEqual([])
})

test.concurrent('a run that prints megabytes and forks is ended at its time limit, its output bounded', async ({
  onTestFinished,
}) => {
  const environment: Partial<EnvironmentInput> = {
    seeds: 1,
    referenceSeeds: 1,
    budget: { seconds: 1.5 },
    constraints: [],
    metrics: [{ name: 'loss', direction: 'minimize', pattern: '^loss: (\\S+)' }],
    command: `trap '' TERM; echo {config}; (trap '' TERM; sleep 62) & head -c 200000000 /dev/zero | tr '\\0' 'x'; sleep 62`,
  }
  const folder = toyEnvironment(environment)
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const error = await run.run({ message: 'x', history: 'pooled', set: ['rate=2'] }, inProcess(folder)).then(
    () => null,
    error => error as Error,
  )
  expect(error!.message).toMatch(/timed-out: .*1\.5 s/)
  const [, log] = /Its output is in (.*)\.$/.exec(error!.message)!
  expect(statSync(join(log!, 'stdout.log')).size).toBeLessThanOrEqual(65 * 2 ** 20)
  expect(() => execFileSync('pgrep', ['-f', '^sleep 62$'])).toThrow()
})

async function writtenNumber(path: string): Promise<number> {
  for (const until = performance.now() + 60_000; performance.now() < until; ) {
    try {
      const number = Number(readFileSync(path, 'utf8'))
      if (number > 0) return number
    } catch {}
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  throw new Error(`nothing was written to ${path} within a minute`)
}
