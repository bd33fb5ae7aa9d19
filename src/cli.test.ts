/** The command line: help, flags, exit codes, JSON on standard output alone, and text from outside that stays harmless. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { toyEnvironment } from './campaign/toy-environment.ts'
import { almanac, startAlmanac } from './command-line.ts'
import { allOperations } from './operations/all.ts'

const cli = fileURLToPath(new URL('cli.ts', import.meta.url))

/** Clears the screen, renames the terminal, and turns what follows around. */
const hostile = 'red \u001b[31m\u001b]0;owned\u0007\u001b[2J \u202eback\r\u009b2J \ud800 over'
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const acting = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/

let folder = ''
beforeAll(() => {
  folder = hostileEnvironment()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function hostileEnvironment(): string {
  const made = toyEnvironment({ seeds: 1, referenceSeeds: 1 }, [
    { sentence: hostile, overrides: { rate: 0.1 } },
    { sentence: `${hostile} again`, overrides: { rate: 1 } },
    { sentence: `${hostile} crash`, overrides: { rate: 2, fate: 'crash' } },
  ])
  writeFileSync(join(made, 'c.json'), '{}')
  writeFileSync(
    join(made, 'results.tsv'),
    `commit\tloss\tstatus\tdescription\na1\t1\tkeep\t${hostile}\na2\tx\tkeep\t\u001b[2J\n`,
  )
  return made
}

test.each([['run'], ['campaign', 'start']])('the help of %s %s has an example', async (...words) => {
  const { code, output } = await almanac(folder, ...words, '--help')
  expect(code).toBe(0)
  expect(output).toContain(`Example:\n  $ almanac ${words.join(' ')}`)
})

test('the help of a command shows the standard value of each flag that has one, and how a list is given', async () => {
  const { output } = await almanac(folder, 'import', '--help')
  expect(output).toContain('<values...>: one or several, with spaces or commas between them')
  expect(output).toMatch(/^ {2}seed +the seed: rows that differ by it alone are repeats$/m)
  const words = (await almanac(folder, 'evaluate', '--help')).output.replace(/\s+/g, ' ')
  for (const told of ['rolling', '4', '1000']) expect(words).toContain(`(default: ${told})`)
})

test.each((await allOperations()).map(({ name, example }) => [name, example] as const))(
  'the example of %s parses: %s',
  async (name, example) => {
    const [program, ...words] = example.match(/"[^"]*"|\S+/g)!.map(word => word.replaceAll('"', ''))
    expect([program, ...words].join(' ')).toContain(`almanac ${name}`)
    // Where nothing is, all that can be wrong is the place: the words themselves were understood.
    const { errors } = await almanac(folder, ...words, '--directory', join(folder, 'nowhere'))
    expect(errors).toMatch(/^almanac: There is no folder .*nowhere; correct its name\.\n$/)
  },
)

test.each([
  [['recrods'], "unknown command 'recrods'\n(Did you mean records?)"],
  [['records', '--srt', 'gain'], "unknown option '--srt'\n(Did you mean --sort?)"],
  [['records', '--sort', 'gian'], 'Allowed choices are newest, oldest, gain, forecast, surprise.'],
  [['records', '--limit', '0'], 'records: --limit is 0; expected a number above 0.'],
  [['campaign', 'start', '--exploration', '2'], 'campaign start: --exploration is 2; expected a number of at most 1.'],
  [['evaluate', '--pool-size', '1'], 'evaluate: --pool-size is 1; expected a number of at least 2.'],
  [['run', '--set', 'rate=2'], "required option '-m, --message <text>' not specified"],
  [['run', '--mesage', 'x', '--set', 'rate=2'], "unknown option '--mesage'\n(Did you mean --message?)"],
  [
    ['run', '-m', 'x', '--set', 'rate=1,size=2'],
    'almanac: --set rate=1,size=2: several options have spaces between them (--set rate=1 size=2)',
  ],
  [['run', '-m', 'x', '--set', 'rate'], 'almanac: --set rate: expected name=value.'],
  [
    [
      'init',
      '--force',
      '--command',
      'x {cfg}',
      '--metric',
      'loss',
      '--direction',
      'minimize',
      '--configuration',
      'c.json',
    ],
    'almanac.config.json: command is "x {cfg}"; expected no other placeholders',
  ],
  [
    ['init', '--force', '--command', 'x', '--metric', 'loss', '--direction', 'minimize'],
    'has no git commit, and no configuration is named',
  ],
  [
    ['import', '--column', 'lr=option', 'c.json'],
    '--column took "c.json" as one of its values: what belongs to no flag stands before it, or behind "--".',
  ],
  [['promote', 'best'], 'promote: record is "best"; expected a number.'],
  [['promote', '99'], 'There is no record 99 against the current reference'],
])('%j is refused with one sentence and exit code 2', async (words, sentence) => {
  const { code, output, errors } = await almanac(folder, ...words)
  expect({ code, output }).toEqual({ code: 2, output: '' })
  expect(errors).toContain(sentence)
})

test('files are named from where the user stands, and what to call next repeats the flags', async () => {
  const place = toyEnvironment()
  const elsewhere = join(place, 'else where')
  mkdirSync(elsewhere)
  const flags = ['--directory', '..', '--ledger', join(elsewhere, 'ledger.db')]
  const start = ['campaign', 'start', '--candidates', 'ideas.json', '--rounds', '2', '--choose', '1', '--runs', '1']

  const none = await almanac(elsewhere, ...start, ...flags)
  expect(none).toMatchObject({
    code: 2,
    errors: `almanac: There is no file ${elsewhere}/ideas.json; correct its name.\n`,
  })
  expect((await almanac(elsewhere, 'campaign', 'status', ...flags)).errors).toContain('No campaign was started')

  writeFileSync(join(elsewhere, 'ideas.json'), JSON.stringify([{ sentence: 'slower', overrides: { rate: 0.1 } }]))
  expect((await almanac(elsewhere, ...start, ...flags)).code).toBe(0)
  const better = await almanac(elsewhere, 'run', '-m', 'x', '--set', 'rate=0.01', ...flags)
  expect(better.output).toContain(
    `Make it the reference with: almanac promote 3 --directory .. --ledger '${elsewhere}/ledger.db'`,
  )
  rmSync(place, { recursive: true })
})

test('an option that may be misspelt is refused, or told where it runs anyway; a failed run says where its output is', async () => {
  const words = ['run', '-m', 'a typo', '--set', 'rat=0.1', '--set', 'fate=crash', '--seeds', '1']
  expect(await almanac(folder, ...words)).toMatchObject({
    code: 2,
    errors: expect.stringContaining('has no option "rat". Did you mean "rate"? It was not run; --anyway runs it with'),
  })
  const { output, errors } = await almanac(folder, ...words, '--anyway')
  expect(errors).toContain('The reference configuration has no option "rat": the change adds it.')
  const [, logs] = /^its output is in (.+)$/m.exec(output)!
  expect(readFileSync(join(logs!, 'stderr.log'), 'utf8')).toContain('no such layer')
})

/** Ends with exit code 4: it ran, and no run finished. */
const crashes = ['run', '-m', `${hostile} by hand`, '--set', 'rate=0.6', '--tag', 'fails', '--set', 'fate="crash"']
const calls = [
  ['forecast', hostile],
  ['campaign', 'start', '--rounds', '1', '--choose', '3'],
  ['campaign', 'status'],
  ['run', '-m', `${hostile} by hand`, '--set', 'rate=0.5'],
  crashes,
  ['promote', '--anyway', '2'],
  ['records'],
  ['records', '--sort', 'surprise', 'red'],
  ['export', 'records.jsonl'],
  ['import', 'records.jsonl'],
  ['import', 'results.tsv'],
  ['report'],
  ['init', '--force', '--command', 'true', '--metric', 'loss', '--direction', 'minimize', '--configuration', 'c.json'],
]

test('with --json every operation prints JSON alone on standard output, and JSON lines beside it', async () => {
  const place = hostileEnvironment()
  for (const words of calls) {
    const { code, output, errors } = await almanac(place, ...words, '--json')
    expect(code, `${words}: ${errors}`).toBe(words === crashes ? 4 : 0)
    expect(() => JSON.parse(output), words.join(' ')).not.toThrow()
    expect(acting.exec(output + errors), words.join(' ')).toBeNull()
    expect(output).not.toMatch(/\\ud[89a-f]/)
    for (const line of errors.split('\n').filter(Boolean)) expect(() => JSON.parse(line), line).not.toThrow()
  }
  rmSync(place, { recursive: true })
})

test('text from outside reaches the terminal only in a visible form', async () => {
  const place = hostileEnvironment()
  for (const words of calls) {
    const { code, output, errors } = await almanac(place, ...words)
    expect(code, `${words}: ${errors}`).toBe(words === crashes ? 4 : 0)
    expect(acting.exec(output), `${words}: ${output}`).toBeNull()
    expect(acting.exec(errors), `${words}: ${errors}`).toBeNull()
  }
  const again = await almanac(place, 'run', '-m', hostile, '--set', `fate=${hostile}`, '--patch', hostile)
  expect(again.code).toBe(2)
  expect(acting.exec(again.errors)).toBeNull()
  rmSync(place, { recursive: true })
})

test('bin/almanac finds its own Node through a symbolic link, and says what it needs where there is none', () => {
  const program = fileURLToPath(new URL('../bin/almanac', import.meta.url))
  symlinkSync(program, join(folder, 'almanac'))
  const call = (path: string, PATH: string) =>
    spawnSync(path, ['--version'], { cwd: folder, encoding: 'utf8', env: { PATH } })
  expect(call('./almanac', '/usr/bin:/bin')).toMatchObject({ status: 0, stdout: '0.1.0\n' })

  mkdirSync(join(folder, 'elsewhere', 'bin'), { recursive: true })
  cpSync(program, join(folder, 'elsewhere', 'bin', 'almanac'))
  writeFileSync(join(folder, 'elsewhere', 'node'), '#!/bin/sh\n[ "$1" = -p ] && echo false || echo v18.1.0\n', {
    mode: 0o755,
  })
  const old = call('elsewhere/bin/almanac', `${join(folder, 'elsewhere')}:/usr/bin:/bin`)
  expect(old.status).toBe(69)
  expect(old.stderr).toMatch(/^almanac: needs Node 24 or newer, and found v18\.1\.0\. Run 'npm ci' in .*elsewhere \(/)
})

test('a reader that goes away early is no error', async () => {
  const { process: child, ended } = startAlmanac(folder, 'campaign', '--help')
  child.stdout!.destroy()
  expect((await ended).errors).toBe('')
})

test('what is not known is repeated in a visible form, and no environment is without a name', async () => {
  const unknown = await almanac(folder, 'foo\u001b[2J')
  expect(unknown).toMatchObject({ code: 2, errors: expect.stringContaining("unknown command 'foo[U+001B][2J'") })
  const nameless = await almanac(folder, 'import', 'results.tsv', '--as', ' ')
  expect(nameless).toMatchObject({
    code: 2,
    errors: expect.stringMatching(/^almanac: import: --as is "?.*; expected at least 1 character/),
  })
})

test('a sentence that quotes much is cut', async () => {
  const { code, errors } = await almanac(folder, 'records', '--environment', 'x'.repeat(50_000))
  expect(code).toBe(2)
  expect(errors.length).toBeLessThan(2100)
})

test('who stands in a folder that was removed is told so', () => {
  mkdirSync(join(folder, 'gone'))
  const call = 'cd gone && rmdir ../gone && exec "$0" "$1" records'
  const { status, stderr } = spawnSync('/bin/sh', ['-c', call, process.execPath, cli], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: 'almanac: The folder where you stand was removed; go to one that is there.\n',
  })
})

test.runIf(existsSync('/dev/full'))('a result that cannot be written is told in a sentence', () => {
  const call = `exec "$0" "$1" records --json > /dev/full`
  const { status, stderr } = spawnSync('/bin/sh', ['-c', call, process.execPath, cli], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr:
      'almanac: The result cannot be written (ENOSPC): free some space, or send it elsewhere. What was stored stays.\n',
  })
})
