/** Evaluation, doctor and replay of an imported log, through the front door: what they say, and what they refuse. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { almanac, startAlmanac } from '../command-line.ts'
import { type Asked, type Behaviour, scriptedServer } from '../language/scripted-server.ts'
import { seededRandom } from '../statistics/random.ts'
import { doctor } from './doctor.ts'
import { evaluate } from './evaluate.ts'
import { importHistory } from './import.ts'
import { inProcess } from './in-process.ts'
import { replay } from './replay.ts'

let folder = ''
const plain = { width: 160, styling: (_: unknown, text: string) => text }

/** Warm-up helps by much, decay hurts, and what crashes is about the batch: words tell how it will go. */
function log(rows: number, name: string): string {
  const random = seededRandom(name)
  const lines = ['commit\tval_bpb\tmemory_gb\tstatus\tdescription', 'baseline\t1.5\t1\tkeep\tbaseline']
  for (let row = 1; row < rows; row++) {
    const [effect, words] = [
      [0.05, 'longer warmup'],
      [-0.05, 'more weight decay'],
      [0, 'another activation'],
      [null, 'a huge batch'],
    ][row % 4] as [number | null, string]
    const value = effect === null ? '0.0' : (1.5 - effect + 0.005 * random.normal()).toFixed(6)
    lines.push(
      `${(0x1000000 + row).toString(16)}\t${value}\t1\t${effect === null ? 'crash' : 'discard'}\t${words}, form ${row}`,
    )
  }
  return `${lines.join('\n')}\n`
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-evaluate-'))
  for (const name of ['first.tsv', 'second.tsv']) {
    writeFileSync(join(folder, name), log(40, name))
    await importHistory.run(importHistory.input.parse({ path: name }), inProcess(folder))
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const evaluated = (flags: object) => evaluate.run(evaluate.input.parse({ resamples: 200, ...flags }), inProcess(folder))

test('words that tell how it goes are found out, beside constant and recent, on each environment and in the mean', async () => {
  const output = await evaluated({ forecasters: ['neighbours'] })
  const { environments, overall, differences, baselines } = output
  expect(environments.map(({ name }) => name).sort()).toEqual(['first.tsv', 'second.tsv'])
  expect(baselines).toEqual(['constant', 'recent'])
  for (const rows of [...environments.map(({ rows }) => rows), overall!]) {
    expect(rows.map(({ name }) => name)).toEqual(['constant', 'recent', 'neighbours'])
    const [constant, , neighbours] = rows.map(({ figures }) => figures)
    expect(constant!.spearman!.value).toBeNaN()
    expect(neighbours!.spearman!.value).toBeGreaterThan(0.6)
    expect(neighbours!.pinballSkill!.value).toBeGreaterThan(0.3)
    expect(neighbours!.finishing!.value).toBeGreaterThan(0)
  }
  const better = differences.find(({ measure, second }) => measure === 'pinball' && second === 'neighbours')!
  expect(better.value).toBeLessThan(0)
  expect(better.adjusted).toBeLessThan(0.05)
  const text = evaluate.text(output, plain)
  expect(text).toMatch(/^measure +better +than +by +p +p \(Holm\) +in$/m)
  expect(text).toMatch(
    /\n\nTrust neighbours: it is shown to foresee the size of gains \(pinball loss\) better than what\s+past\s+gains\s+alone\s+say\s+\(constant,\s+recent\)\.\n.*forecaster: 'neighbours'\nNext: almanac forecast "what you would try" --forecaster neighbours --environment (?:first|second)\.tsv$/,
  )
})

test('the text has a table for each, the differences and a conclusion; JSON has no NaN', async () => {
  const output = await evaluated({
    environment: ['first.tsv'],
    forecasters: ['neighbours'],
    history: ['none,in-environment,pooled'],
  })
  const text = evaluate.text(output, plain)
  expect(text).toMatch(
    /^first\.tsv: 39 records, \d+ without a gain\nGains are in val_bpb \(lower is better\): above 0 is better than the reference\.\nJudged: 31 of them, each forecast from the rows before it alone, in 8 pools of 4 that stand for\nchoice together \(4 blocks/,
  )
  for (const name of ['constant, none', 'neighbours, in-environment', 'neighbours, pooled'])
    expect(text).toContain(name)
  expect(text).toContain(
    'With 4 blocks nothing could be shown, however large, in pinball loss (11 for 36 pairs), regret (11\nfor 36 pairs)',
  )
  // A legend for every column, and no row for a pair with nothing to show.
  expect(text).toMatch(/^ {2}regret saved +by the choice of the best-looking: 1 the best, 0 as by chance/m)
  expect(text).toMatch(
    /^ {2}error, pinball +mean miss of the median, and of all quantiles, in val_bpb; less is better$/m,
  )
  expect(text).toMatch(/None of the \d+ comparisons shows anything/)
  expect(text).not.toContain('p (Holm)')
  expect(text).toMatch(
    /\n\nNobody is shown [\s\S]* Keep the forecaster you have,[\s\S]*\sevaluate\s+again after \d+ more records: [\s\S]*\nNext: almanac doctor --environment first\.tsv$/,
  )
  expect(JSON.stringify(evaluate.json!(output))).not.toMatch(/NaN|Infinity/)
  const none = output.environments[0]!.rows.find(({ name }) => name === 'neighbours, none')!
  expect(none.figures.spearman!.value).toBeNaN()
})

test('controls: with outcomes shuffled nothing is left to learn', async () => {
  const output = await evaluated({ environment: ['first.tsv'], forecasters: ['neighbours'], controls: true })
  const names = output.environments[0]!.rows.map(({ name }) => name)
  const ranks = (name: string) => output.environments[0]!.rows.find(row => row.name === name)!.figures.spearman!.value
  expect(ranks('neighbours, shuffled')).toBeLessThan(ranks('neighbours') - 0.3)
  expect(output.differences.flatMap(({ first, second }) => [first, second])).not.toContain('neighbours, shuffled')
  const text = evaluate.text(output, plain)
  expect(text).toMatch(/neighbours ranks with [01]\.\d\d; −?[01]\.\d\d shuffled\./)
  // A log in words has no option that could bear another name.
  expect(names).toEqual(['constant', 'recent', 'neighbours', 'neighbours, shuffled'])
  expect(text).toContain('Nothing to rename: no option has a name in these records. That control was not made.')
})

test('random halves, for records without an order', async () => {
  const { split, environments } = await evaluated({
    environment: ['second.tsv'],
    forecasters: ['neighbours'],
    split: 'halves',
    resamples: 100,
  })
  expect(split).toBe('halves')
  const neighbours = environments[0]!.rows.find(({ name }) => name === 'neighbours')!
  expect(neighbours.figures.spearman!.value).toBeGreaterThan(0.6)
  await expect(evaluated({ split: 'halves', history: ['pooled'] })).rejects.toThrow('--split halves is in-environment')
})

/** A model that knows that warm-up helps, and answers one question in five with nothing. */
function knowing({ body }: Asked): Behaviour {
  const text = body.messages[1]!.content
  const own = text.slice(text.indexOf('\n# Candidates:'))
  if (own.includes('another activation')) return { answer: { forecasts: [] } }
  const candidate = /## Candidate (\S+)/.exec(own)![1]!
  const median = own.includes('warmup') ? 0.05 : own.includes('decay') ? -0.05 : 0
  const gain = { p10: median - 0.01, p25: median - 0.005, p50: median, p75: median + 0.005, p90: median + 0.01 }
  return {
    answer: { forecasts: [{ candidate, closest: [], basis: 'mechanism', uncertainty: 'Noise.', finishes: 0.8, gain }] },
  }
}

test('language models are told what they will take, and what failed is said; each effort is a forecaster', async () => {
  await using server = await scriptedServer(knowing)
  const context = inProcess(folder)
  const input = evaluate.input.parse({
    environment: ['first.tsv'],
    model: [server.model],
    effort: ['low,high'],
    pools: 2,
    resamples: 100,
  })
  const output = await evaluate.run(input, context)
  const rows = output.environments[0]!.rows
  expect(rows.map(({ name }) => name)).toEqual(['constant', 'recent', 'scripted (low)', 'scripted (high)'])
  expect(
    context.notes().filter(note => /^Asking http.* \(effort (low|high)\): 8 questions, about/.test(note)),
  ).toHaveLength(2)
  expect(context.notes()).toContainEqual(
    expect.stringMatching(/^Together 16 questions, at most [\d,]+ tokens in and out\.$/),
  )
  expect(rows[2]!.failures).toHaveLength(2)
  expect(rows[2]!.figures.spearman!.value).toBeGreaterThan(0.5)
  const text = evaluate.text(output, plain)
  expect(text).toContain(
    'scripted (low): 2 of 8 forecasts failed, and constant stood in (the answer could not be used, asked\ntwice).',
  )
  expect(text).toContain(`  scripted (low)   ${server.model}, effort low\n`)
  expect(text).toContain('2 pools are too few for any figure')
  // Asked before, nothing is asked again, and the estimate knows.
  const again = inProcess(folder)
  await evaluate.run({ ...input, effort: ['low'], controls: true }, again)
  expect(again.notes()[0]).toMatch(
    /\(effort low\): \d+ questions?, .*\n\d+ answers are kept from before and not asked for again\.$/,
  )
  expect(text).toContain('when its knowledge ends is not known')
})

test('models from a file have their own price and date, and the table says what each took', async () => {
  await using server = await scriptedServer(knowing)
  const priced = { model: server.model, effort: 'medium', knowledgeUntil: '2025-01-31' }
  const price = { input: 10, output: 100, currency: 'EUR' }
  writeFileSync(join(folder, 'models.json'), JSON.stringify([{ ...priced, price }, { model: `${server.model}-2` }]))
  const flags = { environment: ['first.tsv'], pools: 1, model: ['models.json'] }
  const output = await evaluated(flags)
  expect(output.models.map(({ name, knowledgeUntil }) => [name, knowledgeUntil])).toEqual([
    ['scripted (medium)', '2025-01-31'],
    ['scripted-2', null],
  ])
  const { took } = output.models[0]!
  // Each answer is counted as 100 tokens in and 20 out; one of four is asked for twice.
  expect(took).toMatchObject({ requests: 5, kept: 0, input: 500, output: 100, currency: 'EUR' })
  expect(took.cost).toBeCloseTo((500 * 10 + 100 * 100) / 1e6, 12)
  expect(evaluate.text(output, plain)).toMatch(/cost in EUR\nscripted \(medium\) +5 +0 +500 +300 +100 +0\.015\n/)
  writeFileSync(join(folder, 'models.json'), JSON.stringify([{ model: server.model, prize: 1 }]))
  await expect(evaluated(flags)).rejects.toThrow(/models\.json: there is no field "\[0\]\.prize"/)
})

test('stopped while a model is asked, it says what was asked, what it took and that the answers are kept', async () => {
  await using server = await scriptedServer((asked, index) => (index < 2 ? knowing(asked) : 'hang'))
  const flags = ['--environment', 'first.tsv', '--forecasters', 'recent', '--pools', '1', '--model', server.model]
  const { process, ended, told } = startAlmanac(folder, 'evaluate', ...flags)
  await vi.waitUntil(() => server.asked.length > 2, 100_000)
  process.kill('SIGINT')
  expect((await ended).code).toBe(130)
  expect(told()).toMatch(/Asked http:\S+: 2 requests, 200 tokens in.* Its answers are kept: the same command goes on/)
  expect(told()).toContain('almanac: It was stopped.')
})

test('what cannot be is refused in a sentence', async () => {
  await expect(evaluated({ environment: ['third.tsv'] })).rejects.toThrow('third.tsv')
  await expect(evaluated({ forecasters: ['oracle'] })).rejects.toThrow(
    '--forecasters is "oracle"; give one or several of constant',
  )
  await expect(evaluated({ history: ['all'] })).rejects.toThrow('--history is "all"')
  await expect(evaluated({ effort: ['low'] })).rejects.toThrow('give --model as well')
  const empty = mkdtempSync(join(folder, 'empty-'))
  await expect(evaluate.run(evaluate.input.parse({}), inProcess(empty))).rejects.toThrow('There is no ledger')
})

test('the doctor finds ideas tried again after they failed, and what a gate saves', async () => {
  const output = await doctor.run(
    doctor.input.parse({ environment: ['first.tsv'], forecaster: 'neighbours', noise: 0.005 }),
    inProcess(folder),
  )
  const [found] = output
  expect(found!.records).toBe(39)
  expect(found!.references).toEqual({ tried: 1, unrepeated: 1 })
  expect(found!.repeated.again.length).toBeGreaterThan(10)
  const half = found!.gate.savings.find(({ threshold }) => threshold === 0.5)!
  expect(half.saved).toBeGreaterThan(10)
  expect(half.gainShareLost).toBeLessThan(half.saved / found!.gate.asked)
  const text = doctor.text(output, plain)
  expect(text).toMatch(/References measured only once or never: 1 of 1/)
  expect(text).toMatch(
    /^ {4}record \d+: more weight decay, form 5 +−0\.\d+\n {6}after record \d+: more weight decay, form 1 +−0\.\d+$/m,
  )
  expect(text).toMatch(
    /Worth setting on this history: \d+ %, [\s\S]*\nTo set it where you run: gate: \{ chance: 0\.\d+ \}/,
  )
  expect(JSON.stringify(doctor.json!(output))).toContain('"again"')
})

test('a replay: the oracle is 100 %, and whoever reads the words is above random choice', async () => {
  const input = replay.input.parse({
    environment: ['first.tsv'],
    forecasters: ['neighbours'],
    offered: 8,
    choose: 2,
    repeats: 2,
  })
  const output = await replay.run(input, inProcess(folder))
  const rows = new Map(output[0]!.rows.map(row => [row.name, row]))
  expect([...rows.keys()]).toEqual(['oracle', 'neighbours', 'at random'])
  expect(rows.get('oracle')!.naulc).toBe(1)
  expect(rows.get('at random')!.naulc).toBeLessThan(1)
  expect(rows.get('neighbours')!.curve).toHaveLength(10)
  const text = replay.text(output, plain)
  expect(text).toContain(
    'first.tsv: 39 records in time order, 2 repeats, 10 run\nGains are in val_bpb (lower is better)',
  )
  expect(text).toMatch(/Next: almanac evaluate --environment first\.tsv$/)
})

test('from the command line', async () => {
  const { code, output } = await almanac(
    folder,
    'evaluate',
    '--environment',
    'first.tsv',
    '--forecasters',
    'neighbours',
    '--json',
    '--resamples',
    '100',
  )
  expect(code).toBe(0)
  expect(JSON.parse(output).environments[0].forecasters[2].name).toBe('neighbours')
})
