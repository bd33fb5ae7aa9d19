/** A ledger that another process writes for long: what waits says so, goes on afterwards, and Ctrl-C ends it. Real processes. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { startsOf, toyEnvironment } from '../campaign/toy-environment.ts'
import { almanac, almanacJson, startAlmanac } from '../command-line.ts'

let folder = ''
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a campaign and an import wait for a write of another, are told, hear Ctrl-C, and go on when it ends', async () => {
  folder = toyEnvironment({ seeds: 1, referenceSeeds: 1 })
  writeFileSync(
    join(folder, 'results.tsv'),
    'commit\tval_bpb\tstatus\tdescription\na1b2c3d\t1.2\tkeep\tbaseline\nb1b2c3d\t1.1\tkeep\twider\n',
  )
  const tried = await almanac(folder, 'run', '-m', 'Learn at 0.1', '--set', 'rate=0.1')
  expect(tried.code, tried.errors).toBe(0)
  const before = startsOf(folder).length

  const other = new DatabaseSync(join(folder, '.almanac', 'ledger.db'))
  other.exec('begin immediate')
  const stopped = startAlmanac(folder, 'campaign', 'start', '--rounds', '1')
  const imported = startAlmanac(folder, 'import', 'results.tsv', '--as', 'words', '--json')
  for (const call of [stopped, imported]) {
    while (!call.told().includes('Waiting for another process that writes the ledger ')) await pause(20)
  }
  // Who only reads has nothing to wait for.
  expect((await almanacJson<{ records: object[] }>(folder, 'records')).records).toHaveLength(1)
  stopped.process.kill('SIGINT')
  const { code, errors, output } = await stopped.ended
  expect({ code, output }, errors).toEqual({ code: 130, output: '' })
  expect(errors).toContain('almanac: It was stopped while it waited for another process that writes the ledger.\n')
  expect(errors.match(/Waiting/g)).toHaveLength(1)
  expect(imported.process.exitCode).toBe(null)
  other.exec('rollback')
  other.close()

  const end = await imported.ended
  expect(end.code, end.errors).toBe(0)
  expect(JSON.parse(end.output)).toMatchObject({ added: 2 })
  expect(startsOf(folder)).toHaveLength(before)
})
