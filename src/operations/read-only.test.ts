/**
 * A ledger that may be read and not written: another user's. What only looks shows it, what would write says so, and nothing is put
 * beside it. As root, who may write everything, the commands run as nobody.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claimant, family, intervention, outcome, reference } from '../ledger/fixtures/tiny.ts'
import { type Ledger, openLedger } from '../ledger/ledger.ts'

const program = fileURLToPath(new URL('../../bin/almanac', import.meta.url))
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

function asStranger(folder: string, ...parameters: string[]): { code: number | null; output: string; errors: string } {
  const env = { ...process.env, NO_COLOR: '1', HOME: '/' }
  const { status, stdout, stderr } = spawnSync(program, parameters, { cwd: folder, env, encoding: 'utf8', ...nobody })
  return { code: status, output: stdout, errors: stderr }
}

/** The project may lie where only its owner gets to. */
const canStart = asStranger('/', '--version').code === 0

async function fill(ledger: Ledger, rates: readonly number[]): Promise<void> {
  const familyId = await ledger.ensureFamily(family)
  const { id } = await ledger.ensureVersion(familyId, reference(0.1))
  await ledger.setCurrentVersion(familyId, id, 'imported')
  for (const rate of rates) {
    const { id: interventionId } = await ledger.ensureIntervention(id, `${rate}`, intervention(rate))
    const run = await ledger.claimRun({ interventionId, seed: 0, attempt: 0, folder: 'runs', claimant })
    await ledger.writeOutcome(run!.id, outcome('finished', rate))
  }
}

describe.skipIf(!canStart)('of another user', () => {
  let folder = ''
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'almanac-read-only-'))
    chmodSync(folder, 0o755)
    for (const name of ['closed', 'open']) mkdirSync(join(folder, name))
    await using ledger = await openLedger(join(folder, 'open', 'ledger.db'))
    await fill(ledger, [0.2, 0.3])
    // As a copy that was made while somebody had it open: what was written last lies beside it.
    cpSync(join(folder, 'open'), join(folder, 'copied'), {
      recursive: true,
      filter: source => !source.endsWith('-shm'),
    })
    await using closed = await openLedger(join(folder, 'closed', 'ledger.db'))
    await fill(closed, [0.2, 0.3])
    await closed.close()
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** Its files, none of which may be written, and what is in them. */
  function locked(name: string): { readonly path: string; readonly state: () => unknown } {
    const place = join(folder, name)
    for (const file of readdirSync(place)) chmodSync(join(place, file), 0o444)
    chmodSync(place, 0o555)
    const state = () => readdirSync(place).map(file => [file, readFileSync(join(place, file)).toString('base64')])
    return { path: join(place, 'ledger.db'), state }
  }

  test.each(['closed', 'copied'])('records of a ledger that is %s: shown, and nothing appears beside it', name => {
    const { path, state } = locked(name)
    const before = state()
    const { code, output, errors } = asStranger('/', 'records', '--ledger', path, '--json')
    expect(code, errors).toBe(0)
    const { records } = JSON.parse(output) as { records: { sentence: string }[] }
    expect(records.map(({ sentence }) => sentence).sort()).toEqual(['learn at 0.2', 'learn at 0.3'])
    expect(state()).toEqual(before)
  })

  test('while its owner has it open, what was written a moment ago is shown', async () => {
    const place = join(folder, 'live')
    mkdirSync(place)
    await using ledger = await openLedger(join(place, 'ledger.db'))
    await fill(ledger, [0.2])
    const { path } = locked('live')
    const records = () => {
      const { code, output, errors } = asStranger('/', 'records', '--ledger', path, '--json')
      expect(code, errors).toBe(0)
      return (JSON.parse(output) as { records: object[] }).records
    }
    expect(records()).toHaveLength(1)
    await fill(ledger, [0.5])
    expect(records()).toHaveLength(2)
  })

  test('the others refuse before they read anything; export and report write elsewhere', () => {
    const { path, state } = locked('closed')
    const before = state()
    const forecast = asStranger('/', 'forecast', '--ledger', path)
    expect({ code: forecast.code, errors: forecast.errors }).toEqual({
      code: 1,
      errors: `almanac: The ledger ${path} cannot be written: it, or its folder, is read-only. It can be looked at; to go on with it, make both writable, or copy it and name the copy with --ledger.\n`,
    })
    const mine = mkdtempSync(join(tmpdir(), 'almanac-stranger-'))
    chmodSync(mine, 0o777)
    const exported = asStranger(mine, 'export', 'records.jsonl', '--ledger', path)
    expect(exported.code, exported.errors).toBe(0)
    const report = asStranger(mine, 'report', '--out', 'report.html', '--ledger', path)
    expect(report.code, report.errors).toBe(0)
    expect(readdirSync(mine).sort()).toEqual(['records.jsonl', 'report.html'])
    rmSync(mine, { recursive: true })
    expect(state()).toEqual(before)
  })
})
