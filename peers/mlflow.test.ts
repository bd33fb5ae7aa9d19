/** A real MLflow writes a database and a file store and serves the database; what it says of its runs is what stands in the ledger. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { mergePatch } from '../src/experiment/configuration.ts'
import type { OutcomeKind } from '../src/experiment/intervention.ts'
import type { Json } from '../src/experiment/json.ts'
import { pythonPeer } from './python-peer.ts'
import { importedRuns, inOrder, type StoredEnvironment } from './stored-runs.ts'

interface Run {
  readonly id: string
  readonly name: string
  readonly status: string
  /** What was logged as parameters; null for what is not to be read. */
  readonly configuration: Json
  /** Last and lowest; null where there is none, or NaN. */
  readonly loss: number | null
  readonly lowest: number | null
}

const folder = mkdtempSync(join(tmpdir(), 'almanac-mlflow-'))
const server: { process: ChildProcess | null } = { process: null }
afterAll(async () => {
  if (server.process) {
    const ended = new Promise(resolve => server.process!.once('exit', resolve))
    // The group: MLflow's server has workers of its own.
    process.kill(-server.process.pid!, 'SIGTERM')
    await ended
  }
  rmSync(folder, { recursive: true })
})

// MLflow without what serves models: its stores, its server and what they need.
const mlflow = await pythonPeer('MLflow', [
  'mlflow-skinny==3.17.2',
  ...'alembic sqlalchemy flask flask-cors graphene pandas docker huey aiohttp skops'.split(' '),
])
const kinds: Readonly<Record<string, OutcomeKind>> = { FINISHED: 'finished', FAILED: 'crashed', KILLED: 'cancelled' }

function expected(runs: readonly Run[], which: 'loss' | 'lowest', name: string) {
  return inOrder(
    runs.flatMap(({ status, configuration, ...run }) => {
      if (configuration === null) return []
      const value = run[which]
      const kind = status === 'FINISHED' && value === null ? 'diverged' : kinds[status]!
      // In a merge patch null says that an option is not set: a parameter that is None is stored as that.
      return [{ configuration: mergePatch({}, configuration), kind, metrics: value === null ? {} : { [name]: value } }]
    }),
  )
}

const database = join(folder, 'mlflow.db')

async function written(store: string): Promise<Run[]> {
  return mlflow.write<Run[]>('mlflow_writes.py', [store])
}

async function agrees(source: string, told: readonly Run[]): Promise<void> {
  const { environments, imported } = await importedRuns(source, '--metric', 'val/loss', '--direction', 'minimize')
  const [[name, stored], ...others] = Object.entries(environments) as [[string, StoredEnvironment]]
  expect(others).toEqual([])
  // Behind the name of the source, in which an address has no host.
  expect(name).toMatch(/\/sweep of größe$/)
  expect(stored).toEqual({
    objective: 'val/loss',
    direction: 'minimize',
    runs: expected(told, 'loss', 'val/loss'),
  })
  expect(imported.environments[0]!.reference!.sentence).toContain('Learn at')
  // Deleted, still running, and the run around two others.
  const unread = told.filter(({ configuration }) => configuration === null)
  expect(unread).toHaveLength(3)
  expect(imported.unusable.map(({ place }) => place.slice(0, 12)).toSorted()).toEqual(
    unread.map(({ id }) => `run ${id.slice(0, 8)}`).toSorted(),
  )
  const lowest = await importedRuns(source, '--metric', 'val/loss:min', '--direction', 'minimize')
  const { runs } = Object.values(lowest.environments)[0]!
  const values = runs.map(({ metrics }) => ({ metrics: { 'val/loss:min': metrics['val/loss:min'] } }))
  expect(values).toEqual(
    expect.arrayContaining(
      told.flatMap(({ configuration, lowest }) =>
        configuration === null || lowest === null ? [] : [{ metrics: { 'val/loss:min': lowest } }],
      ),
    ),
  )
}

describe.skipIf(mlflow.isMissing)(mlflow.title, () => {
  test('its file store', async () => {
    const told = await written(`file://${join(folder, 'mlruns')}`)
    await agrees(join(folder, 'mlruns'), told)
  })

  test('its database, and its server on the database', async () => {
    const told = await written(`sqlite:///${database}`)
    await agrees(database, told)
    await agrees(await serve(), told)
  })
})

/** The server on the database, once it answers. */
async function serve(): Promise<string> {
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  const store = `sqlite:///${database}`
  const parameters = ['-m', 'mlflow', 'server', '--backend-store-uri', store, '--workers', '1', '--port', String(port)]
  const child = spawn(mlflow.python, parameters, { cwd: folder, detached: true, stdio: ['ignore', 'ignore', 'pipe'] })
  server.process = child
  let said = ''
  child.stderr!.setEncoding('utf8').on('data', text => (said += text))
  for (let attempt = 0; attempt < 600; attempt++) {
    if (child.exitCode !== null) throw new Error(`MLflow's server ended with ${child.exitCode}: ${said.slice(-2000)}`)
    if (
      await fetch(`${address}/health`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return address
    await pause(250)
  }
  throw new Error(`MLflow's server does not answer: ${said.slice(-2000)}`)
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const taken = createServer().on('error', reject)
    taken.listen(0, '127.0.0.1', () => {
      const { port } = taken.address() as { port: number }
      taken.close(() => resolve(port))
    })
  })
}
