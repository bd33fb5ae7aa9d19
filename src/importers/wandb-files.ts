/**
 * The files that W&B keeps beside a run's log: `config.yaml`, `wandb-summary.json`, and of `wandb-metadata.json`, which has user, host,
 * paths and arguments, the commit and the start alone. They do not say how a run ended.
 */
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { isJsonObject, type Json, type JsonObject } from '../experiment/json.ts'
import { resolveInside } from '../files/safe-path.ts'
import { startOf } from './file-lines.ts'
import { readProgramYaml } from './program-yaml.ts'
import { asJson, parsePythonJson } from './python-json.ts'
import { numbersIn, type WandbRun } from './wandb-run.ts'

const mostBytes = 64 * 2 ** 20

/** `folder`: the run's. Null where it has neither a configuration nor a summary; throws a sentence where one cannot be read. */
export function readWandbFiles(folder: string, keepPersonal: boolean): WandbRun | null {
  const config = read(folder, 'config.yaml', configIn)
  const summary = read(folder, 'wandb-summary.json', objectIn)
  if (config === null && summary === null) return null
  const metadata = read(folder, 'wandb-metadata.json', objectIn) ?? environmentIn(config ?? {})
  const numbers = numbersIn(summary ?? {})
  const git = metadata['git']
  const commit = isJsonObject(git) ? git['commit'] : null
  return {
    id: /^(?:offline-)?run-\d{8}_\d{6}-(.+)$/.exec(basename(folder))?.[1] ?? basename(folder),
    project: null,
    name: null,
    notes: null,
    tags: [],
    state: null,
    exitCode: null,
    config: config ?? {},
    summary: numbers,
    history: new Map(),
    goals: new Map(),
    summaries: new Map(),
    startedAt: momentIn(metadata['startedAt'] ?? metadata['started_at']),
    seconds: numbers.get('_runtime') || null,
    commit: typeof commit === 'string' ? commit : null,
    personal: keepPersonal ? personalIn(metadata) : null,
  }
}

/** `lr: {desc: null, value: 0.1}`; `wandb_version` stands without a value of its own. */
function configIn(text: string): JsonObject {
  const config = readProgramYaml(text)
  if (!isJsonObject(config)) throw new Error('it has no keys')
  return Object.fromEntries(
    Object.entries(config).flatMap(([key, entry]): [string, Json][] =>
      isJsonObject(entry) && 'value' in entry ? [[key, entry['value']!]] : [],
    ),
  )
}

/** What newer versions put into the configuration beside its own file: who, where, and the commit. */
function environmentIn(config: JsonObject): JsonObject {
  const own = config['_wandb']
  const environments = isJsonObject(own) ? own['e'] : null
  const [first] = isJsonObject(environments) ? Object.values(environments) : []
  return isJsonObject(first) ? first : {}
}

function objectIn(text: string): JsonObject {
  const object = asJson(parsePythonJson(text))
  if (!isJsonObject(object)) throw new Error('it has no keys')
  return object
}

function read<Value>(folder: string, name: string, parse: (text: string) => Value): Value | null {
  const text = textIn(folder, name)
  if (text === null) return null
  try {
    return parse(text)
  } catch (error) {
    throw new Error(`its ${name} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

/** Null for a file that is not there, lies outside through a link, or is larger than anything W&B writes. */
function textIn(folder: string, name: string): string | null {
  try {
    const path = resolveInside(folder, `files/${name}`)
    const { size } = statSync(path)
    return size > mostBytes ? null : startOf(path, mostBytes)
  } catch {
    return null
  }
}

/** W&B writes UTC, for years without saying so. */
function momentIn(value: unknown): number | null {
  if (typeof value !== 'string') return null
  const moment = Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(value) ? value : `${value}Z`)
  return Number.isNaN(moment) ? null : moment
}

function personalIn(metadata: Readonly<Record<string, unknown>>): string | null {
  const said = ['email', 'host', 'username', 'program', 'args'].flatMap(name => {
    const value = asJson(metadata[name] ?? null)
    return value === null || value === ''
      ? []
      : [`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`]
  })
  return said.join('; ') || null
}
