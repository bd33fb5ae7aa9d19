/**
 * Bad input gets one clear sentence and loses nothing: configurations, programs that misbehave, ledgers that cannot be read,
 * folders that cannot be written, disks that are full.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, describe, expect, test } from 'vitest'
import type { EnvironmentInput } from '../campaign/environment-file.ts'
import { startsOf, toyEnvironment, toyInput } from '../campaign/toy-environment.ts'
import { campaignResume } from './campaign-resume.ts'
import { campaignStart } from './campaign-start.ts'
import { inProcess } from './in-process.ts'
import { InputError } from './operation.ts'
import { records } from './records.ts'
import { run } from './run.ts'

let folder = ''
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const list = { sort: 'newest', limit: 9, current: false, all: false } as const

/** What is said of an environment file with this text, by an operation that only looks. Nothing is written then. */
async function saidOf(text: string, name = 'almanac.config.json'): Promise<string> {
  folder = mkdtempSync(join(tmpdir(), 'almanac-bad-'))
  writeFileSync(join(folder, name), text)
  const error = await records.run(list, inProcess(folder)).then(
    () => null,
    error => error as Error,
  )
  expect(error).toBeInstanceOf(InputError)
  expect(existsSync(join(folder, '.almanac'))).toBe(false)
  return error!.message.replaceAll(folder, 'FOLDER')
}

const environment = (changes: object) => JSON.stringify({ ...toyInput, ...changes })

