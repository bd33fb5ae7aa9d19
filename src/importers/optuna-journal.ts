/**
 * Optuna's journal storage: a file of JSON lines, one an operation. Studies and trials are known by the order in which they were
 * made, so a line that cannot be read makes all later ones worthless; a last line that is cut off is what a killed process leaves.
 */
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import type { Direction } from '../experiment/environment.ts'
import type { Json } from '../experiment/json.ts'
import type { UnusableRow } from './history.ts'
import type { ImportOptions, Source } from './importer.ts'
import { parameterValue } from './optuna-parameter.ts'
import { type OptunaTrial, trackedStudy } from './optuna-study.ts'
import { parsePythonJson } from './python-json.ts'
import { beginningOf } from './source.ts'
import type { TrackedExperiment } from './tracked-experiment.ts'
import { unusableRow } from './unusable-row.ts'
import { momentIn } from './value.ts'

type LocalFile = Source & { readonly kind: 'file' }

/** By their numbers in the journal. */
const states = ['RUNNING', 'COMPLETE', 'PRUNED', 'FAIL', 'WAITING']
const directions: readonly (Direction | null)[] = [null, 'minimize', 'maximize']

/** Whether the first line is an operation of Optuna's. */
export function isOptunaJournal(source: Source): boolean {
  return /^\{"op_code": ?\d+, ?"worker_id": ?"/.test(beginningOf(source))
}

/** One for each study that has trials and was not deleted. Throws a sentence where a line before the last cannot be read. */
export async function readOptunaJournal({ path }: LocalFile, options: ImportOptions): Promise<TrackedExperiment[]> {
  const { studies, torn } = await replay(path, options)
  const tried = studies.filter(({ trials }) => trials.length > 0)
  return tried.map((study, index) => {
    const tracked = trackedStudy({ ...study, trials: study.trials.map(trialOf) }, options)
    // The line that is cut off belongs to no study that we know: it stands with the first.
    return torn === null || index > 0 ? tracked : { ...tracked, unusable: [...tracked.unusable, torn] }
  })
}

interface Study {
  readonly name: string
  readonly directions: readonly (Direction | null)[]
  readonly userAttributes: Record<string, unknown>
  readonly systemAttributes: Record<string, unknown>
  readonly trials: Trial[]
}

interface Trial {
  readonly number: number
  state: string
  values: readonly number[]
  lastIntermediate: OptunaTrial['lastIntermediate']
  readonly parameters: Map<string, Json>
  userAttributes: Record<string, unknown>
  systemAttributes: Record<string, unknown>
  started: string | null
  finished: string | null
  damage: string | null
}

interface Operation {
  readonly op_code: number
  readonly study_name: string
  readonly study_id: number
  readonly trial_id: number
  readonly directions: readonly number[]
  readonly user_attr: Record<string, unknown>
  readonly system_attr: Record<string, unknown>
  readonly param_name: string
  readonly param_value_internal: number
  readonly distribution: string
  readonly step: number
  readonly intermediate_value: number | null
  readonly state?: number
  readonly value?: number | null
  readonly values?: readonly number[] | null
  readonly datetime_start?: string | null
  readonly datetime_complete?: string | null
  readonly distributions?: Readonly<Record<string, string>>
  readonly params?: Readonly<Record<string, number>>
  readonly user_attrs?: Record<string, unknown>
  readonly system_attrs?: Record<string, unknown>
}

async function replay(
  path: string,
  { signal, progress }: ImportOptions,
): Promise<{ readonly studies: readonly Study[]; readonly torn: UnusableRow | null }> {
  const journal = new Journal()
  let broken: { readonly line: number; readonly text: string } | null = null
  let line = 0
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    line++
    if (line % 10_000 === 0) {
      signal?.throwIfAborted()
      progress?.(line)
    }
    if (text.trim() === '') continue
    if (broken !== null) {
      throw new Error(
        `${basename(path)}, line ${broken.line} is not an operation of an Optuna journal: ${broken.text.slice(0, 80)}; trials are known by their order, so what follows cannot be read. Remove the lines from it on, or repair it`,
      )
    }
    const operation = operationIn(text)
    if (operation === null) broken = { line, text }
    else applyLine(journal, operation, `${basename(path)}, line ${line}`)
  }
  const torn =
    broken && unusableRow(`line ${broken.line}`, 'is cut off: its process was stopped while it wrote', broken.text)
  return { studies: journal.studies(), torn }
}

