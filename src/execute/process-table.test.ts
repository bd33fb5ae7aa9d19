import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import {
  identityOf,
  isAlive,
  type ProcessTable,
  residentFromPs,
  residentMegabytes,
  tableFromProc,
  tableFromPs,
} from './process-table.ts'

const readers: (readonly [string, () => ProcessTable])[] = [['ps', tableFromPs]]
if (process.platform === 'linux') readers.push(['/proc', tableFromProc])

describe.each(readers)('the table from %s', (_, read) => {
  test('has this process, with its parent and group', () => {
    const entry = read().get(process.pid)!
    expect(entry).toMatchObject({ pid: process.pid, parent: process.ppid, dead: false })
    expect(read().get(process.pid)).toEqual(entry)
    expect(read().has(entry.parent)).toBe(true)
  })

  test('has a detached child as the head of a group and session of its own', async () => {
    const child = spawn('sleep', ['30'], { detached: true, stdio: 'ignore' })
    await once(child, 'spawn')
    const entry = read().get(child.pid!)!
    expect(entry).toMatchObject({ parent: process.pid, group: child.pid, session: child.pid, dead: false })
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(read().has(child.pid!)).toBe(false)
  })

  test('knows the dead that nobody collected', async () => {
    const child = spawn('sh', ['-c', 'sleep 0.1 & echo $!; exec sleep 30'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [output] = (await once(child.stdout, 'data')) as [Buffer]
    const pid = Number(output.toString())
    await new Promise(resolve => setTimeout(resolve, 300))
    expect(read().get(pid)?.dead).toBe(true)
    expect(identityOf(pid)).toBe(null)
    child.kill('SIGKILL')
  })
})

test('an identity is alive until its process ends', async () => {
  const child = spawn('sleep', ['30'], { stdio: 'ignore' })
  await once(child, 'spawn')
  const identity = identityOf(child.pid!)!
  expect(isAlive(identity)).toBe(true)
  expect(isAlive({ ...identity, startTime: `${identity.startTime}0` })).toBe(false)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(isAlive(identity)).toBe(false)
  expect(identityOf(2 ** 30)).toBe(null)
})

test('resident memory is what Node says of itself, whoever is asked', () => {
  const own = process.memoryUsage.rss() / 2 ** 20
  for (const megabytes of [residentMegabytes([process.pid]), residentFromPs([process.pid]) / 1024]) {
    expect(megabytes).toBeGreaterThan(0.8 * own)
    expect(megabytes).toBeLessThan(1.25 * own)
  }
  expect(residentMegabytes([])).toBe(0)
})