describe('an environment file', () => {
  test.each<[string, string, string]>([
    [
      'no JSON',
      '{"name": }',
      'FOLDER/almanac.config.json is not JSON: Unexpected token \'}\', "{"name": }" is not valid JSON',
    ],
    ['no object', '[]', 'almanac.config.json: it is []; expected an object.'],
    [
      'an unknown field',
      environment({ comand: 'x' }),
      'almanac.config.json: there is no field "comand"; remove it or correct its name.',
    ],
    [
      'a wrong type',
      environment({ concurrency: 'two' }),
      'almanac.config.json: concurrency is "two"; expected a number.',
    ],
    [
      'a fraction',
      environment({ concurrency: 1.5 }),
      'almanac.config.json: concurrency is 1.5; expected a whole number.',
    ],
    [
      'an unknown placeholder',
      environment({ command: 'node program.mjs {confg} {seed}' }),
      'almanac.config.json: command is "node program.mjs {confg} {seed}"; expected no other placeholders than {seed}, {config}, {out}, {slot}, {root}, {node} (write {{name}} to keep the braces).',
    ],
    [
      'a placeholder without its value',
      environment({ reference: { code: ['program.mjs'] } }),
      'almanac.config.json: command is "node program.mjs {config} {seed} {out}"; expected no other placeholders than {seed}, {out}, {slot}, {root}, {node} (write {{name}} to keep the braces).',
    ],
    [
      'a placeholder of another program',
      environment({ candidates: { program: ['propose', '{slot}'] } }),
      'almanac.config.json: candidates.program is ["propose","{slot}"]; expected no other placeholders than {round}, {seed}, {records}, {root}, {node} (write {{name}} to keep the braces).',
    ],
    [
      'a metric without a place',
      environment({ metrics: [{ name: 'loss', direction: 'minimize' }], constraints: [] }),
      'almanac.config.json: metrics[0] is {"name":"loss","direction":"minimize"}; expected names where the metric is read: either "pattern" (in the output), or "file" and "path" (in a JSON file).',
    ],
    [
      'a pattern without a group',
      environment({ metrics: [{ name: 'loss', direction: 'minimize', pattern: 'loss' }], constraints: [] }),
      'almanac.config.json: metrics[0].pattern is "loss"; expected a regular expression with one group around the number, such as "^val_bpb: ([0-9.]+)".',
    ],
    [
      'a constraint on nothing',
      environment({ constraints: [{ metric: 'flops', atMost: 2 }] }),
      'almanac.config.json: constraints[0].metric is "flops"; expected one of the metrics (loss, size).',
    ],
    [
      'a path upwards',
      environment({ link: ['../data'] }),
      'almanac.config.json: link[0] is "../data"; expected a path inside the folder of the environment file: not absolute, without "..".',
    ],
    [
      'an absolute path',
      environment({ evaluator: ['/etc/passwd'] }),
      'almanac.config.json: evaluator[0] is "/etc/passwd"; expected a path inside the folder of the environment file: not absolute, without "..".',
    ],
    [
      'a missing file',
      environment({ reference: { configuration: 'gone.json' } }),
      'reference.configuration is "gone.json", which cannot be read (ENOENT); name a JSON file.',
    ],
    [
      'a missing evaluator',
      environment({ evaluator: ['gone.py'] }),
      '"gone.py" does not exist in FOLDER; correct its name in the environment file.',
    ],
    [
      'no reference',
      environment({ command: 'x', reference: {} }),
      'almanac.config.json: reference is empty; expected "configuration" (a JSON file or an object), "commit" (a git revision such as "HEAD"), or "code" (files).',
    ],
    [
      'no repository',
      environment({ command: 'x', reference: { commit: 'HEAD' } }),
      'reference.commit is "HEAD", but FOLDER is not in a git repository; correct that, or give reference.configuration instead.',
    ],
  ])('with %s', async (_what, text, sentence) => {
    expect(await saidOf(text)).toBe(sentence)
  })

  test('of code that does not load, or exports nothing', async () => {
    expect(await saidOf('export default {{', 'almanac.config.js')).toMatch(
      /^FOLDER\/almanac\.config\.js cannot be loaded: /,
    )
    rmSync(folder, { recursive: true })
    expect(await saidOf('export const x = 1', 'almanac.config.ts')).toBe(
      'FOLDER/almanac.config.ts cannot be loaded: it has no default export',
    )
  })

  test('whose paths leave the folder through a symbolic link', async () => {
    folder = toyEnvironment({ reference: { configuration: 'configuration.json' }, evaluator: ['eval.txt'] })
    writeFileSync(join(folder, 'configuration.json'), '{}')
    symlinkSync('/etc/hostname', join(folder, 'eval.txt'))
    await expect(records.run(list, inProcess(folder))).rejects.toThrow(
      /^the path eval\.txt leaves .* through a symbolic link/,
    )
    rmSync(join(folder, 'eval.txt'))
    writeFileSync(join(folder, 'eval.txt'), '')
    rmSync(join(folder, 'candidates.json'))
    symlinkSync('/etc/hostname', join(folder, 'candidates.json'))
    await expect(campaignStart.run({}, inProcess(folder))).rejects.toThrow(
      /^the path candidates\.json leaves .* through a symbolic link/,
    )
    expect(startsOf(folder)).toEqual([])
  })
})

describe('a program that', () => {
  const single: Partial<EnvironmentInput> = {
    seeds: 1,
    referenceSeeds: 1,
    constraints: [],
    metrics: [{ name: 'loss', direction: 'minimize', pattern: '^loss: (\\S+)' }],
  }
  const outcomeOf = async (command: string) => {
    folder = toyEnvironment({ ...single, command })
    const error = await run.run({ message: 'x', history: 'pooled', set: ['rate=2'] }, inProcess(folder)).then(
      () => null,
      error => error as Error,
    )
    return error!.message
  }

  test('writes no metric, a word for it, or NaN, is told so', async () => {
    expect(await outcomeOf('echo {config}')).toContain(
      '(crashed: metric missing: loss: no line of the output matches the pattern ^loss: (\\S+))',
    )
    rmSync(folder, { recursive: true })
    expect(await outcomeOf('echo loss: banana {config}')).toMatch(
      /crashed: metric missing: loss: .*"banana", which is not a number/,
    )
    rmSync(folder, { recursive: true })
    expect(await outcomeOf('echo loss: nan {config}')).toContain('(diverged: loss is nan)')
  })
})