function applyLine(journal: Journal, operation: Operation, where: string): void {
  try {
    journal.apply(operation)
  } catch (error) {
    throw new Error(`${where} is not an operation as Optuna writes them: ${(error as Error).message}`, { cause: error })
  }
}

function operationIn(text: string): Operation | null {
  try {
    const value = parsePythonJson(text)
    return typeof (value as Operation | null)?.op_code === 'number' ? (value as Operation) : null
  } catch {
    return null
  }
}

/** What Optuna's own replay does: operations on what is unknown, or on a trial that has ended, have no effect. */
class Journal {
  readonly #studies = new Map<number, Study>()
  readonly #trials: Trial[] = []
  #nextStudy = 0

  studies(): readonly Study[] {
    return [...this.#studies.values()]
  }

  apply(operation: Operation): void {
    const study = this.#studies.get(operation.study_id)
    const found = this.#trials[operation.trial_id]
    const trial = found && ['RUNNING', 'WAITING'].includes(found.state) ? found : undefined
    switch (operation.op_code) {
      case 0:
        this.#createStudy(operation)
        break
      case 1:
        this.#studies.delete(operation.study_id)
        break
      case 2:
        if (study) Object.assign(study.userAttributes, operation.user_attr)
        break
      case 3:
        if (study) Object.assign(study.systemAttributes, operation.system_attr)
        break
      case 4:
        if (study) this.#createTrial(study, operation)
        break
      case 5:
        if (trial) setParameter(trial, operation.param_name, operation.param_value_internal, operation.distribution)
        break
      case 6:
        if (trial) setState(trial, operation)
        break
      case 7:
        if (trial && operation.step >= (trial.lastIntermediate?.step ?? Number.NEGATIVE_INFINITY)) {
          trial.lastIntermediate = { step: operation.step, value: operation.intermediate_value ?? Number.NaN }
        }
        break
      case 8:
        if (trial) Object.assign(trial.userAttributes, operation.user_attr)
        break
      case 9:
        if (trial) Object.assign(trial.systemAttributes, operation.system_attr)
        break
    }
  }

  #createStudy({ study_name, directions: numbers }: Operation): void {
    // Two processes may make the same study at once; the second has no effect.
    if (this.studies().some(({ name }) => name === study_name)) return
    this.#studies.set(this.#nextStudy++, {
      name: study_name,
      directions: numbers.map(number => directions[number] ?? null),
      userAttributes: {},
      systemAttributes: {},
      trials: [],
    })
  }

  #createTrial(study: Study, operation: Operation): void {
    const { distributions = {}, params = {}, user_attrs, system_attrs } = operation
    const trial: Trial = {
      number: study.trials.length,
      state: stateOf(operation.state ?? 0),
      values: operation.values ?? (typeof operation.value === 'number' ? [operation.value] : []),
      lastIntermediate: null,
      parameters: new Map(),
      userAttributes: { ...user_attrs },
      systemAttributes: { ...system_attrs },
      started: operation.datetime_start ?? null,
      finished: operation.datetime_complete ?? null,
      damage: null,
    }
    for (const [name, stored] of Object.entries(params)) setParameter(trial, name, stored, distributions[name])
    study.trials.push(trial)
    this.#trials.push(trial)
  }
}

/** A parameter that cannot be read makes its trial worthless, and no other. */
function setParameter(trial: Trial, name: string, stored: number, distribution: string | undefined): void {
  try {
    trial.parameters.set(name, parameterValue(name, stored, distribution))
  } catch (error) {
    trial.damage = (error as Error).message
  }
}

function setState(trial: Trial, { state, values, datetime_start, datetime_complete }: Operation): void {
  trial.state = stateOf(state!)
  if (values) trial.values = values
  trial.started = datetime_start ?? trial.started
  trial.finished = datetime_complete ?? trial.finished
}

function stateOf(number: number): string {
  return states[number] ?? String(number)
}

function trialOf({ started, finished, parameters, ...trial }: Trial): OptunaTrial {
  return {
    ...trial,
    parameters: Object.fromEntries(parameters),
    startedAt: started && momentIn(started),
    finishedAt: finished && momentIn(finished),
    seconds: started && finished ? (Date.parse(finished) - Date.parse(started)) / 1000 : null,
  }
}
