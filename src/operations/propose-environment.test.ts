import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { proposeEnvironment } from './propose-environment.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-propose-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function write(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}
const git = (...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=R', '-c', 'user.email=r@example.org', '-c', 'commit.gpgSign=false', ...words], {
    cwd: folder,
    encoding: 'utf8',
  }).trim()

const python = {
  'program.md':
    'Read the files.\n\n**What you CANNOT do:**\n- Modify `prepare.py`. It is read-only.\n\n' +
    '2. Run the experiment: `uv run train.py > run.log 2>&1`\n3. Read it: `grep "^val_bpb:\\|^peak_vram_mb:" run.log`\n',
  'README.md':
    '# Tiny research\n\n*Once upon a time, far away, there was a motto.*\n\nOne GPU, one file, one metric that goes down. And more.\n\n```bash\nuv sync\nuv run prepare.py\nuv run train.py\n```\n',
  'pyproject.toml': '[project]\nname = "tiny-research"\n',
  'uv.lock': '',
  'prepare.py': 'def evaluate_bpb(): pass\n',
  'train.py':
    'import prepare\nDEPTH = 8\nprint(f"step {1}: loss {2}")\nprint("---")\nprint(f"val_bpb:          {1.0:.6f}")\nprint(f"peak_vram_mb:     {2.0:.1f}")\nprint(f"num_steps:        {3}")\n',
  '.gitignore': 'data/\n.venv/\n__pycache__/\nrun.log\n',
  'data/shard.bin': 'x',
  '.venv/pyvenv.cfg': '',
  '__pycache__/a.pyc': '',
}

test("a repository of autoresearch's shape: everything but the seed is found, and each with its place", async () => {
  write(python)
  git('init', '-q')
  git('add', '-A')
  git('commit', '-q', '-m', 'start')
  // What an earlier init and its runs left is no need of a run.
  write({
    'results.tsv': 'commit\tval_bpb\tmemory_gb\tstatus\tdescription\n',
    '.almanac/ledger.db': '',
    '.almanac/.gitignore': '*',
  })
  const { proposal, found, questions } = await proposeEnvironment(folder)
  expect(proposal).toEqual({
    name: 'tiny-research',
    description: 'One GPU, one file, one metric that goes down.',
    command: 'uv run train.py',
    metrics: [
      { name: 'val_bpb', direction: 'minimize', pattern: '^val_bpb\\s*:\\s*(\\S+)', unit: 'bits per byte' },
      { name: 'peak_vram_mb', direction: 'minimize', pattern: '^peak_vram_mb\\s*:\\s*(\\S+)', unit: 'MB' },
    ],
    resultsFile: 'results.tsv',
    histories: [],
    link: ['.venv', 'data'],
    evaluator: ['prepare.py'],
    seedPlaceholder: false,
    referenceCommit: git('rev-parse', 'HEAD'),
  })
  expect(found.find(({ what }) => what.startsWith('command'))).toMatchObject({ where: 'program.md' })
  expect(questions).toEqual([expect.stringMatching(/^How does the command take a seed\?/)])
})

test('the pattern it proposes reads what the program prints', async () => {
  write(python)
  const { proposal } = await proposeEnvironment(folder)
  const [objective] = proposal.metrics
  const output = 'step 1: loss 2\n---\nval_bpb:          0.997900\npeak_vram_mb:     45060.2\n'
  expect(new RegExp(objective!.pattern!, 'm').exec(output)?.[1]).toBe('0.997900')
})

describe('the command', () => {
  test.each<[string, Record<string, string>, string | null, boolean]>([
    [
      'a JavaScript program with --seed',
      { 'train.js': "process.argv.indexOf('--seed')" },
      'node train.js --seed {seed}',
      true,
    ],
    ['argparse', { 'train.py': 'parser.add_argument("--seed", type=int)' }, 'python3 train.py --seed {seed}', true],
    ['a variable', { 'train.py': 'seed = int(os.environ.get("SEED", 1))' }, 'SEED={seed} python3 train.py', true],
    ['a virtual environment', { 'main.py': '', '.venv/pyvenv.cfg': '' }, '.venv/bin/python main.py', false],
    ['a package script', { 'package.json': '{"scripts":{"train":"tsx src/train.ts"}}' }, 'npm run train', false],
    [
      'the README, with a seed of its own',
      { 'README.md': 'Run `python3 bench.py --seed 3 --fast | tee out.txt`', 'bench.py': "add_argument('--seed')" },
      'python3 bench.py --fast --seed {seed}',
      true,
    ],
    [
      'a README about a program that is gone',
      { 'README.md': '`node gone.js > log`', 'train.js': '' },
      'node train.js',
      false,
    ],
    ['nothing', { 'notes.txt': 'node train.js' }, null, false],
    ['a package.json that is broken', { 'package.json': '{' }, null, false],
  ])('%s', async (_, files, command, seedPlaceholder) => {
    write(files)
    const { proposal, questions } = await proposeEnvironment(folder)
    expect(proposal).toMatchObject({ command, seedPlaceholder, referenceCommit: null, link: [] })
    expect(questions.some(question => question.startsWith('Which command'))).toBe(command === null)
  })
})

