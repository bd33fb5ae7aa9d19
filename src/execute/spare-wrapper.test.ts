import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readClaim } from './run-folder.ts'
import { eventually, scratchLaunch } from './scratch-run.ts'

/** Processes whose environment has a variable with this value. */
function carriersOf(mark: string): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter(pid => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark)
      } catch {
        return false
      }
    })
}

function claimantIn(folder: string): number | null {
  const claim = readClaim(folder)
  return claim && 'wrapper' in claim ? claim.wrapper.pid : null
}

// Elsewhere the environment of another process cannot be read.
test.runIf(process.platform === 'linux').each([
  ['ends', 'process.exit()'],
  ['is killed', "process.kill(process.pid, 'SIGKILL')"],
])('a wrapper in reserve ends when the launcher %s, and the runs go on', async (_, end) => {
  const mark = `reserve-${process.pid}-${Math.random()}`
  const launches = [scratchLaunch('echo $$; sleep 60'), scratchLaunch('echo $$; sleep 60')]
  const program = `
    import { launch } from ${JSON.stringify(join(import.meta.dirname, 'launch.ts'))}
    for (const each of JSON.parse(process.argv[1])) await launch(each)
    console.log('launched')
    process.stdin.once('data', () => ${end})`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, JSON.stringify(launches)], {
    env: { ...process.env, MARK: mark },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  const exit = once(child, 'exit')
  // The launcher, two wrappers at work, and one in reserve.
  await eventually(() => carriersOf(mark).length === 4)
  const claims = await Promise.all(launches.map(({ folder }) => eventually(() => claimantIn(folder))))
  child.stdin.write('end')
  await exit
  const left = await eventually(() => {
    const pids = carriersOf(mark)
    return pids.length === 2 && pids
  })
  expect([...left].sort()).toEqual(claims.sort())
  for (const pid of claims) process.kill(pid, 'SIGTERM')
  await eventually(() => carriersOf(mark).length === 0)
})
