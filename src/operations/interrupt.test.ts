/**
 * Ctrl-C and other processes: one signal lets running runs finish, two end them; a campaign that somebody runs is not run
 * twice; two campaigns share a ledger. Real processes throughout.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { startsOf, toyCandidates, toyEnvironment } from '../campaign/toy-environment.ts'
import { almanac, almanacJson, startAlmanac } from '../command-line.ts'
import { openLedger } from '../ledger/ledger.ts'

let folder = ''
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const start = ['campaign', 'start', '--rounds', '1', '--choose', '3', '--exploration', '0']
const quick = { seeds: 1, referenceSeeds: 1, concurrency: 2 }

/** Candidates that run until `release`, however slow the machine is; with `reference`, the reference too. */
function held({ reference }: { reference: boolean }): string {
  const configuration = { rate: 1, width: 4, until: reference ? 'go' : '' }
  const candidates = toyCandidates.map(({ sentence, overrides }) => ({
    sentence,
    overrides: { ...overrides, until: 'go' },
  }))
  return toyEnvironment({ ...quick, reference: { configuration } }, candidates)
}

function release(): void {
  writeFileSync(join(folder, 'go'), '')
}

test('one Ctrl-C: what runs finishes, nothing new starts, exit 130; resume does the rest and no more', async () => {
  folder = held({ reference: false })
  const call = startAlmanac(folder, ...start)
  await until(call, () => startsOf(folder).length === 3)
  call.process.kill('SIGINT')
  await until(call, () => call.told().includes('Press Ctrl-C again to end the running ones.'))
  release()
  const { code, output, errors } = await call.ended
  expect(code, errors).toBe(130)
  expect(output).toContain('Campaign 1: stopped. It was stopped by the user.')
  expect(output).toContain('almanac campaign resume 1')
  expect(startsOf(folder)).toHaveLength(3)
  expect(await kinds()).toEqual(['finished', 'finished', 'finished'])

  const another = await almanac(folder, ...start, '--runs', '1')
  expect(another.errors).toContain(
    'Campaign 1 was stopped before its end; "almanac campaign resume 1" goes on with it.',
  )
  const resumed = await almanac(folder, 'campaign', 'resume', '1')
  expect(resumed.code, resumed.errors).toBe(0)
  expect(new Set(startsOf(folder)).size).toBe(startsOf(folder).length)
  const again = await almanac(folder, 'campaign', 'resume', '1')
  expect({ code: again.code, errors: again.errors }).toEqual({
    code: 3,
    errors: 'almanac: Campaign 1 is finished. Its round is done.\n',
  })
})

test('two: the running ones are ended and recorded as cancelled', async () => {
  folder = held({ reference: true })
  const call = startAlmanac(folder, 'run', '-m', 'Learn faster', '--set', 'rate=0.1')
  await until(call, () => startsOf(folder).length === 1)
  call.process.kill('SIGINT')
  // Two of the same signal that wait to be delivered are one.
  await until(call, () => call.told().includes('Press Ctrl-C again'))
  call.process.kill('SIGINT')
  const { code, errors } = await call.ended
  expect(code, errors).toBe(130)
  expect(await kinds()).toEqual(['cancelled'])
  expect(startsOf(folder)).toEqual(['1 4 1'])
})

test('SIGTERM ends the running ones at once', async () => {
  folder = held({ reference: false })
  const call = startAlmanac(folder, ...start)
  await until(call, () => startsOf(folder).length === 3)
  call.process.kill('SIGTERM')
  expect((await call.ended).code).toBe(130)
  expect(await kinds()).toEqual(['finished', 'cancelled', 'cancelled'])
  release()
  const resumed = await almanac(folder, 'campaign', 'resume')
  expect(resumed.code, resumed.errors).toBe(0)
  expect(await kinds()).toEqual(['finished', 'cancelled', 'cancelled', 'finished', 'finished', 'finished'])
})