describe('a ledger', () => {
  test('of a newer version, of another program, or that is none: it is left as it is', async () => {
    folder = toyEnvironment()
    const path = join(folder, '.almanac', 'ledger.db')
    await records.run(list, inProcess(folder))
    const newer = new DatabaseSync(path)
    newer.exec("insert into kysely_migration (name, timestamp) values ('9999-future', '')")
    newer.close()
    const bytes = readFileSync(path)
    await expect(campaignStart.run({}, inProcess(folder))).rejects.toThrow(
      `The ledger ${path} was written by a newer version of Almanac (it has the step 9999-future): update Almanac.`,
    )
    expect(readFileSync(path).equals(bytes)).toBe(true)
    const words = join(folder, 'words.db')
    writeFileSync(words, 'these are words and no database at all, however long one reads on and on')
    await expect(records.run(list, inProcess(folder, { ledger: words }))).rejects.toThrow('is not a database')
    expect(startsOf(folder)).toEqual([])
  })

  test('in a folder that is a file', async () => {
    folder = toyEnvironment()
    writeFileSync(join(folder, '.almanac'), '')
    await expect(records.run(list, inProcess(folder))).rejects.toThrow(
      /^The ledger's folder .*\.almanac cannot be written \(EEXIST\)/,
    )
  })
})

describe.runIf(canMount())('on a disk of its own', () => {
  let disk = ''
  afterEach(() => {
    execFileSync('umount', ['-l', disk])
    rmSync(disk, { recursive: true })
  })
  const mount = (size: string) => {
    disk = mkdtempSync(join(tmpdir(), 'almanac-disk-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'none', disk])
  }

  test('that is full, a campaign stops with a sentence; with room again it is resumed to its end', async () => {
    mount('1m')
    folder = toyEnvironment({ seeds: 1, referenceSeeds: 1 })
    const ledger = join(disk, 'ledger.db')
    await records.run(list, inProcess(folder, { ledger }))
    fill(join(disk, 'ballast'), 2 ** 20)
    const choice = { rounds: 1, choose: 2, exploration: 0 }
    await expect(campaignStart.run(choice, inProcess(folder, { ledger }))).rejects.toThrow(
      /disk is full|no space left/i,
    )
    expect(startsOf(folder)).toEqual([])

    // Room for the ledger, and then none for the runs.
    rmSync(join(disk, 'ballast'))
    let begun = false
    const filling = inProcess(folder, {
      ledger,
      emit: event => {
        if (event.type !== 'round-chosen') return
        begun = true
        fill(join(disk, 'ballast'), 2 ** 20)
      },
    })
    await expect(campaignStart.run(choice, filling)).rejects.toThrow(/full|no space|did not finish/i)
    expect(begun).toBe(true)
    rmSync(join(disk, 'ballast'))
    const resumed = await campaignResume.run({}, inProcess(folder, { ledger }))
    expect({ state: resumed.state, verdicts: resumed.records.map(({ outcome }) => outcome) }).toEqual({
      state: 'finished',
      verdicts: ['finished', 'finished'],
    })
    expect(new Set(startsOf(folder)).size).toBe(startsOf(folder).length)
  })

  test('that is read-only, the ledger cannot be made, and that is said', async () => {
    mount('1m')
    mkdirSync(join(disk, 'project'))
    writeFileSync(join(disk, 'project', 'almanac.config.json'), JSON.stringify(toyInput))
    execFileSync('mount', ['-o', 'remount,ro', disk])
    await expect(records.run(list, inProcess(join(disk, 'project')))).rejects.toThrow(
      /^The ledger's folder .* cannot be written \(\w+\): make it writable, or name another file with --ledger\.$/,
    )
  })
})

/** Until nothing more goes in. */
function fill(path: string, bytes: number): void {
  for (let piece = bytes; piece >= 1; piece = Math.floor(piece / 2)) {
    try {
      writeFileSync(path, Buffer.alloc(piece), { flag: 'a' })
    } catch {}
  }
}

function canMount(): boolean {
  const place = mkdtempSync(join(tmpdir(), 'almanac-mount-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', place], { stdio: 'ignore' })
    execFileSync('umount', [place])
    return true
  } catch {
    return false
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}
