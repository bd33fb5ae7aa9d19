/** The gate as a user meets it, on a real program: what `almanac run` refuses and shows, what a campaign holds back. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openLedger } from '../ledger/ledger.ts'
import { campaignStart } from '../operations/campaign-start.ts'
import { forecast } from '../operations/forecast.ts'
import { inProcess } from '../operations/in-process.ts'
import { NothingToDo } from '../operations/operation.ts'
import { promote } from '../operations/promote.ts'
import { run } from '../operations/run.ts'
import { gateRule } from './gate.ts'
import { referenceDifference } from './reference-difference.ts'
import { startsOf, toyEnvironment, toyInput } from './toy-environment.ts'

let folder = ''
beforeAll(async () => {
  folder = toyEnvironment()
  await almanacRun({ set: ['rate=3'] })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Input = Partial<Parameters<typeof run.run>[0]>

/** What was told beside the forecast. */
async function almanacRun(input: Input): Promise<string[]> {
  const context = inProcess(folder)
  await run.run({ message: 'faster', history: 'pooled', ...input }, context)
  return context.notes().filter(note => !/^Forecast( of the gain in \S+)?: /.test(note))
}

async function refusalOf(input: Input): Promise<string> {
  const before = startsOf(folder).length
  const error = await almanacRun(input).then(
    () => null,
    error => error as Error,
  )
  expect(error).toBeInstanceOf(NothingToDo)
  expect(startsOf(folder)).toHaveLength(before)
  return error!.message
}

