import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Environment, Family } from '../experiment/environment.ts'
import { interventionHash } from '../experiment/identity.ts'
import type { Outcome } from '../experiment/intervention.ts'
import { forecasters } from '../forecast/forecaster.ts'
import { type Ledger, openLedger } from '../ledger/ledger.ts'
import { historyOf } from './history.ts'

let folder = ''
let ledger: Ledger
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-history-'))
  ledger = await openLedger(join(folder, 'ledger.db'))
})
afterEach(async () => {
  await ledger.close()
  rmSync(folder, { recursive: true, force: true })
})

async function environmentOf(name: string, rate: number): Promise<Environment> {
  const family: Family = {
    name,
    description: '',
    metrics: [{ name: 'loss', direction: 'minimize' }],
    constraints: [],
    command: null,
    budget: {},
    evaluator: {},
    data: [],
  }
  const familyId = await ledger.ensureFamily(family)
  const version = await ledger.ensureVersion(familyId, {
    configuration: { rate },
    commit: null,
    tree: null,
    code: null,
  })
  return { family, familyId, version }
}

/** An intervention with one run, or none where there is no loss. */
async function tried({ version }: Environment, rate: number, loss: number | null): Promise<number> {
  const overrides = { rate }
  const hash = interventionHash({ configuration: overrides, tree: null })
  const intervention = { sentence: `Learn at ${rate}`, overrides, diff: null, tags: [], origin: null }
  const { id } = await ledger.ensureIntervention(version.id, hash, intervention)
  if (loss !== null) await ledger.importRuns([{ interventionId: id, seed: 1, attempt: 0, outcome: finished(loss) }])
  return id
}

function finished(loss: number): Outcome {
  const unknown = { startedAt: null, finishedAt: null, seconds: null, cost: null }
  return { kind: 'finished', reason: null, metrics: { loss }, exitCode: 0, ...unknown }
}

test('each condition sees the records of its environments, at any version, and only what has ended', async () => {
  const here = await environmentOf('here', 1)
  const later = await environmentOf('here', 2)
  const there = await environmentOf('there', 1)
  const first = await tried(here, 5, 0.5)
  const second = await tried(later, 5, 0.6)
  const other = await tried(there, 5, 0.7)
  await tried(here, 7, null)

  const ids = async (kind: Parameters<typeof historyOf>[0]) =>
    (await historyOf(kind, here, ledger)).map(({ id }) => id).sort()
  expect(await ids('none')).toEqual([])
  expect(await ids('in-environment')).toEqual([first, second])
  expect(await ids('cross-environment')).toEqual([other])
  expect(await ids('pooled')).toEqual([first, second, other])
})

test('without history a forecast is the same to the last bit, whatever the ledger holds', async () => {
  const here = await environmentOf('here', 1)
  const candidate = {
    intervention: { sentence: 'Learn at 3', overrides: { rate: 3 }, diff: null, tags: [], origin: null },
    changes: [],
  }
  const forecast = async () => forecasters.kernel(here, await historyOf('none', here, ledger), [candidate], { seed: 1 })
  const before = await forecast()
  await tried(here, 5, 0.5)
  await tried(await environmentOf('there', 1), 3, 0.1)
  expect(await forecast()).toEqual(before)
})
