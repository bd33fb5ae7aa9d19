import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inspect } from './inspect.ts'
import { identityOf, isAlive } from './process-table.ts'
import { eventually, outputOf, scratchFolder, startScratchRun } from './scratch-run.ts'
import { cancel, waitForExit } from './wait-for-exit.ts'

async function exitOf(...parameters: Parameters<typeof startScratchRun>) {
  const folder = await startScratchRun(...parameters)
  const exit = await waitForExit(folder)
  if (exit === 'lost') throw new Error(`the run in ${folder} was lost`)
  return { folder, exit }
}

/** The process ids that a program wrote, one a line, once there are so many. */
const idsIn = (path: string, count: number) =>
  eventually(() => {
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
    return lines.length >= count ? lines.map(Number) : null
  })

const gone = (pids: readonly number[]) => pids.every(pid => identityOf(pid) === null)

describe('a command', () => {
  test('goes to a shell as a string, and is spawned as it is as a list', async () => {
    const [shell, list] = await Promise.all([
      exitOf('echo "$((1 + 2))" $0; echo oops >&2'),
      exitOf(['printf', '%s|', 'a b', '$((1 + 2))', '"']),
    ])
    expect(outputOf(shell.folder)).toBe('3 /bin/sh\n')
    expect(readFileSync(join(shell.folder, 'stderr.log'), 'utf8')).toBe('oops\n')
    expect(outputOf(list.folder)).toBe('a b|$((1 + 2))|"|')
    expect(shell.exit).toMatchObject({ kind: 'exited', exitCode: 0, signal: null, reason: null })
  })

  test('is timed, and its exit code or signal is kept', async () => {
    const [code, signal] = await Promise.all([exitOf('sleep 0.3; exit 7'), exitOf('kill -SEGV $$')])
    expect(code.exit).toMatchObject({ kind: 'exited', exitCode: 7, signal: null })
    expect(code.exit.seconds).toBeGreaterThanOrEqual(0.3)
    expect(code.exit.seconds).toBeLessThan(20)
    expect(Date.parse(code.exit.finishedAt) - Date.parse(code.exit.startedAt)).toBeCloseTo(code.exit.seconds * 1000, -2)
    expect(signal.exit).toMatchObject({ kind: 'exited', exitCode: null, signal: 'SIGSEGV' })
  })

  test('sees its own variables only, in its own directory, without standard input or stray descriptors', async () => {
    const workingDirectory = join(scratchFolder(), 'with space')
    mkdirSync(workingDirectory)
    process.env['ALMANAC_TEST_SECRET'] = 'hidden'
    const { folder } = await exitOf('env; pwd; cat; ls /dev/fd/3 2>/dev/null || echo closed', {
      workingDirectory,
      variables: { PATH: process.env['PATH']!, TOKEN: 's3cret', QUOTED: 'a"b\nc' },
    })
    const lines = outputOf(folder).split('\n')
    const names = lines.filter(line => line.includes('=')).map(line => line.split('=')[0])
    // A shell brings the last three.
    expect(names.filter(name => !['PWD', 'SHLVL', '_'].includes(name!)).sort()).toEqual(['PATH', 'QUOTED', 'TOKEN'])
    expect(lines).toContain('QUOTED=a"b')
    expect(lines.slice(-3)).toEqual([workingDirectory, 'closed', ''])
    expect(readFileSync(join(folder, 'launch.json'), 'utf8')).not.toContain('s3cret')
  })

  test('runs once in its folder', async () => {
    const { folder } = await exitOf('echo once')
    await expect(startScratchRun('echo twice', { folder })).rejects.toThrow(/was launched in .* before/)
    expect(outputOf(folder)).toBe('once\n')
  })

  test('runs again in a folder that was emptied, whenever the wrapper before it ends', async () => {
    const folder = join(scratchFolder(), 'run')
    for (let round = 0; round < 12; round++) {
      rmSync(folder, { recursive: true, force: true })
      mkdirSync(folder)
      await exitOf('true', { folder })
    }
  })
})

describe('what cannot be started is told with the reason', () => {
  test.each([
    [['no-such-program-here'], /the program no-such-program-here is not in any folder of PATH/],
    [['./script'], /the program \.\/script is not an executable file/],
    [[], /the command is empty/],
    ['  ', /the command is empty/],
  ])('%j', async (command, reason) => {
    const folder = scratchFolder()
    writeFileSync(join(folder, 'script'), 'echo hi')
    chmodSync(join(folder, 'script'), 0o644)
    const { exit } = await exitOf(command, { folder })
    expect(exit).toMatchObject({
      kind: 'not-started',
      exitCode: null,
      signal: null,
      reason: expect.stringMatching(reason),
    })
  })

  test('a working directory that is missing', async () => {
    const { exit } = await exitOf('echo hi', { workingDirectory: '/no/such/folder' })
    expect(exit).toMatchObject({
      kind: 'not-started',
      reason: expect.stringMatching(/\/no\/such\/folder is not an existing/),
    })
  })

  test('a folder that is missing', async () => {
    await expect(startScratchRun('echo hi', { folder: '/no/such/folder' })).rejects.toThrow(/its folder does not exist/)
  })
})

