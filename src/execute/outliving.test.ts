import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, describe as groupAfterGroup, test as oneByOne } from 'vitest'
import type { Exit } from './exit.ts'
import { abandon, inspect } from './inspect.ts'
import type { Launch } from './launch.ts'
import { identityOf } from './process-table.ts'
import { eventually, outputOf, scratchFolder, scratchLaunch, startScratchRun } from './scratch-run.ts'
import { cancel, waitForExit } from './wait-for-exit.ts'

// Nearly all of their time is waiting for processes, and each has folders of its own.
const test = oneByOne.concurrent
const describe = groupAfterGroup.concurrent

/** Launches from a process that is killed then, or after so many milliseconds of launching. */
async function launchAndDie(launch: Launch, milliseconds?: number): Promise<void> {
  const program = join(import.meta.dirname, 'fixtures', 'launch-and-die.ts')
  const rest = milliseconds === undefined ? [] : [String(milliseconds)]
  const child = spawn(process.execPath, [program, JSON.stringify(launch), ...rest], {
    stdio: 'inherit',
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'almanac-test-compile-cache') },
  })
  const [, signal] = await once(child, 'exit')
  // With the time given, it may have ended by itself before.
  if (milliseconds === undefined) expect(signal).toBe('SIGKILL')
}

const jsonIn = (folder: string, name: string) =>
  eventually(() => {
    const path = join(folder, name)
    return existsSync(path) && JSON.parse(readFileSync(path, 'utf8'))
  })

describe('when the launcher is killed', () => {
  test('right after the launch, the run goes on and whoever comes later reads its exit', async () => {
    const launch = scratchLaunch('sleep 0.7; echo done')
    await launchAndDie(launch)
    expect(await waitForExit(launch.folder)).toMatchObject({ kind: 'exited', exitCode: 0 })
    expect(outputOf(launch.folder)).toBe('done\n')
  })

  test('a running run is adopted: it can be waited for, cancelled and held to its time', async () => {
    const limited = scratchLaunch('sleep 100', { seconds: 0.5 })
    const cancelled = scratchLaunch('sleep 100')
    await Promise.all([launchAndDie(limited), launchAndDie(cancelled)])
    await jsonIn(cancelled.folder, 'command.json')
    expect(await inspect(cancelled.folder)).toMatchObject({ state: 'running' })
    cancel(cancelled.folder)
    expect(await waitForExit(cancelled.folder)).toMatchObject({ kind: 'cancelled' })
    expect(await waitForExit(limited.folder)).toMatchObject({ kind: 'timed-out' })
  })

  test('at any moment of launching, the run either never begins or runs once to its end', async () => {
    const attempt = async (milliseconds: number, thought: number) => {
      const launch = scratchLaunch('echo ran >> marks')
      await launchAndDie(launch, milliseconds)
      await new Promise(resolve => setTimeout(resolve, thought))
      // Whoever resumes does this: what has not begun must not begin any more.
      const abandoned = abandon(launch.folder)
      const exit = await waitForExit(launch.folder)
      if (abandoned) await new Promise(resolve => setTimeout(resolve, 300))
      const marks = join(launch.folder, 'marks')
      const times = existsSync(marks) ? readFileSync(marks, 'utf8').split('\n').length - 1 : 0
      expect(times).toBe(abandoned ? 0 : 1)
      if (!abandoned) expect(exit).toMatchObject({ kind: 'exited', exitCode: 0 })
      return abandoned
    }
    const abandoned: boolean[] = []
    for (let moment = 0; moment < 14; moment += 3) {
      abandoned.push(...(await Promise.all([attempt(moment, 0), attempt(moment + 4, 1000)])))
    }
    expect(new Set(abandoned)).toEqual(new Set([true, false]))
  })
})