describe('the metric', () => {
  const metric = async (files: Record<string, string>) => {
    write(files)
    const { proposal, questions } = await proposeEnvironment(folder)
    return { first: proposal.metrics[0], questions }
  }
  test.each<[string, string, object]>([
    [
      'a template in JavaScript',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program
      'console.log(`accuracy: ${(a / b).toFixed(4)}`)',
      { name: 'accuracy', direction: 'maximize' },
    ],
    ['a comma in Python', 'print("tokens_per_sec:", n / t)', { name: 'tokens_per_sec', direction: 'maximize' }],
    ['an equals sign', 'print(f"win_rate={wins / games}")', { name: 'win_rate', pattern: '^win_rate\\s*=\\s*(\\S+)' }],
    [
      'the time beside it is not it',
      'print(f"total_seconds: {t}")\nprint(f"val_loss: {l}")',
      { name: 'val_loss', direction: 'minimize' },
    ],
  ])('%s', async (_, source, expected) => {
    const program = source.startsWith('console') ? 'train.js' : 'train.py'
    expect((await metric({ [program]: source })).first).toMatchObject(expected)
  })

  test('a log of an earlier run is enough', async () => {
    const { first } = await metric({ 'run.log': 'loading\nstep 10 loss 3.2\n---\nval_ppl: 12.5\nnum_steps: 300\n' })
    expect(first).toMatchObject({ name: 'val_ppl', direction: 'minimize' })
  })

  test('a name that does not tell its direction is a question', async () => {
    const { first, questions } = await metric({
      'train.py': 'print(f"zeta: {z}")',
      'results.tsv': 'commit\tzeta\tstatus\tdescription\na1\t1\tkeep\tbaseline\n',
    })
    expect(first).toMatchObject({ name: 'zeta', direction: null })
    expect(questions).toContainEqual(expect.stringContaining('Is zeta better when it is higher or when it is lower?'))
  })

  test('a table whose metric nothing prints is a question, and no guess', async () => {
    const { first, questions } = await metric({
      'train.py': 'print("done")',
      'results.tsv': 'commit\tval_bpb\tstatus\tdescription\na1\t1\tkeep\tbaseline\n',
    })
    expect(first).toBeUndefined()
    expect(questions).toContainEqual(expect.stringContaining('Where does a run leave val_bpb?'))
  })

  test('a metrics file of an earlier run', async () => {
    const { first } = await metric({
      'train.py': 'add_argument("--out")',
      'metrics.json': '{"seconds": 3, "val_loss": 2.5}',
    })
    expect(first).toEqual({ name: 'val_loss', direction: 'minimize', file: 'metrics.json', path: 'val_loss' })
  })
})

test('a table of data is not taken for results', async () => {
  write({ 'train.js': '', 'corpus.tsv': 'Once upon a time\tthere was\n', 'points.tsv': 'x\ty\n1.5\t2.5\n2.5\t3.5\n' })
  expect((await proposeEnvironment(folder)).proposal.resultsFile).toBeNull()
})

test('the log of an agent is the results, with its metric; what lies beside it is named', async () => {
  write({
    'train.py': 'print(f"zeta: {z}")',
    'autoresearch.jsonl':
      '{"type": "config", "name": "a", "metricName": "zeta", "bestDirection": "higher"}\n' +
      '{"metric": 1, "status": "keep", "description": "baseline"}\n{"metric": 2, "status": "keep", "description": "wider"}\n',
    'old/results.tsv': 'commit\tzeta\tstatus\tdescription\na1\t1\tkeep\tbaseline\na2\t2\tkeep\twider\n',
  })
  const { proposal, found } = await proposeEnvironment(folder)
  expect(proposal.resultsFile).toBe('autoresearch.jsonl')
  expect(proposal.metrics[0]).toMatchObject({ name: 'zeta', direction: 'maximize' })
  expect(proposal.histories).toEqual([{ path: 'old/results.tsv', format: 'tsv' }])
  expect(found.map(({ what }) => what)).toContain('history: old/results.tsv')
})

test('an empty folder: only questions', async () => {
  const { proposal, found, questions } = await proposeEnvironment(folder)
  expect(proposal).toMatchObject({ command: null, metrics: [], resultsFile: null, link: [] })
  expect(found).toEqual([])
  expect(questions).toHaveLength(2)
})
