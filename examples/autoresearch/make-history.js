/**
 * Makes a copy of this repository with the history that a night of such research leaves: `node make-history.js FOLDER [--ideas N]`.
 * Every row of its results.tsv comes from a training run made here and now. Kept changes are commits on the branch; discarded
 * ones are reset and lost, as the loop in program.md does it.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ideas = [
  ['raise the learning rate from 3e-3 to 6e-3', 'LEARNING_RATE = 3e-3', 'LEARNING_RATE = 6e-3'],
  ['anneal the learning rate almost to zero', 'FINAL_LR_FRACTION = 0.5', 'FINAL_LR_FRACTION = 0.05'],
  ['halve the batch for twice as many steps', 'BATCH_SIZE = 64', 'BATCH_SIZE = 32'],
  ['batch of 48 as a compromise', 'BATCH_SIZE = 32', 'BATCH_SIZE = 48'],
  ['weight decay 0.05 against overfitting', 'WEIGHT_DECAY = 0.0', 'WEIGHT_DECAY = 0.05'],
  ['wider embeddings, 8 to 12', 'EMBEDDING = 8', 'EMBEDDING = 12'],
  ['look back 6 bytes instead of 4', 'CONTEXT = 4', 'CONTEXT = 6'],
  ['relu instead of tanh', "ACTIVATION = 'tanh'", "ACTIVATION = 'relu'"],
  ['begin with the frequencies of the bytes in the output bias', 'UNIGRAM_BIAS = false', 'UNIGRAM_BIAS = true'],
  ['learning rate 3, to see where it breaks', 'LEARNING_RATE = 6e-3', 'LEARNING_RATE = 3'],
]

const template = fileURLToPath(new URL('.', import.meta.url))
const [folder, flag, value] = process.argv.slice(2)
if (!folder || (flag !== undefined && flag !== '--ideas')) refuse('usage: node make-history.js FOLDER [--ideas N]')
const count = flag ? Number(value) : ideas.length
if (!Number.isInteger(count) || count < 1) refuse(`--ideas takes a whole number from 1 on, not ${value}`)
const chosen = ideas.slice(0, count)

mkdirSync(folder, { recursive: true })
if (readdirSync(folder).length > 0) refuse(`${folder} is not empty: name a new folder`)
for (const name of ['.gitignore', 'README.md', 'package.json', 'program.md', 'prepare.js', 'train.js', 'data']) {
  cpSync(join(template, name), join(folder, name), { recursive: true })
}

function refuse(why) {
  console.error(`make-history: ${why}`)
  process.exit(2)
}

function git(...words) {
  const settings = [
    'user.name=Researcher',
    'user.email=researcher@example.org',
    'commit.gpgSign=false',
    'core.hooksPath=/dev/null',
  ]
  const options = { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }
  return execFileSync('git', [...settings.flatMap(setting => ['-c', setting]), ...words], options).trim()
}

/** Trains as program.md says, output into run.log, and reads the two numbers back; null when there are none. */
function train() {
  const log = openSync(join(folder, 'run.log'), 'w')
  spawnSync(process.execPath, ['train.js'], { cwd: folder, stdio: ['ignore', log, log] })
  const text = readFileSync(join(folder, 'run.log'), 'utf8')
  const read = name => new RegExp(`^${name}:\\s+([0-9.]+)$`, 'm').exec(text)?.[1]
  const bpb = read('val_bpb')
  return bpb === undefined ? null : { bpb: Number(bpb), memory: Number(read('peak_memory_mb')) / 1024 }
}

const rows = ['commit\tval_bpb\tmemory_gb\tstatus\tdescription']
function log(commit, result, status, description) {
  const numbers = result === null ? '0.000000\t0.0' : `${result.bpb.toFixed(6)}\t${result.memory.toFixed(1)}`
  rows.push(`${commit}\t${numbers}\t${status}\t${description}`)
  writeFileSync(join(folder, 'results.tsv'), `${rows.join('\n')}\n`)
  console.log(rows.at(-1))
}

git('init', '-q', '-b', 'main')
git('add', '.')
git('commit', '-q', '-m', 'A small language model on bytes')
git('checkout', '-q', '-b', 'autoresearch/first-night')
const baseline = train()
if (baseline === null) throw new Error(`train.js printed no val_bpb: see ${join(folder, 'run.log')}`)
log(git('rev-parse', '--short=7', 'HEAD'), baseline, 'keep', 'baseline')

let best = baseline.bpb
for (const [description, before, after] of chosen) {
  const source = readFileSync(join(folder, 'train.js'), 'utf8')
  if (!source.includes(`const ${before} `)) continue
  writeFileSync(join(folder, 'train.js'), source.replace(`const ${before} `, `const ${after} `))
  git('commit', '-q', '-a', '-m', description)
  const commit = git('rev-parse', '--short=7', 'HEAD')
  const result = train()
  const kept = result !== null && result.bpb < best
  log(commit, result, result === null ? 'crash' : kept ? 'keep' : 'discard', description)
  if (kept) best = result.bpb
  else git('reset', '-q', '--hard', 'HEAD~1')
}
// What a reset leaves behind, git drops after some weeks, and a clone never has it. Here it goes at once.
git('reflog', 'expire', '--expire=now', '--all')
git('gc', '-q', '--prune=now')
