/**
 * A campaign, from its candidates to its records: what is dropped and why, what is chosen with which chance, what a budget
 * allows, and what a run that fails leaves. The program is real and every run a process.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { openLedger } from '../ledger/ledger.ts'
import { campaignResume } from '../operations/campaign-resume.ts'
import { campaignStart } from '../operations/campaign-start.ts'
import { inProcess } from '../operations/in-process.ts'
import type { EnvironmentInput } from './environment-file.ts'
import { startsOf, toyEnvironment } from './toy-environment.ts'

let folder = ''
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const once = { rounds: 1, exploration: 0, forecaster: 'constant' } as const
const single: Partial<EnvironmentInput> = { seeds: 1, referenceSeeds: 1 }

function candidates(...lines: unknown[]): void {
  writeFileSync(join(folder, 'candidates.json'), lines.map(line => `${JSON.stringify(line)}\n`).join(''))
}

function rate(value: number, more: object = {}) {
  return { sentence: `Learn at ${value}`, overrides: { rate: value, ...more } }
}

describe('candidates', () => {
  test('what cannot or need not run is dropped with its reason, and the rest is not lost', async () => {
    folder = toyEnvironment(single)
    writeFileSync(
      join(folder, 'candidates.json'),
      [
        '[info] thinking',
        JSON.stringify(rate(0.1)),
        JSON.stringify({ sentence: 'The same in other words', overrides: { rate: 0.1, width: 4 } }),
        JSON.stringify(rate(1)),
        JSON.stringify({ sentence: 'Only words' }),
        JSON.stringify({ sentence: 'A diff', diff: '--- a/x\n+++ b/x\n' }),
        JSON.stringify({ overrides: { rate: 2 } }),
        JSON.stringify({ ...rate(3), colour: 'red' }),
        JSON.stringify({ sentence: 'A typo', overrides: { rte: 3 } }),
        '',
      ].join('\n'),
    )
    const first = await campaignStart.run({ ...once, choose: 9 }, inProcess(folder))
    expect(first.rounds).toMatchObject([{ considered: 9, chosen: [{ explored: false, probability: 1 }] }])
    const reasons = Object.fromEntries(first.rounds[0]!.dropped.map(({ sentence, reason }) => [sentence, reason]))
    expect(reasons).toMatchObject({
      'candidates.json, line 1': expect.stringContaining('It is not JSON'),
      'The same in other words': 'It is the same as another candidate of this round: Learn at 0.1',
      'Learn at 1': 'It changes nothing: the result equals the reference.',
      'Only words': 'It says nothing to run: neither overrides nor a diff.',
      'A diff': expect.stringContaining('no commit for it'),
      'A typo':
        'It sets what may be misspelt (rte, and the reference has rate): correct it, or give the reference the option too.',
      'candidates.json, line 7': expect.stringContaining('sentence is missing'),
      'candidates.json, line 8': expect.stringContaining('there is no field "colour"'),
    })
    expect(startsOf(folder)).toEqual(['1 4 1', '0.1 4 1'])

    candidates(rate(0.1), rate(0.2))
    const second = await campaignStart.run({ ...once, choose: 9 }, inProcess(folder))
    expect(second.rounds[0]).toMatchObject({ considered: 2, ranBefore: 1, dropped: [] })
    expect(startsOf(folder)).toEqual(['1 4 1', '0.1 4 1', '0.2 4 1'])
  })

  test('none at all: nothing is paid for, and that is said', async () => {
    folder = toyEnvironment(single)
    candidates()
    await expect(campaignStart.run(once, inProcess(folder))).rejects.toThrow('There was no candidate in round 1.')
    candidates(rate(1))
    await expect(campaignStart.run(once, inProcess(folder))).rejects.toThrow(
      'No candidate was left in round 1: 1 was dropped (1: It changes nothing: the result equals the reference.)',
    )
    rmSync(join(folder, 'candidates.json'))
    await expect(campaignStart.run(once, inProcess(folder))).rejects.toThrow(
      'candidates: "candidates.json" cannot be read (ENOENT)',
    )
    expect(startsOf(folder)).toEqual([])
  })

  test('cards are listed with their values, and in pairs', async () => {
    folder = toyEnvironment({ ...single, candidates: { cards: 'cards.json', pairs: 0.5 } })
    const cards = [
      { name: 'rate', sentence: 'Learn at {value}.', tag: 'optimiser', option: 'rate', values: [0.1, 0.3] },
      { name: 'width', sentence: 'Width {value}.', tag: 'size', option: 'width', values: [3, 5] },
    ]
    writeFileSync(join(folder, 'cards.json'), JSON.stringify(cards))
    const { rounds, records } = await campaignStart.run({ ...once, choose: 8, runs: 3 }, inProcess(folder))
    expect(rounds).toMatchObject([{ considered: 8, dropped: [] }])
    expect(records.map(({ intervention }) => intervention.tags.length).sort()).toEqual([1, 1, 1, 1, 2, 2, 2, 2])

    rmSync(folder, { recursive: true })
    folder = toyEnvironment({ ...single, candidates: { cards } })
    const listed = await campaignStart.run({ ...once, choose: 8, runs: 1 }, inProcess(folder))
    expect(listed.rounds).toMatchObject([{ considered: 4, dropped: [] }])
    writeFileSync(join(folder, 'ideas.json'), JSON.stringify(cards))
    await expect(campaignStart.run({ ...once, candidates: 'ideas.json' }, inProcess(folder))).rejects.toThrow(
      'ideas.json holds cards and not candidates: let the environment file say candidates: { cards: "ideas.json" }.',
    )
  })
})

describe('a program that prints candidates', () => {
  const printing = (program: string): Partial<EnvironmentInput> => ({ ...single, candidates: { program } })

  test('is told the round, the seed and the records so far; its bad lines cost only themselves', async () => {
    folder = toyEnvironment(printing('{node} propose.mjs {round} {seed} {records}'))
    writeFileSync(
      join(folder, 'propose.mjs'),
      `import { readFileSync, writeFileSync } from 'node:fs'
       const [round, seed, records] = process.argv.slice(2)
       writeFileSync('told-' + round, seed + ' ' + readFileSync(records, 'utf8'))
       console.log('proposing\\n' + JSON.stringify({ sentence: 'r' + round, overrides: { rate: round / 10 } }))`,
    )
    const { rounds, records } = await campaignStart.run({ ...once, rounds: 2, seed: 7 }, inProcess(folder))
    expect(rounds.map(({ dropped }) => dropped.length)).toEqual([1, 1])
    expect(records.map(({ intervention }) => intervention.overrides)).toEqual([{ rate: 0.1 }, { rate: 0.2 }])
    expect(readFileSync(join(folder, 'told-1'), 'utf8')).toBe('7 ')
    const told = readFileSync(join(folder, 'told-2'), 'utf8').slice(2)
    expect(JSON.parse(told)).toMatchObject({ sentence: 'r1', gain: expect.any(Number), outcome: 'finished' })
  })

  test('that fails ends the campaign with its last words, and the campaign can be resumed', async () => {
    folder = toyEnvironment(printing('test -e mended || { echo "no key" >&2; exit 3; }; cat candidates.json'))
    const context = inProcess(folder)
    await expect(campaignStart.run(once, context)).rejects.toThrow(
      /candidates: the program ended with exit code 3: no key; its output is in /,
    )
    expect(startsOf(folder)).toEqual([])
    writeFileSync(join(folder, 'mended'), '')
    const { state, records } = await campaignResume.run({}, inProcess(folder))
    expect({ state, records: records.length }).toEqual({ state: 'finished', records: 3 })
  })
})

describe('choosing', () => {
  test('the chance of each candidate is stored before anything runs, and adds up to the places', async () => {
    folder = toyEnvironment(single)
    await campaignStart.run({ ...once, choose: 3, exploration: 0.5, runs: 1 }, inProcess(folder))
    await using ledger = await openLedger(join(folder, '.almanac', 'ledger.db'))
    const [round] = await ledger.roundsOf(1)
    expect(round!.candidates).toHaveLength(8)
    expect(round!.candidates.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(3, 9)
    expect(round!.candidates.every(({ forecast, probability }) => forecast !== null && probability > 0)).toBe(true)
    expect(round!.candidates.filter(({ choice }) => choice !== 'passed-over')).toHaveLength(3)
    const runs = await ledger.runsOfCampaign(1)
    expect(runs).toHaveLength(1)
    expect(round!.candidates.every(({ forecast }) => forecast!.madeAt <= runs[0]!.claimedAt)).toBe(true)
  })

  test('more places than the pool has: all of the pool run; a pool is drawn from all candidates', async () => {
    folder = toyEnvironment(single)
    const { rounds } = await campaignStart.run({ ...once, pool: 2, choose: 5 }, inProcess(folder))
    expect(rounds).toMatchObject([{ considered: 2, chosen: [{ probability: 1 }, { probability: 1 }] }])
    expect(startsOf(folder)).toHaveLength(3)
  })

  test('a history of one record, and gains that are all equal, are enough to go on', async () => {
    folder = toyEnvironment({
      ...single,
      command: 'echo loss: 1 {config}',
      constraints: [],
      metrics: [{ name: 'loss', direction: 'minimize', pattern: '^loss: (\\S+)' }],
    })
    const { state, records } = await campaignStart.run({ rounds: 4, choose: 1 }, inProcess(folder))
    expect({ state, gains: records.map(({ measured }) => measured?.gain) }).toEqual({
      state: 'finished',
      gains: [0, 0, 0, 0],
    })
  })
})

test('a campaign that was stopped is named when another starts, with the flags that reach it', async () => {
  folder = toyEnvironment(single)
  await campaignStart.run(once, inProcess(folder, { stop: AbortSignal.abort() }))
  const context = inProcess(folder, { sameFlags: ' --directory elsewhere' })
  await campaignStart.run({ ...once, choose: 1 }, context)
  expect(context.notes()).toEqual([
    'Campaign 1 was stopped before its end; "almanac campaign resume 1 --directory elsewhere" goes on with it. This is a new one.',
  ])
})

test('resume goes for the latest campaign that can go on', async () => {
  folder = toyEnvironment(single)
  await campaignStart.run(once, inProcess(folder, { stop: AbortSignal.abort() }))
  await campaignStart.run({ ...once, choose: 1 }, inProcess(folder))
  expect(await campaignResume.run({}, inProcess(folder))).toMatchObject({ campaign: 1, state: 'finished' })
  await expect(campaignResume.run({}, inProcess(folder))).rejects.toThrow('Campaign 2 is finished. Its round is done.')
})

describe('a budget', () => {
  test('of runs is kept exactly, two at a time too, and the reference counts', async () => {
    folder = toyEnvironment({ concurrency: 2 })
    const { why, runs } = await campaignStart.run({ ...once, choose: 4, runs: 6 }, inProcess(folder))
    expect({ why, runs }).toEqual({ why: 'The budget of 6 runs is spent.', runs: 6 })
    expect(startsOf(folder)).toHaveLength(6)
  })

  test('of hours or cost ends after the run that spends it', async () => {
    folder = toyEnvironment({ concurrency: 1, costPerHour: 1 })
    const hours = await campaignStart.run({ ...once, hours: 1e-9 }, inProcess(folder))
    expect({ why: hours.why, runs: hours.runs }).toEqual({ why: 'The budget of 1e-9 run hours is spent.', runs: 1 })
    const cost = await campaignStart.run({ ...once, cost: 1e-9 }, inProcess(folder))
    expect({ state: cost.state, runs: cost.runs }).toEqual({ state: 'finished', runs: 1 })
  })

  test('of cost needs a price', async () => {
    folder = toyEnvironment()
    await expect(campaignStart.run({ ...once, cost: 1 }, inProcess(folder))).rejects.toThrow(
      '--cost is 1, but the environment file has no "costPerHour"',
    )
  })
})

describe('what would be called better', () => {
  const near = [rate(0.5), rate(0.499), rate(2)]

  test('and may owe it to luck is run again with fresh seeds, and called so after them', async () => {
    folder = toyEnvironment({ concurrency: 1 })
    candidates(...near)
    const context = inProcess(folder)
    const { records } = await campaignStart.run({ ...once, choose: 3 }, context)
    const told = context.events.flatMap(event =>
      event.type === 'record-measured' ? [`${event.sentence}: ${event.verdict}${event.again ? ', again' : ''}`] : [],
    )
    // The second is too close to the first to say which is ahead.
    expect(told).toEqual([
      'Learn at 0.5: better',
      'Learn at 0.499: better, again',
      'Learn at 2: worse',
      'Learn at 0.5: better',
      'Learn at 0.499: better',
    ])
    expect(records.map(({ runs }) => runs.map(({ seed }) => seed))).toEqual([
      [1, 2, 3, 4],
      [1, 2, 3, 4],
      [1, 2],
    ])
    await using ledger = await openLedger(join(folder, '.almanac', 'ledger.db'))
    expect((await ledger.verdictsOf(records[1]!.id)).map(({ runIds }) => runIds.length)).toEqual([4 + 3])
  })

  test('is run again as far as the budget goes, and not at all where that is not wanted', async () => {
    folder = toyEnvironment({ concurrency: 1 })
    candidates(...near)
    const cut = await campaignStart.run({ ...once, choose: 3, runs: 10 }, inProcess(folder))
    const [first, second] = cut.records.map(({ id }) => id)
    expect(cut).toMatchObject({ runs: 10, referenceRuns: 3, confirmingRuns: 1, unconfirmed: [first, second] })
    const text = campaignStart.text(cut, { width: 120, styling: (_, words) => words })
    expect(text).toContain('10 runs (3 of the reference, 1 to confirm)')
    expect(text).toContain(
      `Called better, but not run again as it should be, for the campaign ended first: records ${first}, ${second}.`,
    )
    rmSync(folder, { recursive: true })
    folder = toyEnvironment({ concurrency: 1, campaign: { confirm: 0 } })
    candidates(...near)
    expect(await campaignStart.run({ ...once, choose: 3 }, inProcess(folder))).toMatchObject({ runs: 9 })
  })

  test('only now, that more runs tell the noise, is run again too', async () => {
    const command = 'node losses.mjs {config} {seed}'
    const reference = { configuration: { losses: [1, 1.01, 0.99] } }
    const metrics = [{ name: 'loss', direction: 'minimize' as const, pattern: '^loss: (\\S+)' }]
    folder = toyEnvironment({ command, reference, metrics, constraints: [], concurrency: 1 })
    writeFileSync(
      join(folder, 'losses.mjs'),
      `import { readFileSync } from 'node:fs'
       const [, , configuration, seed] = process.argv
       console.log('loss: ' + JSON.parse(readFileSync(configuration, 'utf8')).losses[seed - 1])`,
    )
    const losses = (sentence: string, ...losses: number[]) => ({ sentence, overrides: { losses } })
    // At first the second gains 1.87 standard errors (P = 0.945, 6 degrees of freedom); with the first's fresh seeds, 2.16 (0.969).
    candidates(losses('First', 0.95, 0.97, 0.96, 0.96), losses('Second', 0.969, 0.989, 0.979, 0.979))
    const { records } = await campaignStart.run({ ...once, choose: 2 }, inProcess(folder))
    expect(records.map(({ verdict, runs }) => [verdict, runs.length])).toEqual([
      ['better', 4],
      ['better', 4],
    ])
  })
})

describe('what fails', () => {
  test('is a record with its reason, never the end', async () => {
    folder = toyEnvironment({ ...single, budget: { seconds: 2 } })
    candidates(
      rate(0.1, { fate: 'crash' }),
      rate(0.2, { fate: 'diverge' }),
      rate(0.3, { width: 40 }),
      rate(0.4, { fate: 'hang' }),
      rate(0.01),
    )
    const context = inProcess(folder)
    const { state, records } = await campaignStart.run({ ...once, choose: 5 }, context)
    expect(state).toBe('finished')
    expect(context.notes()).toEqual(['The reference configuration has no option "fate": 3 candidates add it.'])
    const ends = records.map(({ outcome, verdict, runs }) => [outcome, verdict, runs[0]!.outcome!.reason])
    expect(ends).toEqual([
      ['crashed', 'failed', 'exit code 3: no such layer'],
      ['diverged', 'failed', 'loss is NaN'],
      ['violated', 'failed', "size is 40, and may be at most 2 times the reference's 4 (8)"],
      ['timed-out', 'failed', expect.stringContaining('2 s')],
      ['finished', 'inconclusive', null],
    ])
  })

  test('a reference that fails is said with the reason, and is run again once the program is mended', async () => {
    folder = toyEnvironment(single)
    const program = readFileSync(join(folder, 'program.mjs'), 'utf8')
    writeFileSync(join(folder, 'program.mjs'), 'throw new Error("no data")')
    await expect(campaignStart.run(once, inProcess(folder))).rejects.toThrow(
      /The reference did not finish \(crashed: exit code 1.*\), so nothing can be compared with it/s,
    )
    writeFileSync(join(folder, 'program.mjs'), program)
    const { state, records } = await campaignResume.run({}, inProcess(folder))
    expect(state).toBe('finished')
    expect(records.every(({ measured }) => measured !== null)).toBe(true)
  })

  test('a reference that fails on some seeds is measured on the others', async () => {
    folder = toyEnvironment({
      seeds: 1,
      referenceSeeds: 3,
      command: 'test {seed} != 2 && node program.mjs {config} {seed} {out}',
    })
    candidates(rate(0.1))
    const { records } = await campaignStart.run(once, inProcess(folder))
    expect(records[0]).toMatchObject({ verdict: 'better', measured: { standardError: expect.any(Number) } })
  })
})

test('the reference is not judged by a constraint that is relative to itself', async () => {
  // Its seeds differ by more than a thousandth: each run against those before it would break the bound.
  const constraints = [{ metric: 'loss', atMost: 1.0001, relativeTo: 'reference' as const }]
  folder = toyEnvironment({ constraints, seeds: 1, referenceSeeds: 5 })
  candidates(rate(3), rate(0.01))
  await campaignStart.run({ ...once, choose: 2 }, inProcess(folder))
  await using ledger = await openLedger(join(folder, '.almanac', 'ledger.db'))
  const [record] = await ledger.recordsOf()
  const reference = await ledger.runsOf(await ledger.ensureReference(record!.environment.version.id))
  expect(reference.map(({ outcome }) => outcome?.kind)).toEqual(Array(5).fill('finished'))
  const outcomes = (await ledger.recordsOf()).map(({ intervention, outcome }) => [intervention.sentence, outcome])
  expect(outcomes).toEqual([
    ['Learn at 3', 'violated'],
    ['Learn at 0.01', 'finished'],
  ])
})
