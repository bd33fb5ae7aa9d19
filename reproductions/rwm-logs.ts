/**
 * Which forecaster to trust, on logs and git histories of others: each is imported, every forecaster forecasts its rows in time order from
 * the rows before them, and what comes out is what the page says. Nothing is fetched or executed.
 *
 *     node reproductions/rwm-logs.ts LOGS… [--histories in-environment,cross-environment] [--forecasters …] [--pools 60]
 *       [--resamples 2000] [--seed 1] [--least 20] [--metric LOG=METRIC …] [--output PAGE.md]
 *
 * LOGS are what `almanac import` takes; LOG in --metric is a log's name without its folder, where the metric has to be said. Prints a Markdown page, and
 * writes it where it is told to: rwm-logs.md is one on public logs. The same logs and seed give the same bytes. Some seconds to some minutes a log: most of it is the kernel on long ones.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { Command } from 'commander'
import { scores } from '../src/campaign/choose.ts'
import { gateSavings } from '../src/campaign/doctor/gate-savings.ts'
import { writeAtomically } from '../src/files/atomic.ts'
import { listOption, oneOf, wholeNumberFrom } from '../src/flag-values.ts'
import { type Entrant, evaluateRolling, planRolling } from '../src/forecast/evaluate-rolling.ts'
import { type ForecasterName, forecasterNames, forecasters } from '../src/forecast/forecaster.ts'
import { type HistoryKind, historyKinds } from '../src/forecast/history-kind.ts'
import { rollingDefaults } from '../src/forecast/rolling-origin.ts'
import { openLedger } from '../src/ledger/ledger.ts'
import { seriesOf } from '../src/operations/evaluated-series.ts'
import { importHistory } from '../src/operations/import.ts'
import { InputError } from '../src/operations/operation.ts'
import { reportError } from '../src/report-error.ts'
import { type LogImport, logsPage } from './rwm-logs/page.ts'

interface Flags {
  readonly histories: readonly HistoryKind[]
  readonly forecasters: readonly ForecasterName[]
  readonly pools: number
  readonly resamples: number
  readonly seed: number
  readonly least: number
  readonly metric: readonly string[]
  readonly output?: string
}

const program = new Command('node reproductions/rwm-logs.ts')
  .description('Which forecaster to trust, on logs and git histories of others: prints a Markdown page.')
  .argument('<logs...>', 'what "almanac import" takes: files or repositories')
  .addOption(
    listOption('--histories', 'which records a forecast may use', oneOf<HistoryKind>(historyKinds), ['in-environment']),
  )
  .addOption(listOption('--forecasters', 'who is judged', oneOf<ForecasterName>(forecasterNames), forecasterNames))
  .option('--pools <number>', 'of candidates, at most, for each log', wholeNumberFrom(1), rollingDefaults.mostPools)
  .option('--resamples <number>', 'for the intervals', wholeNumberFrom(1), 2000)
  .option('--seed <number>', 'of all that is drawn', wholeNumberFrom(0), 1)
  .option('--least <number>', 'rows with a result that a log must have', wholeNumberFrom(1), 20)
  .option(
    '--metric <log=metric>',
    'the metric of a log, by its name without its folder (may be repeated)',
    collected,
    [],
  )
  .option('--output <file>', 'where the page is written too')
  .parse()
const logs = program.args
const { histories, pools: mostPools, resamples, seed, least, ...flags } = program.opts<Flags>()
const names = [...new Set<ForecasterName>(['constant', ...flags.forecasters])]

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
    throw new InputError(`None of the logs has ${least} rows with a result; give longer ones, or --least.`)
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
  if (flags.output !== undefined) {
    mkdirSync(dirname(flags.output), { recursive: true })
    writeAtomically(flags.output, page)
  }
} catch (error) {
  process.exitCode = reportError(error)
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

function collected(text: string, before: readonly string[]): readonly string[] {
  return [...before, text]
}

/** As it was called, with the names of the logs and not where they lie. */
function commandText(): string {
  const told = process.argv.slice(2).map(word => (logs.includes(word) ? basename(word) : word))
  return `node reproductions/rwm-logs.ts ${told.join(' ').replace(/\s*--output[ =]\S+/, '')}`
}