describe('almanac run', () => {
  test('refuses what goes further than what was worse, and runs it anyway where asked', async () => {
    const further = { set: ['rate=10'] }
    expect(await refusalOf(further)).toMatch(
      /^It is like what was worse \(record 2, by 2\.\d: faster\)\.\nIt was not run; --anyway runs it all the same\.$/,
    )
    expect(await almanacRun({ ...further, anyway: true })).toEqual([
      expect.stringMatching(
        /^It is like what was worse \(record 2, by 2\.\d: faster\)\. That does not hold it back\.$/,
      ),
    ])
  })

  test('is announced by a forecast, which runs nothing', async () => {
    const output = await forecast.run({ set: ['rate=30'], history: 'pooled' }, inProcess(folder))
    expect(output.foreseen[0]!.gate[0]).toEqual({
      refuses: true,
      reason: expect.stringMatching(/^It is like what was worse/),
    })
    const text = forecast.text(output, { width: 120, styling: (_, words) => words })
    expect(text).toMatch(/^ {2}"almanac run" refuses it: It is like what was worse \(record \d/m)
  })

  test('only shows what goes less far, and says nothing of the other way', async () => {
    expect(await almanacRun({ set: ['rate=2'], seeds: 1 })).toContainEqual(
      expect.stringMatching(
        /^It goes the way that was worse \(record 2, by 2\.\d: faster\), only less far\. That does not hold it back\.$/,
      ),
    )
    expect(await almanacRun({ message: 'slower', set: ['rate=0.3'] })).toEqual([])
  })

  test('more seeds of what was worse are a deliberate repeat, and nothing is asked', async () => {
    expect(await almanacRun({ set: ['rate=3'], seeds: 3 })).toEqual([])
  })

  test('refuses a forecast that is lower than asked for, by flag or by the environment file', async () => {
    const sentence = /^Its forecast is low \(a chance of \S+ of a gain above 50, and 0\.5 is asked for\)\./
    expect(await refusalOf({ set: ['rate=0.5'], belowGain: 50 })).toMatch(sentence)
    const write = (gate?: object) =>
      writeFileSync(join(folder, 'almanac.config.json'), JSON.stringify({ ...toyInput, gate }))
    write({ belowGain: 50 })
    expect(await refusalOf({ set: ['rate=0.5'] })).toMatch(sentence)
    expect(await almanacRun({ set: ['rate=0.5'], seeds: 1, belowGain: -50 })).toEqual([])
    write({ triedBefore: 'show' })
    expect(await almanacRun({ set: ['rate=20'], seeds: 1 })).toContainEqual(expect.stringMatching(/^It is like what/))
    write()
  })

  test('an idea that failed against another reference is shown with what has changed since', async () => {
    await promote.run({ record: undefined, anyway: false, concurrency: undefined }, inProcess(folder))
    expect(await almanacRun({ set: ['rate=3'], seeds: 1 })).toContainEqual(
      expect.stringMatching(
        /^It is like what was worse \(record 2, .*\), but against another reference: since then rate 1 → 0\.3\. It may deserve another try\. That does not hold it back\.$/,
      ),
    )
  })
})

test('almanac run: what looks better and may be luck gets fresh seeds first, as many as asked for', async () => {
  const place = toyEnvironment()
  onTestFinished(() => rmSync(place, { recursive: true, force: true }))
  const context = inProcess(place)
  const measured = async (input: Input) => {
    const { record } = await run.run({ message: 'slower', history: 'none', ...input }, context)
    return { verdict: record.verdict, seeds: record.runs.map(({ seed }) => seed) }
  }
  expect(await measured({ set: ['rate=0.98'] })).toEqual({ verdict: 'better', seeds: [1, 2, 3, 4] })
  expect(context.notes()).toContain('It looks better, and may be luck: 2 more seeds (--confirm).')
  // So close to the best that which is ahead is not sure.
  expect(await measured({ set: ['rate=0.979'], confirm: 1 })).toEqual({ verdict: 'better', seeds: [1, 2, 3] })
  expect(await measured({ set: ['rate=0.981'], confirm: 0 })).toMatchObject({ seeds: [1, 2] })
  expect(await measured({ set: ['rate=0.978'], seeds: 2 })).toMatchObject({ seeds: [1, 2] })
  // Beyond doubt, and far ahead.
  expect(await measured({ set: ['rate=0.1'] })).toEqual({ verdict: 'better', seeds: [1, 2] })
})

test('one of the two thresholds is enough: the other is no gain, or one half', () => {
  expect(gateRule({}, {})).toEqual({ triedBefore: 'refuse', forecast: null })
  expect(gateRule({ chance: 0.2 }, {}).forecast).toEqual({ belowGain: 0, chance: 0.2 })
  expect(gateRule({}, { belowGain: 3 }).forecast).toEqual({ belowGain: 3, chance: 0.5 })
  expect(gateRule({ belowGain: 1 }, { belowGain: 3, chance: 0.1 }).forecast).toEqual({ belowGain: 1, chance: 0.1 })
})

test('how references differ: options by name and value, three of them, and the code', () => {
  const base = { configuration: { a: 1, b: 2, c: 3, d: 4, e: 'x' }, commit: 'abcdef0123', tree: 't1', code: null }
  const later = { ...base, configuration: { a: 9, b: 8, c: 7, d: 6, f: [1] }, commit: '1234567890', tree: 't2' }
  expect(referenceDifference(base, base)).toBeNull()
  expect(referenceDifference(base, later)).toBe(
    'since then a 1 → 9, b 2 → 8, c 3 → 7, 3 more options, the code (abcdef0 → 1234567)',
  )
  expect(referenceDifference({ ...base, code: 'x' }, { ...base, code: 'y' })).toBe('since then the code')
})

describe('a campaign', () => {
  const once = { rounds: 1, forecaster: 'constant', choose: 3 } as const
  const tries = [3, 10, 20].map(rate => ({ sentence: `Learn at ${rate}`, overrides: { rate } }))
  let place = ''
  afterAll(() => rmSync(place, { recursive: true, force: true }))
  const candidates = (...list: readonly object[]) => writeFileSync(join(place, 'candidates.json'), JSON.stringify(list))

  test('holds back what the gate refuses, with its reason and its chance, and explores among it', async () => {
    place = toyEnvironment({}, tries.slice(0, 1))
    await campaignStart.run({ ...once, exploration: 0 }, inProcess(place))
    await using ledger = await openLedger(join(place, '.almanac', 'ledger.db'))
    const [worse] = await ledger.recordsOf()
    expect(worse!.verdict).toBe('worse')

    candidates(...tries, { sentence: 'Slower', overrides: { rate: 0.5 } })
    const strict = await campaignStart.run({ ...once, exploration: 0 }, inProcess(place))
    const [round] = await ledger.roundsOf(strict.campaign)
    const held = round!.candidates.filter(({ gated }) => gated !== null)
    expect(held).toHaveLength(2)
    for (const each of held) {
      expect(each).toMatchObject({ probability: 0, choice: 'passed-over', forecast: null })
      expect(each.gated).toContain(`It is like what was worse (record ${worse!.id}, by `)
    }
    expect(strict.rounds[0]!.ranBefore).toBe(1)
    expect(strict.rounds[0]!.dropped.map(({ reason }) => reason.replace(/ \(.*/, ''))).toEqual(
      held.map(() => 'It is like what was worse'),
    )
  })

  test('that may run nothing says so; all of what it holds back has a chance where it explores', async () => {
    candidates({ sentence: 'Wild', overrides: { rate: 50 } })
    await expect(campaignStart.run({ ...once, rounds: 2, exploration: 0 }, inProcess(place))).rejects.toThrow(
      'The gate held back every candidate of 2 rounds (2: It is like what was worse); other candidates',
    )
    const { rounds } = await campaignStart.run({ ...once, exploration: 1 }, inProcess(place))
    expect(rounds).toMatchObject([{ dropped: [], chosen: [{ explored: true, probability: 1 }] }])
  })
})