test('a campaign that a living process runs is left to it; once that is gone, it is adopted with its run', async () => {
  folder = held({ reference: false })
  const call = startAlmanac(folder, ...start, '--choose', '1')
  await until(call, () => startsOf(folder).length === 2)
  const second = await almanac(folder, 'campaign', 'resume')
  expect({ code: second.code, errors: second.errors }).toEqual({
    code: 1,
    errors: `almanac: Campaign 1 is being run by process ${call.process.pid}; wait for it or stop it first.\n`,
  })
  const state = async () => (await almanacJson<{ state: string }>(folder, 'campaign', 'status')).state
  expect(await state()).toBe('running')
  call.process.kill('SIGKILL')
  await call.ended
  expect(await state()).toBe('interrupted')
  const resumed = startAlmanac(folder, 'campaign', 'resume')
  await until(resumed, () => resumed.told().includes('still running: '))
  release()
  const { code, errors } = await resumed.ended
  expect(code, errors).toBe(0)
  expect(await state()).toBe('finished')
  expect(startsOf(folder)).toHaveLength(2)
})

test('two campaigns at once on one ledger both end well, and nothing runs twice', async () => {
  folder = toyEnvironment({ ...quick, reference: { configuration: { rate: 1, width: 4, wait: 300 } } })
  const two = [almanac(folder, ...start, '--json'), almanac(folder, ...start, '--choose', '4', '--json')]
  const [first, second] = await Promise.all(two)
  expect(first!.code, first!.errors).toBe(0)
  expect(second!.code, second!.errors).toBe(0)
  const starts = startsOf(folder)
  expect(new Set(starts).size).toBe(starts.length)
  expect(await kinds()).toEqual(starts.map(() => 'finished'))
  for (const { output } of [first!, second!]) {
    const { state, records } = JSON.parse(output) as { state: string; records: { measured: object | null }[] }
    expect(state).toBe('finished')
    expect(records.every(({ measured }) => measured !== null)).toBe(true)
  }
})

test('stopping a campaign that waits for the run of another leaves that run alone', async () => {
  folder = held({ reference: true })
  const owner = startAlmanac(folder, ...start, '--choose', '1')
  await until(owner, () => startsOf(folder).length === 1)
  const waiting = startAlmanac(folder, ...start, '--choose', '2', '--json')
  await until(waiting, () => waiting.told().includes('runs in another process'))
  waiting.process.kill('SIGINT')
  waiting.process.kill('SIGINT')
  expect((await waiting.ended).code).toBe(130)
  release()
  const { code, errors } = await owner.ended
  expect(code, errors).toBe(0)
  expect(await kinds()).toEqual(['finished', 'finished'])
})

test('a run whose process died between the claim and its folder is tried again', async () => {
  folder = toyEnvironment(quick)
  const { campaign } = await almanacJson<{ campaign: number }>(folder, ...start, '--choose', '1', '--runs', '1')
  expect(campaign).toBe(1)
  await using ledger = await openLedger(join(folder, '.almanac', 'ledger.db'))
  const reference = (await ledger.runsOfCampaign(1))[0]!
  await ledger.claimRun({
    interventionId: reference.interventionId,
    seed: 2,
    attempt: 0,
    folder: join(folder, '.almanac', 'runs', 'lost', 'seed-2-attempt-0'),
    claimant: { pid: 2 ** 22, started: 'long ago' },
  })
  const resumed = await almanac(folder, ...start, '--choose', '1', '--reference-seeds', '2')
  expect(resumed.code, resumed.errors).toBe(0)
  const attempts = (await ledger.runsOf(reference.interventionId)).map(({ seed, outcome }) => [seed, outcome?.kind])
  expect(attempts).toEqual([
    [1, 'finished'],
    [2, 'infrastructure'],
    [2, 'finished'],
  ])
  expect(readdirSync(join(folder, '.almanac', 'runs', 'lost'))).toHaveLength(1)
})

async function kinds(): Promise<(string | undefined)[]> {
  await using ledger = await openLedger(join(folder, '.almanac', 'ledger.db'))
  const open = await ledger.openRuns()
  expect(open).toEqual([])
  const found: (string | undefined)[] = []
  for (let id = 1; ; id++) {
    const run = await ledger.run(id)
    if (run === null) return found
    found.push(run.outcome?.kind)
  }
}

/** Until it holds, as long as the call that it is asked of goes on. */
async function until(call: ReturnType<typeof startAlmanac>, holds: () => boolean): Promise<void> {
  for (const end = performance.now() + 100_000; performance.now() < end; await pause(10)) {
    if (holds()) return
    const { exitCode } = call.process
    if (exitCode !== null) throw new Error(`it ended with ${exitCode} before that: ${call.told()}`)
  }
  throw new Error(`it did not happen within a hundred seconds: ${call.told()}`)
}