describe('a limit', () => {
  test('of time ends the program', async () => {
    const { exit } = await exitOf('sleep 100', { seconds: 0.3 })
    expect(exit).toMatchObject({ kind: 'timed-out', signal: 'SIGTERM', reason: 'over its limit of 0.3 s' })
  })

  test('of time leaves the program its grace, and what it then says is kept', async () => {
    const { folder, exit } = await exitOf(`trap 'sleep 0.2; echo saved; exit 3' TERM; while :; do sleep 0.05; done`, {
      seconds: 0.3,
    })
    expect(exit).toMatchObject({ kind: 'timed-out', exitCode: 3 })
    expect(outputOf(folder)).toBe('saved\n')
  })

  test('of time ends a program that ignores SIGTERM, and its children that do', async () => {
    const folder = scratchFolder()
    writeFileSync(join(folder, 'ids'), '')
    const stubborn = `trap '' TERM; echo $$ >> ids; while :; do sleep 0.05; done`
    const { exit } = await exitOf(`sh -c "${stubborn.replaceAll('$', '\\$')}" & ${stubborn}`, {
      folder,
      seconds: 0.7,
      graceSeconds: 0.3,
    })
    expect(exit).toMatchObject({ kind: 'timed-out', exitCode: null, signal: 'SIGKILL' })
    expect(gone(await idsIn(join(folder, 'ids'), 2))).toBe(true)
  })

  test('of memory counts all processes of the run together', async () => {
    const eat = `node -e "globalThis.kept = Buffer.alloc(90 * 2 ** 20, 1); setTimeout(() => {}, 60000)"`
    const { exit } = await exitOf(`${eat} & ${eat} & wait`, { memoryMegabytes: 190 })
    expect(exit.kind).toBe('out-of-memory')
    expect(exit.reason).toMatch(/^used \d+ MB, over its limit of 190 MB$/)
    expect(exit.peakMegabytes).toBeGreaterThan(190)
  })

  test('that is not passed changes nothing, and the peak is told', async () => {
    const { exit } = await exitOf(
      ['node', '-e', 'globalThis.kept = Buffer.alloc(80 * 2 ** 20, 1); setTimeout(() => {}, 1000)'],
      { seconds: 50, memoryMegabytes: 1000 },
    )
    expect(exit).toMatchObject({ kind: 'exited', exitCode: 0 })
    expect(exit.peakMegabytes).toBeGreaterThan(80)
    expect(exit.peakMegabytes).toBeLessThan(400)
  })
})

describe('children that a program leaves behind are ended', () => {
  const child = `sh -c 'echo $$ >> ids; exec sleep 100'`
  const exitOnceThereAre = (count: number) => `while [ "$(wc -l < ids)" -lt ${count} ]; do sleep 0.02; done; exit 4`
  // Job control, for which it takes bash, puts each background process in a group of its own within the session.
  const withJobControl = `bash -c "set -m; ${child.replaceAll('$', '\\$')} & disown"`
  // A session of its own: only its parent ties it to the run, and only while that lives.
  const inAnotherSession = `node -e "require('child_process').spawn('sh', ['-c', 'echo \\$\\$ >> ids; exec sleep 100'], { detached: true })"`

  test.each([
    ['in its group', `${child} & ${child} &`, 2],
    ['as orphans', `(${child} &);`, 1],
    ['in a group of their own', `${withJobControl};`, 1],
    ['in a session of their own', `${inAnotherSession} & sleep 0.5;`, 1],
  ])('%s', async (_, command, count) => {
    const folder = scratchFolder()
    writeFileSync(join(folder, 'ids'), '')
    const { exit } = await exitOf(`${command} ${exitOnceThereAre(count)}`, { folder })
    expect(exit).toMatchObject({ kind: 'exited', exitCode: 4 })
    expect(gone(await idsIn(join(folder, 'ids'), count))).toBe(true)
  })
})

