/**
 * A million rows imported: seconds and peak memory of `almanac import`, in a process of its own, of a log (TSV: commit, metric, status,
 * description) and of a sweep (CSV: options and a metric); and of importing the same file again, which must add nothing. The rows are made up.
 *
 * Run:  node bench/import.ts [--rows 1000000] [--sources log,sweep]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { listOption, oneOf, wholeNumberFrom } from '../src/flag-values.ts'
import { seededRandom } from '../src/statistics/random.ts'

const cli = fileURLToPath(new URL('../src/cli.ts', import.meta.url))
const random = seededRandom('bench')
const sources: Readonly<
  Record<string, { readonly file: string; readonly header: string; row(index: number): string }>
> = {
  log: { file: 'results.tsv', header: 'commit\tval_bpb\tmemory_gb\tstatus\tdescription', row: logRow },
  sweep: { file: 'sweep.csv', header: 'lr,width,depth,optimizer,seed,val_loss', row: sweepRow },
}

const names = Object.keys(sources)
const flags = new Command('node bench/import.ts')
  .description('Seconds and peak memory of importing many rows, and of importing them again.')
  .option('--rows <number>', 'of each source', wholeNumberFrom(1), 1_000_000)
  .addOption(listOption('--sources', 'what is imported', oneOf(names), names))
  .parse()
  .opts<{ rows: number; sources: readonly string[] }>()

console.log(
  '| source | rows | MB | imported, s | peak MB | again, s | peak MB | ledger, MB |\n|---|---|---|---|---|---|---|---|',
)
for (const name of flags.sources) {
  const { file, header, row } = sources[name]!
  const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
  try {
    const path = join(folder, file)
    await writeRows(path, header, row)
    const first = await importOnce(folder, file)
    const again = await importOnce(folder, file)
    if (first.added + first.unusable !== flags.rows || again.added !== 0) {
      throw new Error(`${file}: ${first.added} rows were added, ${first.unusable} left out, and then ${again.added}`)
    }
    const ledger = statSync(join(folder, '.almanac', 'ledger.db')).size
    const figures = [first.seconds, first.megabytes, again.seconds, again.megabytes, ledger / 1e6]
    const size = (statSync(path).size / 1e6).toFixed(0)
    console.log(
      `| ${file} | ${flags.rows.toLocaleString('en')} | ${size} | ${figures.map(each => each.toFixed(0)).join(' | ')} |`,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface ImportedOnce {
  readonly seconds: number
  readonly megabytes: number
  readonly added: number
  readonly unusable: number
}

async function importOnce(folder: string, file: string): Promise<ImportedOnce> {
  // The process says its own peak at its end, on a channel of its own.
  const tell = "process.on('exit', () => require('node:fs').writeSync(3, String(process.resourceUsage().maxRSS)))"
  const hook = `data:text/javascript,import { createRequire } from 'node:module'; const require = createRequire('/'); ${tell}`
  const before = performance.now()
  const child = spawn(process.execPath, ['--import', hook, cli, 'import', file, '--json'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const [output, errors, peak] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    text(child.stdio[3] as Readable),
  ])
  if (child.exitCode === null) await once(child, 'exit')
  const seconds = (performance.now() - before) / 1000
  if (child.exitCode !== 0) throw new Error(`almanac import ${file} ended with ${child.exitCode}: ${errors}`)
  const { added, unusable } = JSON.parse(output) as { added: number; unusable: readonly unknown[] }
  return { seconds, megabytes: Number(peak) / 1024, added, unusable: unusable.length }
}

async function writeRows(path: string, header: string, row: (index: number) => string): Promise<void> {
  const stream = createWriteStream(path)
  stream.write(`${header}\n`)
  for (let from = 0; from < flags.rows; from += 10_000) {
    const count = Math.min(10_000, flags.rows - from)
    const lines = Array.from({ length: count }, (_, offset) => `${row(from + offset)}\n`)
    if (!stream.write(lines.join(''))) await once(stream, 'drain')
  }
  stream.end()
  await once(stream, 'close')
}

function logRow(index: number): string {
  const commit = (0x1000000 + index).toString(16)
  const status = index === 0 || random.uniform() < 0.02 ? 'keep' : random.uniform() < 0.05 ? 'crash' : 'discard'
  const value = status === 'crash' ? 0 : 1 + 0.01 * random.normal()
  const description =
    index === 0 ? 'baseline' : `learning rate ${(0.001 * (1 + random.uniform())).toPrecision(6)}, width ${index}`
  return [commit, value.toFixed(6), (40 + random.uniform()).toFixed(1), status, description].join('\t')
}

function sweepRow(index: number): string {
  const rate = (0.1 * random.uniform()).toPrecision(8)
  const optimizer = ['adam', 'sgd', 'muon'][index % 3]
  return [
    rate,
    2 ** (4 + (index % 5)),
    1 + (index % 7),
    optimizer,
    index % 4,
    (1 + 0.01 * random.normal()).toFixed(6),
  ].join(',')
}
