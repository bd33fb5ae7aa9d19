/** A real wandb writes runs offline; what it says of them is what stands in the ledger, from its folder and from one of its logs. */
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { mergePatch } from '../src/experiment/configuration.ts'
import type { Json } from '../src/experiment/json.ts'
import { pythonPeer } from './python-peer.ts'
import { importedRuns, inOrder } from './stored-runs.ts'

interface Run {
  readonly id: string
  readonly failed: boolean
  readonly configuration: Json
  /** Finite numbers by dotted path. */
  readonly summary: Readonly<Record<string, number>>
  readonly last: number
}

const folder = mkdtempSync(join(tmpdir(), 'almanac-wandb-'))
afterAll(() => rmSync(folder, { recursive: true }))
const wandb = await pythonPeer('wandb', ['wandb==0.31.0'])

/** Runs that failed have no result. */
function expected(runs: readonly Run[]) {
  return inOrder(
    runs.map(({ failed, configuration, summary, last }) => ({
      configuration: mergePatch({}, configuration),
      kind: failed ? 'crashed' : 'finished',
      // Of what keeps its lowest value alone, the last one that was logged stands beside it.
      metrics: failed ? {} : { ...summary, val_loss: last },
    })),
  )
}

describe.skipIf(wandb.isMissing)(wandb.title, () => {
  test('its folder, and the log of one run', async () => {
    const told = await wandb.write<Run[]>('wandb_writes.py', [folder])
    expect(told.map(({ summary }) => Object.keys(summary).length)).toEqual([4, 4, 4])
    const { environments } = await importedRuns(join(folder, 'wandb'))
    expect(Object.keys(environments)).toEqual(['wandb/proj x'])
    const { runs, ...rest } = environments['wandb/proj x']!
    expect(rest).toEqual({ objective: 'val_loss.min', direction: 'minimize' })
    const results = runs.map(run => ({ ...run, metrics: run.kind === 'crashed' ? {} : run.metrics }))
    expect(inOrder(results)).toEqual(expected(told))

    const [first] = told
    const [log] = globSync(`wandb/offline-run-*/run-${first!.id}.wandb`, { cwd: folder })
    const one = await importedRuns(join(folder, log!))
    expect(Object.values(one.environments).flatMap(({ runs }) => runs)).toEqual(expected([first!]))
  })
})