describe('cancelling', () => {
  test('ends the whole run', async () => {
    const folder = scratchFolder()
    writeFileSync(join(folder, 'ids'), '')
    await startScratchRun('sh -c "echo \\$\\$ >> ids; exec sleep 100" & echo $$ >> ids; wait', { folder })
    const ids = await idsIn(join(folder, 'ids'), 2)
    cancel(folder)
    expect(await waitForExit(folder)).toMatchObject({ kind: 'cancelled', signal: 'SIGTERM', reason: 'cancelled' })
    expect(gone(ids)).toBe(true)
  })

  test('at any moment after the launch ends it or keeps it from beginning', async () => {
    const runs = Array.from({ length: 12 }, async (_, index) => {
      const folder = await startScratchRun('echo begun; exec sleep 100')
      await new Promise(resolve => setTimeout(resolve, 12 * index))
      cancel(folder)
      return await waitForExit(folder)
    })
    for (const exit of await Promise.all(runs)) expect(exit).toMatchObject({ kind: 'cancelled' })
  })

  test('a run that has ended keeps its exit', async () => {
    const { folder, exit } = await exitOf('exit 5')
    cancel(folder)
    expect(await waitForExit(folder)).toEqual(exit)
  })
})

test('waiting can be given up, and the run goes on', async () => {
  const folder = await startScratchRun('sleep 1; echo done')
  await expect(waitForExit(folder, { signal: AbortSignal.timeout(50) })).rejects.toThrow(/timeout/i)
  expect(await waitForExit(folder)).toMatchObject({ kind: 'exited', exitCode: 0 })
  expect(outputOf(folder)).toBe('done\n')
})

test('a run is running while it runs, and its wrapper ends with it', async () => {
  const folder = await startScratchRun('sleep 0.6')
  const wrapper = await eventually(() => {
    try {
      return JSON.parse(readFileSync(join(folder, 'process.json'), 'utf8')).wrapper
    } catch {
      return null
    }
  })
  expect(await inspect(folder)).toEqual({ state: 'running', pid: wrapper.pid })
  const exit = await waitForExit(folder)
  expect(await inspect(folder)).toEqual({ state: 'exited', exit })
  await eventually(() => !isAlive(wrapper))
})

describe('a program that prints hundreds of megabytes', () => {
  test('keeps its lines in order, and loses none of the latest', async () => {
    const { folder } = await exitOf(`awk 'BEGIN { for (i = 1; i <= 6000000; i++) print i }'; echo 6000001`, {
      logMegabytes: 1,
    })
    const [head, tail] = outputOf(folder).split(/\n\[almanac left out about \d+ bytes here\]\n/)
    const numbers = (text: string) => text.trimEnd().split('\n').slice(1).map(Number)
    for (const kept of [numbers(head!), numbers(tail!)]) {
      expect(kept.length).toBeGreaterThan(10_000)
      expect(kept.find((number, index) => index > 0 && number !== kept[index - 1]! + 1)).toBeUndefined()
    }
    expect(numbers(tail!).at(-1)).toBe(6_000_001)
  })

  test('goes on, and its first and last lines are kept within the size', async () => {
    const { folder, exit } = await exitOf(
      `echo first line; node -e "const line = 'x'.repeat(999) + '\\n'; for (let i = 0; i < 200; i++) require('fs').writeSync(1, line.repeat(1000))"; echo last line`,
      { logMegabytes: 2 },
    )
    expect(exit).toMatchObject({ kind: 'exited', exitCode: 0 })
    const log = outputOf(folder)
    expect(log.startsWith('first line\n')).toBe(true)
    expect(log.endsWith('last line\n')).toBe(true)
    expect(log).toMatch(/\n\[almanac left out about \d+ bytes here\]\n/)
    expect(statSync(join(folder, 'stdout.log')).size).toBeLessThanOrEqual(2 * 2 ** 20)
    // Every line but those at the cuts is whole.
    const broken = log.split('\n').filter(line => line !== '' && !/^x{999}$|^first line$|^last line$/.test(line))
    expect(broken.length).toBeLessThan(20)
  })

  test('that never stops does not fill the disk while it runs', async () => {
    const folder = await startScratchRun('exec yes', { logMegabytes: 4 })
    const sizes: number[] = []
    for (let look = 0; look < 20; look++) {
      await new Promise(resolve => setTimeout(resolve, 60))
      sizes.push(statSync(join(folder, 'stdout.log'), { throwIfNoEntry: false })?.size ?? 0)
    }
    cancel(folder)
    expect(await waitForExit(folder)).toMatchObject({ kind: 'cancelled' })
    expect(statSync(join(folder, 'stdout.log')).size).toBeLessThanOrEqual(4 * 2 ** 20)
    expect(sizes.at(-1)).toBeGreaterThan(0)
    // It prints over a gigabyte a second.
    expect(Math.max(...sizes)).toBeLessThan(300 * 2 ** 20)
  })
})