describe('when the wrapper is killed', () => {
  test('the run is lost, and its whole command is ended, also what ignores SIGTERM', async () => {
    const folder = scratchFolder()
    writeFileSync(join(folder, 'ids'), '')
    const stubborn = `sh -c 'trap "" TERM; echo $$ >> ids; while :; do sleep 0.05; done'`
    await startScratchRun(`${stubborn} & ${stubborn}`, { folder, graceSeconds: 0.2 })
    const ids = await eventually(() => {
      const lines = readFileSync(join(folder, 'ids'), 'utf8').split('\n').slice(0, -1)
      return lines.length === 2 && lines.map(Number)
    })
    const { wrapper } = await jsonIn(folder, 'process.json')
    process.kill(wrapper.pid, 'SIGKILL')
    expect(await waitForExit(folder)).toBe('lost')
    expect(ids.every(pid => identityOf(pid) === null)).toBe(true)
    expect(await inspect(folder)).toEqual({ state: 'lost' })
    cancel(folder)
    expect(await inspect(folder)).toEqual({ state: 'lost' })
  })

  test('at any moment, nothing of the run is left that nobody knows', async () => {
    const attempt = async (milliseconds: number) => {
      const folder = await startScratchRun('echo $$ > id; exec sleep 100', { graceSeconds: 0.2 })
      const { wrapper } = await jsonIn(folder, 'process.json')
      await new Promise(resolve => setTimeout(resolve, milliseconds))
      process.kill(wrapper.pid, 'SIGKILL')
      expect(await waitForExit(folder)).toBe('lost')
      const id = join(folder, 'id')
      const pid = existsSync(id) ? Number(readFileSync(id, 'utf8')) : null
      if (pid !== null) expect(identityOf(pid)).toBe(null)
      return pid
    }
    for (const milliseconds of [0, 0, 1, 2, 3, 4, 6, 8, 10, 15, 30, 60]) await attempt(milliseconds)
  })
})

describe('abandoning and starting race', () => {
  test('and exactly one of them wins, every time', async () => {
    const outcomes = { abandoned: 0, ran: 0 }
    const attempt = async (milliseconds: number) => {
      const folder = await startScratchRun('echo ran')
      await new Promise(resolve => setTimeout(resolve, milliseconds))
      const abandoned = abandon(folder)
      const exit = await waitForExit(folder)
      if (abandoned) {
        expect(exit).toBe('lost')
        // Longer than any wrapper takes to notice.
        await new Promise(resolve => setTimeout(resolve, 500))
        expect(existsSync(join(folder, 'stdout.log'))).toBe(false)
        expect(await inspect(folder)).toEqual({ state: 'lost' })
      } else {
        expect((exit as Exit).kind).toBe('exited')
        expect(outputOf(folder)).toBe('ran\n')
      }
      outcomes[abandoned ? 'abandoned' : 'ran']++
    }
    for (let round = 0; round < 4; round++) {
      await Promise.all([20, 35, 50, 70, 90, 120].map(milliseconds => attempt(milliseconds + 4 * round)))
    }
    await attempt(0)
    await attempt(2000)
    expect(outcomes.abandoned).toBeGreaterThan(0)
    expect(outcomes.ran).toBeGreaterThan(0)
    expect(outcomes.abandoned + outcomes.ran).toBe(26)
  })

  test('a folder in which nothing was launched is unstarted, and abandoning it keeps it so for ever', async () => {
    const folder = scratchFolder()
    expect(await inspect(folder)).toEqual({ state: 'unstarted' })
    expect(abandon(folder)).toBe(true)
    expect(abandon(folder)).toBe(false)
    await startScratchRun('echo never', { folder })
    expect(await waitForExit(folder)).toBe('lost')
  })
})

test('a process with the same id but another start time is not taken for the wrapper', async () => {
  const folder = await startScratchRun('sleep 100')
  const { wrapper } = await jsonIn(folder, 'process.json')
  const other = scratchFolder()
  writeFileSync(join(other, 'process.json'), JSON.stringify({ wrapper: { ...wrapper, startTime: 'another boot/1' } }))
  writeFileSync(join(other, 'command.json'), JSON.stringify({ pid: wrapper.pid, startTime: 'another boot/2' }))
  expect(await inspect(other)).toEqual({ state: 'lost' })
  cancel(other)
  expect(await inspect(folder)).toMatchObject({ state: 'running' })
  cancel(folder)
  await waitForExit(folder)
})

test('a damaged exit gets a sentence', async () => {
  const folder = scratchFolder()
  writeFileSync(join(folder, 'exit.json'), '{"kind":')
  await expect(inspect(folder)).rejects.toThrow(/exit\.json is damaged: it is not JSON/)
})
