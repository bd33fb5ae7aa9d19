/** What a list of records tells a person, and what `promote` says where nothing was measured often enough. */
import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { toyEnvironment, toyInput } from '../campaign/toy-environment.ts'
import { inProcess } from './in-process.ts'
import { promote } from './promote.ts'
import { records } from './records.ts'
import { run } from './run.ts'

let folder = ''
beforeAll(async () => {
  folder = toyEnvironment({ seeds: 1, referenceSeeds: 1 })
  const input = { history: 'pooled', confirm: 0, anyway: true } as const
  await expect(promote.run({ record: undefined, anyway: false }, inProcess(folder))).rejects.toThrow(
    'nothing to promote',
  )
  await run.run({ ...input, message: 'far', set: ['rate=0.3'] }, inProcess(folder))
  await run.run({ ...input, message: 'learn at 0.2, and wider', set: ['rate=0.2'] }, inProcess(folder))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const told = async (input: object = {}) =>
  records.text(await records.run(records.input.parse({ sort: 'oldest', ...input }), inProcess(folder)), {
    width: 120,
    styling: (_, words) => words,
  })

test('the metric and which way is good, the options that a sentence does not name, and how to see one in full', async () => {
  const text = await told()
  expect(text).toMatch(/^2 +far \(rate 1 → 0\.3\) /m)
  expect(text).toMatch(/^3 +learn at 0\.2, and wider {2}/m)
  expect(text).toContain('2 records. Gains are in loss (lower is better): above 0 is better than the reference.\n')
  expect(text).toContain('Without repeats nothing is known of the noise')
  expect(text).toMatch(/: almanac records --record 2$/)
  expect(await told({ all: true })).toMatch(/--record 2 --all$/)
})

test('one in full: each run with its value, the forecast before it, and why the verdict', async () => {
  const text = await told({ record: 2 })
  expect(text).toMatch(/^ {2}run +finished, loss 2\.\d+, seed 1$/m)
  expect(text).toMatch(/^ {2}forecast +\S+ \[.*\] \(80 %\), \d+ % to finish, by stack$/m)
  expect(text).toMatch(/^ {2}verdict +inconclusive: nothing was repeated, and nothing is known of the noise$/m)
})

test('where none is sure to be better, promote names the best there is', async () => {
  await expect(promote.run({ record: undefined, anyway: false }, inProcess(folder))).rejects.toThrow(
    /The best is record (\d) \(\+[\d.]+, inconclusive\): run it again with more --seeds, or take it all the same: almanac promote \1 --anyway$/,
  )
})

test('that a change of its files makes another reference is told, once', async () => {
  const place = toyEnvironment({ reference: { ...toyInput.reference, code: ['program.mjs'] } })
  const notes = async () => {
    const context = inProcess(place)
    await records.run(records.input.parse({}), context)
    return context.notes()
  }
  expect(await notes()).toEqual([])
  appendFileSync(join(place, 'program.mjs'), '// quicker\n')
  expect(await notes()).toEqual([expect.stringMatching(/^The reference has changed with its files/)])
  expect(await notes()).toEqual([])
  rmSync(place, { recursive: true })
})
