/**
 * 10,000 records evaluated by the forecasters `neighbours` and `ridge`, beside scikit-learn's KNeighborsRegressor and Ridge on TF-IDF of the
 * same words: two halves, each forecast from the other, one thread each. Ours also gives quantiles, for which ridge is fitted three times, and
 * a chance of finishing, for which each candidate is compared with each record; scikit-learn gives a number, and gets its text as words. Contenders take turns, a ratio is one of a turn, and above 1
 * says that ours is faster. The last column is a whole evaluation by halves, with its figures and 200 bootstrap resamples.
 *
 * scikit-learn is installed into the temporary folder the first time; without it there are no ratios. The records are made up.
 *
 * Run:  node bench/evaluation.ts [--records 10000] [--turns 3]
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import type { ExperimentRecord } from '../src/experiment/record.ts'
import { wholeNumberFrom } from '../src/flag-values.ts'
import { constant } from '../src/forecast/constant.ts'
import { evaluateHalves } from '../src/forecast/evaluate-halves.ts'
import { interventionText } from '../src/forecast/intervention-text.ts'
import { neighbours } from '../src/forecast/neighbours.ts'
import { ridge } from '../src/forecast/ridge.ts'
import { median, quantile } from '../src/statistics/summary.ts'
import { words } from '../src/text/words.ts'
import { madeUp } from './made-up-records.ts'

const flags = new Command('node bench/evaluation.ts')
  .description('Records evaluated by neighbours and ridge, beside scikit-learn.')
  .option('--records <number>', 'that are evaluated', wholeNumberFrom(1), 10_000)
  .option('--turns <number>', 'of each contender', wholeNumberFrom(1), 3)
  .parse()
  .opts<{ records: number; turns: number }>()

const { environment, records } = madeUp(flags.records, 0)
const halves = [0, 1].map(half => records.filter((_, index) => index % 2 === half))
const python = pythonWithSklearn()
const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
const file = join(folder, 'halves.json')
writeFileSync(file, JSON.stringify(halves.map(asText)))

let version = ''
console.log(`${flags.records.toLocaleString('en')} records, the median of ${flags.turns} turns\n`)
console.log(
  '| forecaster | ours, s | scikit-learn, s | ratio (lowest to highest) | largest difference of forecasts | whole evaluation, s |',
)
console.log('|---|---|---|---|---|---|')
try {
  for (const [name, forecaster] of [
    ['neighbours', neighbours],
    ['ridge', ridge],
  ] as const) {
    const turns = Array.from({ length: flags.turns }, () => ({
      ours: ourTurn(forecaster),
      theirs: python === null ? null : theirTurn(python, name),
    }))
    const ratios = turns.flatMap(({ ours, theirs }) => (theirs === null ? [] : [theirs.seconds / ours.seconds]))
    const { ours, theirs } = turns[0]!
    const cells = [
      median(turns.map(turn => turn.ours.seconds)).toFixed(2),
      theirs === null ? '-' : median(turns.map(turn => turn.theirs!.seconds)).toFixed(2),
      theirs === null ? '-' : ratioText(ratios),
      theirs === null ? '-' : differenceText(ours.predictions, theirs.predictions),
      (await wholeEvaluation(name, forecaster)).toFixed(2),
    ]
    console.log(`| ${name} | ${cells.join(' | ')} |`)
  }
  if (version !== '') console.log(`\nscikit-learn ${version}`)
} finally {
  rmSync(folder, { recursive: true })
}

interface Turn {
  readonly seconds: number
  /** Of each half in turn, from the other. */
  readonly predictions: readonly (readonly number[])[]
}

function asText(half: readonly ExperimentRecord[]) {
  return {
    texts: half.map(({ intervention, changes }) => words(interventionText(intervention, changes)).join(' ')),
    gains: half.map(({ measured }) => measured!.gain),
  }
}

function ourTurn(forecaster: typeof ridge): Turn {
  const before = performance.now()
  const [first, second] = halves as [ExperimentRecord[], ExperimentRecord[]]
  const forecasts = [
    forecaster(environment, first, second, { seed: 1 }),
    forecaster(environment, second, first, { seed: 1 }),
  ]
  const seconds = (performance.now() - before) / 1000
  return { seconds, predictions: forecasts.map(some => some.map(({ quantiles }) => quantiles[2])) }
}

function theirTurn(interpreter: string, name: string): Turn {
  const program = join(import.meta.dirname, 'evaluation', 'sklearn_contender.py')
  const env = { ...process.env, OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1' }
  const said = execFileSync(interpreter, [program, file, name], { encoding: 'utf8', env, maxBuffer: 2 ** 28 })
  const turn = JSON.parse(said) as Turn & { version: string }
  version = turn.version
  return turn
}

/** In units of a typical gain, so that it says how alike the two are. */
function differenceText(ours: Turn['predictions'], theirs: Turn['predictions']): string {
  const differences = ours.flat().map((value, index) => Math.abs(value - theirs.flat()[index]!))
  const scale = median(records.map(({ measured }) => Math.abs(measured!.gain)))
  const part = (value: number) => (value / scale).toExponential(0)
  return `${part(Math.max(...differences))} of a typical gain, 99 % within ${part(quantile(differences, 0.99))}`
}

function ratioText(ratios: readonly number[]): string {
  return `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`
}

async function wholeEvaluation(name: string, forecaster: typeof ridge): Promise<number> {
  const before = performance.now()
  const entrants = [
    { name: 'constant', forecaster: constant, history: 'in-environment' as const },
    { name, forecaster, history: 'in-environment' as const },
  ]
  const options = { splits: 1, pools: 200, resamples: 200, seed: 1, worth: byMedian }
  await evaluateHalves(entrants, [{ environment, records }], options)
  return (performance.now() - before) / 1000
}

function byMedian(forecasts: readonly { readonly quantiles: readonly number[] }[]): number[] {
  return forecasts.map(({ quantiles }) => quantiles[2]!)
}

/** Null with a sentence where it cannot be installed. */
function pythonWithSklearn(): string | null {
  const folder = join(tmpdir(), 'almanac-bench-sklearn')
  const interpreter = join(folder, 'bin', 'python')
  const finished = join(folder, 'installed.txt')
  try {
    if (!existsSync(finished)) {
      console.error(`Installing scikit-learn into ${folder} …`)
      execFileSync('python3', ['-m', 'venv', folder], { stdio: 'pipe' })
      execFileSync(interpreter, ['-m', 'pip', 'install', '--quiet', 'scikit-learn==1.9.1'], { stdio: 'pipe' })
      writeFileSync(finished, '')
    }
    return interpreter
  } catch (error) {
    const [line] = error instanceof Error ? error.message.split('\n') : [String(error)]
    console.error(`scikit-learn is left out: ${line}`)
    return null
  }
}
