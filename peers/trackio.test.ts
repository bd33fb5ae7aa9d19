/** A real Trackio writes a project; what it says of its runs is what stands in the ledger. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Json } from '../src/experiment/json.ts'
import { pythonPeer } from './python-peer.ts'
import { importedRuns, inOrder } from './stored-runs.ts'

interface Run {
  readonly name: string
  readonly configuration: Json
  /** In the order in which they were logged. */
  readonly losses: readonly number[]
}

const folder = mkdtempSync(join(tmpdir(), 'almanac-trackio-'))
afterAll(() => rmSync(folder, { recursive: true }))
const trackio = await pythonPeer('Trackio', ['trackio==0.43.0'])

function expected(runs: readonly Run[], chosen: (losses: readonly number[]) => number, name: string) {
  return inOrder(
    runs
      .filter(({ losses }) => losses.length > 0)
      .map(({ configuration, losses }) => ({ configuration, kind: 'finished', metrics: { [name]: chosen(losses) } })),
  )
}

describe.skipIf(trackio.isMissing)(trackio.title, () => {
  test('its database, and the folder of its databases', async () => {
    const told = await trackio.write<Run[]>('trackio_writes.py', [], { TRACKIO_DIR: folder })
    expect(told.filter(({ losses }) => losses.length === 5)).toHaveLength(3)
    for (const [source, name] of [
      [join(folder, 'mnist.db'), 'mnist.db/mnist'],
      [folder, `${folder.split('/').at(-1)}/mnist`],
    ] as const) {
      const { environments, imported } = await importedRuns(source)
      expect(Object.keys(environments)).toEqual([name])
      const { runs, ...rest } = environments[name]!
      expect(rest).toEqual({ objective: 'val_loss', direction: 'minimize' })
      const onlyLoss = runs.map(run => ({ ...run, metrics: { val_loss: run.metrics['val_loss']! } }))
      expect(inOrder(onlyLoss)).toEqual(expected(told, losses => losses.at(-1)!, 'val_loss'))
      // Numbers that are not finite are no metrics.
      expect(new Set(runs.flatMap(({ metrics }) => Object.keys(metrics)))).toEqual(new Set(['val_loss', 'train/loss']))
      expect(imported.unusable.every(({ reason }) => reason === 'logged no number')).toBe(true)
    }
    const { environments } = await importedRuns(join(folder, 'mnist.db'), '--metric', 'val_loss:max')
    const { runs } = environments['mnist.db/mnist']!
    const onlyMost = runs.map(run => ({ ...run, metrics: { 'val_loss:max': run.metrics['val_loss:max']! } }))
    expect(inOrder(onlyMost)).toEqual(expected(told, losses => Math.max(...losses), 'val_loss:max'))
  })
})
