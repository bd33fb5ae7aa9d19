/**
 * Which forecaster to trust, on logs and git histories of others: each is imported, every forecaster forecasts its rows in time order from
 * the rows before them, and what comes out is what the page says. Nothing is fetched or executed.
 *
 *     node reproductions/rwm-logs.ts LOGS… [--histories in-environment,cross-environment] [--forecasters …] [--pools 60]
 *       [--resamples 2000] [--seed 1] [--least 20] [--metric LOG=METRIC …] [--name rwm-logs] [--out FOLDER]
 *
 * LOGS are what `almanac import` takes; LOG in --metric is a log's name without its folder, where the metric has to be said. Prints a Markdown page and writes it, NAME.md beside this file unless told otherwise. The same
 * logs and seed give the same bytes. Some seconds to some minutes a log: most of it is the kernel on long ones.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { scores } from '../src/campaign/choose.ts'
import { gateSavings } from '../src/campaign/doctor/gate-savings.ts'
import { writeAtomically } from '../src/files/atomic.ts'
import { type Entrant, evaluateRolling, planRolling } from '../src/forecast/evaluate-rolling.ts'
import { type ForecasterName, forecasterNames, forecasters } from '../src/forecast/forecaster.ts'
import { type HistoryKind, historyKinds } from '../src/forecast/history-kind.ts'
import { rollingDefaults } from '../src/forecast/rolling-origin.ts'
import { openLedger } from '../src/ledger/ledger.ts'
import { seriesOf } from '../src/operations/evaluated-series.ts'
import { importHistory } from '../src/operations/import.ts'
import { type LogImport, logsPage } from './rwm-logs/page.ts'

const { values: flags, positionals: logs } = parseArgs({
  allowPositionals: true,
  options: {
    histories: { type: 'string', default: 'in-environment' },
    forecasters: { type: 'string', default: forecasterNames.join(',') },
    pools: { type: 'string', default: String(rollingDefaults.mostPools) },
    resamples: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    least: { type: 'string', default: '20' },
    metric: { type: 'string', multiple: true, default: [] },
    name: { type: 'string', default: 'rwm-logs' },
    out: { type: 'string', default: fileURLToPath(new URL('.', import.meta.url)) },
  },
})
const [mostPools, resamples, least] = [wholeNumber('pools'), wholeNumber('resamples'), wholeNumber('least')]
const seed = Number(flags.seed)
const histories = chosen<HistoryKind>(flags.histories, historyKinds, 'histories')
const names = ['constant', ...chosen<ForecasterName>(flags.forecasters, forecasterNames, 'forecasters')].filter(
  (name, index, all) => all.indexOf(name) === index,
) as ForecasterName[]
if (logs.length === 0) throw new Error('no log is given; name files or repositories that almanac import takes')
if (!/^[\w.-]+$/.test(flags.name)) throw new Error(`--name is "${flags.name}"; give letters, digits, dots and dashes`)

const folder = mkdtempSync(join(tmpdir(), 'almanac-rwm-logs-'))
try {
  const imports = await imported(logs, folder)
  await using ledger = await openLedger(join(folder, 'ledger.db'))
  const all = await seriesOf(ledger)
  const named = new Map(all.map(series => [series.environment.family.name, series]))
  // In the order of the logs, not of their sizes.
  const inOrder = imports.flatMap(({ environments }) => environments.flatMap(({ name }) => named.get(name) ?? []))
  const evaluated = inOrder.filter(({ records }) => records.length >= least)
  if (evaluated.length === 0)
    throw new Error(`none of the logs has ${least} rows with a result; give longer ones, or --least`)
  const others = inOrder.filter(series => !evaluated.includes(series))
  const plan = planRolling(evaluated, others, { ...rollingDefaults, mostPools })
  const entrants = histories.flatMap(history =>
    names.map(
      (name): Entrant => ({
        name: histories.length > 1 ? `${name}, ${history}` : name,
        forecaster: forecasters[name],
        history,
      }),
    ),
  )
  const evaluation = await evaluateRolling(entrants, plan, { resamples, seed, worth: scores })
  const promoted = new Set(
    evaluated.flatMap(({ records }) =>
      records.flatMap(({ environment }) => environment.version.parent?.interventionId ?? []),
    ),
  )
  const guard = evaluation.results.at(-1)!
  const page = logsPage({
    command: commandText(),
    imports,
    plan,
    evaluation,
    least,
    gate: { by: guard.entrant.name, savings: guard.judged.map(pools => gateSavings(pools.flat(), promoted)) },
  })
  process.stdout.write(page)
  mkdirSync(flags.out, { recursive: true })
  writeAtomically(join(flags.out, `${flags.name}.md`), page)
} finally {
  rmSync(folder, { recursive: true })
}

/** Into one ledger, so that a log may learn from the others. */
async function imported(logs: readonly string[], folder: string): Promise<LogImport[]> {
  const never = new AbortController().signal
  const context = {
    directory: folder,
    ledger: join(folder, 'ledger.db'),
    stop: never,
    cancel: never,
    variables: {},
    emit: () => undefined,
  }
  const found: LogImport[] = []
  for (const log of logs) {
    const said = flags.metric.find(each => each.startsWith(`${basename(log)}=`))
    const metric = said === undefined ? {} : { metric: said.slice(basename(log).length + 1) }
    const input = importHistory.input.parse({ path: resolve(log), ...metric })
    const { environments, format } = await importHistory.run(input, context)
    found.push({ log: basename(log), format, environments })
  }
  return found
}

function wholeNumber(name: 'pools' | 'resamples' | 'least'): number {
  const value = Number(flags[name])
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} is ${flags[name]}; give a whole number from 1`)
  return value
}

function chosen<Name extends string>(given: string, known: readonly Name[], flag: string): Name[] {
  return given.split(',').map(word => {
    const name = known.find(each => each === word.trim())
    if (name === undefined) throw new Error(`--${flag} has "${word}"; give one or several of ${known.join(', ')}`)
    return name
  })
}

/** As it was called, with the names of the logs and not where they lie. */
function commandText(): string {
  const told = process.argv.slice(2).map(word => (logs.includes(word) ? basename(word) : word))
  return `node reproductions/rwm-logs.ts ${told.join(' ').replace(/\s*--out[ =]\S+/, '')}`
}
