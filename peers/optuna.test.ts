/** A real Optuna writes a database and a journal; what it says of its trials is what stands in the ledger. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { mergePatch } from '../src/experiment/configuration.ts'
import type { OutcomeKind } from '../src/experiment/intervention.ts'
import type { Json } from '../src/experiment/json.ts'
import { pythonPeer } from './python-peer.ts'
import { importedRuns, inOrder, type StoredEnvironment } from './stored-runs.ts'

interface Trial {
  readonly number: number
  readonly state: string
  readonly violated: boolean
  readonly configuration: Json
  /** Of a pruned trial, what it reported last. */
  readonly values: readonly number[] | null
}

const folder = mkdtempSync(join(tmpdir(), 'almanac-optuna-'))
afterAll(() => rmSync(folder, { recursive: true }))
const optuna = await pythonPeer('Optuna', ['optuna==5.0.0'])
const kinds: Readonly<Record<string, OutcomeKind>> = { COMPLETE: 'finished', PRUNED: 'timed-out', FAIL: 'crashed' }

function ended(trials: readonly Trial[]) {
  return trials.flatMap(({ state, violated, configuration, values }) => {
    const kind = violated ? 'violated' : kinds[state]
    if (kind === undefined) return []
    // In a merge patch null says that an option is not set: a choice that is None is stored as that.
    const set = mergePatch({}, configuration)
    return [{ configuration: set, kind, values: state === 'COMPLETE' ? values! : [] }]
  })
}

/** The objectives under the given names. */
function expected(trials: readonly Trial[], names: readonly string[]) {
  return inOrder(
    ended(trials).map(({ values, ...run }) => ({
      ...run,
      metrics: Object.fromEntries(values.map((value, index) => [names[index]!, value])),
    })),
  )
}

/** Only the named metrics: user attributes that are numbers stand beside them. */
function objectives({ runs }: StoredEnvironment, names: readonly string[]) {
  return inOrder(
    runs.map(run => ({
      ...run,
      metrics: Object.fromEntries(Object.entries(run.metrics).filter(([name]) => names.includes(name))),
    })),
  )
}

describe.skipIf(optuna.isMissing)(optuna.title, () => {
  test.each([
    ['its database', 'study.db', 'sqlite:///'],
    ['its journal', 'journal.log', 'journal:'],
  ])('%s', async (_, file, prefix) => {
    const path = join(folder, file)
    const told = await optuna.write<Record<string, Trial[]>>('optuna_writes.py', [`${prefix}${path}`])
    expect(told['mnist']!.map(({ state }) => state).sort()).toContain('PRUNED')
    const { environments, imported } = await importedRuns(path)
    const mnist = environments[`${file}/mnist`]!
    expect(mnist).toMatchObject({ direction: 'maximize' })
    expect(objectives(mnist, [mnist.objective])).toEqual(expected(told['mnist']!, [mnist.objective]))
    expect(mnist.runs.filter(({ kind }) => kind === 'violated').length).toBeGreaterThan(0)
    const pair = environments[`${file}/size and speed`]!
    expect(pair).toMatchObject({ objective: 'size', direction: 'minimize' })
    expect(objectives(pair, ['size', 'speed'])).toEqual(expected(told['size and speed']!, ['size', 'speed']))
    expect(imported.unusable.map(({ place }) => place).sort()).toEqual(['trial 14', 'trial 15'])
  })
})
